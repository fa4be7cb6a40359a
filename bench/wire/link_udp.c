// SPDX-License-Identifier: Apache-2.0
/** The kernel's UDP socket, connected to its peer: it receives from no other address. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"
#include "link_socket.h"

static struct sockaddr_in link_address_of(uint32_t ipv4, uint16_t port) {
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(ipv4)};
}

/** A socket is not told that its address has gone with its interface; another one that asks for it is. */
static enum rm_code udp_check(struct rm_link *link, struct rm_error *error) {
    struct sockaddr_in const ours = link_address_of(link->config.address, 0);
    int const file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool const gone =
        file >= 0 && bind(file, (struct sockaddr const *)&ours, sizeof ours) != 0 && errno == EADDRNOTAVAIL;
    if (file >= 0)
        close(file);
    if (gone)
        return rm_fail(error, RM_E_SYSTEM,
                       "link %s: no interface has our address any more; `ip address` shows those "
                       "there are",
                       link->config.text);
    return rm_socket_link_check(link, error);
}

static struct rm_link_ops const udp_ops = {.ethernet = false,
                                           .receive = rm_socket_link_receive,
                                           .release = rm_socket_link_release,
                                           .reserve = rm_socket_link_reserve,
                                           .send = rm_socket_link_send,
                                           .totals = rm_socket_link_totals,
                                           .check = udp_check,
                                           .close = rm_socket_link_close};

static char const *link_udp_advice(int why) {
    switch (why) {
    case EADDRINUSE:
        return "another socket has our address; `ss -ulnp` shows whose";
    case EADDRNOTAVAIL:
        return "no interface has our address; `ip address` shows those there are";
    case EACCES:
        return "ports below 1024 need CAP_NET_BIND_SERVICE";
    case ENETUNREACH:
        return "no route leads to the peer; `ip route` shows those there are";
    default:
        return "choose another address or port";
    }
}

/** The interface that has our address, for its stamps. */
static void ask_stamps(struct rm_link *link) {
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0)
        return;
    for (struct ifaddrs const *one = all; one != NULL; one = one->ifa_next) {
        struct sockaddr_in const *const address = (struct sockaddr_in const *)one->ifa_addr;
        if (address != NULL && address->sin_family == AF_INET &&
            ntohl(address->sin_addr.s_addr) == link->config.address) {
            rm_link_ask_hardware_stamps(link, one->ifa_name);
            break;
        }
    }
    freeifaddrs(all);
}

enum rm_code rm_link_udp_open(struct rm_link_config const *config, struct rm_link **link, struct rm_error *error) {
    struct sockaddr_in const ours = link_address_of(config->address, config->udp_port);
    struct sockaddr_in const peers = link_address_of(config->peer, config->peer_port);
    int const file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0)
        return rm_fail(error, RM_E_SYSTEM, "link %s: cannot open a UDP socket: %s", config->text, strerror(errno));
    if (bind(file, (struct sockaddr const *)&ours, sizeof ours) != 0 ||
        connect(file, (struct sockaddr const *)&peers, sizeof peers) != 0) {
        int const why = errno;
        close(file);
        return rm_fail(error, RM_E_SYSTEM, "link %s: cannot bind a UDP socket and connect it to its peer: %s; %s",
                       config->text, strerror(why), link_udp_advice(why));
    }
    enum rm_code const code = rm_socket_link_new(config, &udp_ops, file, rm_link_largest_payload(config), link, error);
    if (code == RM_OK)
        ask_stamps(*link);
    return code;
}
