// SPDX-License-Identifier: Apache-2.0
/** The kernel's packet socket: whole frames of an interface, one system call each. What this host sends is not
 * received, and frames to any MAC address are. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"
#include "link_socket.h"

/** A socket is told but once that its interface has gone or was switched off, and a frame that was received before may
 * be read after that: so the interface is asked. */
static enum rm_code raw_check(struct rm_link *link, struct rm_error *error) {
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%.15s", link->config.where);
    if (ioctl(link->file, SIOCGIFFLAGS, &request) != 0 || (request.ifr_flags & IFF_UP) == 0)
        return rm_fail(error, RM_E_SYSTEM, "link %s: the interface is gone or switched off; `ip link` shows it",
                       link->config.text);
    return rm_socket_link_check(link, error);
}

static struct rm_link_ops const raw_ops = {.ethernet = true,
                                           .receive = rm_socket_link_receive,
                                           .release = rm_socket_link_release,
                                           .reserve = rm_socket_link_reserve,
                                           .send = rm_socket_link_send,
                                           .totals = rm_socket_link_totals,
                                           .check = raw_check,
                                           .close = rm_socket_link_close};

/** The socket has no protocol until it is bound, so that it never holds another interface's frames. */
static bool bind_to(int file, unsigned index) {
    int const yes = 1;
    struct packet_mreq const every_mac = {.mr_ifindex = (int)index, .mr_type = PACKET_MR_PROMISC};
    struct sockaddr_ll const address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)index};
    return setsockopt(file, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes) == 0 &&
           setsockopt(file, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &every_mac, sizeof every_mac) == 0 &&
           bind(file, (struct sockaddr const *)&address, sizeof address) == 0;
}

static void read_mac(int file, char const *interface, uint8_t mac[6]) {
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%.15s", interface);
    if (ioctl(file, SIOCGIFHWADDR, &request) == 0)
        memcpy(mac, request.ifr_hwaddr.sa_data, 6);
}

enum rm_code rm_link_raw_open(struct rm_link_config const *config, struct rm_link **link, struct rm_error *error) {
    unsigned const index = if_nametoindex(config->where);
    if (index == 0)
        return rm_fail(error, RM_E_SYSTEM, "link %s: no network interface '%s'; `ip link` shows those there are",
                       config->text, config->where);
    int const file = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (file < 0)
        return rm_fail(error, RM_E_SYSTEM,
                       "link %s: cannot open a packet socket: %s; it needs CAP_NET_RAW, run as root", config->text,
                       strerror(errno));
    if (!bind_to(file, index)) {
        int const why = errno;
        close(file);
        return rm_fail(error, RM_E_SYSTEM, "link %s: cannot bind a packet socket to the interface: %s", config->text,
                       strerror(why));
    }
    uint32_t const longest = config->mtu + RM_ETHERNET_BYTES + RM_VLAN_BYTES;
    enum rm_code const code = rm_socket_link_new(config, &raw_ops, file, longest, link, error);
    if (code != RM_OK)
        return code;
    read_mac(file, config->where, (*link)->flow.source_mac);
    rm_link_ask_hardware_stamps(*link, config->where);
    return RM_OK;
}
