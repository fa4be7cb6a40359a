// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <net/if.h>

#include "base/fail.h"
#include "net/interface.h"
#include "net/kernel_socket.h"

struct raw_port {
    struct rm_kernel_socket socket;
    uint32_t interface_index;
    int interface; /**< to ask about it; holds the multicast groups */
    uint8_t mac[6];
};

static struct raw_port *raw_port_self(struct rm_port *port) { return (struct raw_port *)port; }

static void raw_totals(struct rm_port *port, struct rm_port_statistics *totals) {
    rm_kernel_socket_totals(port, totals);
    totals->link_up = rm_interface_up(raw_port_self(port)->interface, raw_port_self(port)->interface_index);
}

/** A socket is told but once that its interface has gone or was switched off, and a frame that was received before may
 * be read after that: so the interface is asked. */
static enum rm_code raw_check(struct rm_port *port, struct rm_error *error) {
    if (!rm_interface_is_on(raw_port_self(port)->interface, raw_port_self(port)->interface_index))
        return rm_fail(error, RM_E_SYSTEM, "port '%s': the interface is gone or switched off; `ip link` shows it",
                       port->name);
    return rm_kernel_socket_check(port, error);
}

static bool raw_mac(struct rm_port const *port, uint8_t mac[6]) {
    memcpy(mac, ((struct raw_port const *)port)->mac, 6);
    return true;
}

static void raw_close(struct rm_port *port) {
    close(raw_port_self(port)->interface);
    rm_kernel_socket_close(port);
}

static struct rm_port_ops const raw_ops = {.framing = RM_FRAMING_ETHERNET,
                                           .copies = true,
                                           .receive = rm_kernel_socket_receive,
                                           .receive_sleeping = rm_kernel_socket_receive_sleeping,
                                           .release = rm_kernel_socket_release,
                                           .reserve = rm_kernel_socket_reserve,
                                           .send = rm_kernel_socket_send,
                                           .totals = raw_totals,
                                           .check = raw_check,
                                           .mac = raw_mac,
                                           .close = raw_close};

/** Until it is bound, a socket of protocol 0 receives nothing. */
static bool bind_to(int file, uint32_t index) {
    int const yes = 1;
    struct packet_mreq const every_mac = {.mr_ifindex = (int)index, .mr_type = PACKET_MR_PROMISC};
    struct sockaddr_ll const address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)index};
    return setsockopt(file, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes) == 0 &&
           setsockopt(file, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &every_mac, sizeof every_mac) == 0 &&
           bind(file, (struct sockaddr const *)&address, sizeof address) == 0;
}

static enum rm_code open_packet_socket(struct rm_port_config const *config, uint32_t index, int *file,
                                       struct rm_error *error) {
    *file = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (*file < 0)
        return rm_fail(error, RM_E_SYSTEM,
                       "port '%s': cannot open a packet socket: %s; it needs CAP_NET_RAW, run as root", config->name,
                       strerror(errno));
    if (bind_to(*file, index))
        return RM_OK;
    int const why = errno;
    close(*file);
    return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot bind a packet socket to interface '%s': %s", config->name,
                   config->interface, strerror(why));
}

static void read_mac(struct raw_port *raw, char const *interface) {
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%.15s", interface);
    if (ioctl(raw->interface, SIOCGIFHWADDR, &request) == 0)
        memcpy(raw->mac, request.ifr_hwaddr.sa_data, 6);
}

enum rm_code rm_raw_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error) {
    uint32_t index = 0;
    int file = -1, interface = -1;
    enum rm_code code = rm_kernel_socket_check_config(config, error);
    if (code == RM_OK)
        code = rm_interface_find(config, &index, error);
    if (code == RM_OK)
        code = rm_interface_open(index, config, &interface, error);
    if (code != RM_OK)
        return code;
    code = open_packet_socket(config, index, &file, error);
    if (code == RM_OK)
        code = rm_kernel_socket_make(sizeof(struct raw_port), &raw_ops, file, config->longest_frame, NULL, config, port,
                                     error);
    if (code != RM_OK) {
        close(interface);
        return code;
    }
    raw_port_self(*port)->interface = interface;
    raw_port_self(*port)->interface_index = index;
    read_mac(raw_port_self(*port), config->interface);
    return RM_OK;
}
