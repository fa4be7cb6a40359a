// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"
#include "net/interface.h"
#include "net/kernel_socket.h"

/** A socket is not told that its address has gone with its interface; another one that asks for it is. */
static bool address_is_gone(int file) {
    struct sockaddr_in ours = {0};
    socklen_t length = sizeof ours;
    int const other = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool gone = other >= 0 && getsockname(file, (struct sockaddr *)&ours, &length) == 0;
    ours.sin_port = 0;
    gone = gone && bind(other, (struct sockaddr const *)&ours, sizeof ours) != 0 && errno == EADDRNOTAVAIL;
    if (other >= 0)
        close(other);
    return gone;
}

static enum rm_code udp_check(struct rm_port *port, struct rm_error *error) {
    if (address_is_gone(port->file))
        return rm_fail(error, RM_E_SYSTEM,
                       "port '%s': no interface has our address any more; `ip address` shows those there are",
                       port->name);
    return rm_kernel_socket_check(port, error);
}

static struct sockaddr_in udp_address_of(uint32_t ipv4, uint16_t port) {
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(ipv4)};
}

static bool udp_send_to(struct rm_port *port, uint32_t ipv4, uint16_t udp_port, uint8_t const *payload,
                        uint32_t length) {
    struct sockaddr_in const to = udp_address_of(ipv4, udp_port);
    ssize_t const sent = sendto(port->file, payload, length, MSG_DONTWAIT, (struct sockaddr const *)&to, sizeof to);
    return sent == (ssize_t)length;
}

static struct rm_port_ops const udp_ops = {.framing = RM_FRAMING_UDP,
                                           .copies = true,
                                           .receive = rm_kernel_socket_receive,
                                           .receive_sleeping = rm_kernel_socket_receive_sleeping,
                                           .release = rm_kernel_socket_release,
                                           .reserve = rm_kernel_socket_reserve,
                                           .send = rm_kernel_socket_send,
                                           .send_to = udp_send_to,
                                           .totals = rm_kernel_socket_totals,
                                           .check = udp_check,
                                           .close = rm_kernel_socket_close};

/** What to do about a bind that failed. */
static char const *udp_port_advice(int why) {
    switch (why) {
    case EADDRINUSE:
        return "another socket has it; `ss -ulnp` shows whose";
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

/** Keeps a socket to the interface that has an address: what is bound to the address itself gets no multicast. */
static bool bind_to_interface_of(int socket, uint32_t ipv4) {
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0)
        return false;
    bool bound = false;
    for (struct ifaddrs const *one = all; one != NULL && !bound; one = one->ifa_next) {
        struct sockaddr_in const *const address = (struct sockaddr_in const *)one->ifa_addr;
        if (address != NULL && address->sin_family == AF_INET && ntohl(address->sin_addr.s_addr) == ipv4)
            bound =
                setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, one->ifa_name, (socklen_t)strlen(one->ifa_name)) == 0;
    }
    freeifaddrs(all);
    return bound;
}

static enum rm_code bind_socket(int file, struct rm_port_config const *config, struct rm_error *error) {
    struct sockaddr_in local = udp_address_of(config->bind_ipv4, config->bind_port);
    bool good = true;
    if (config->group_count != 0 && config->bind_ipv4 != 0) {
        errno = EADDRNOTAVAIL;
        good = bind_to_interface_of(file, config->bind_ipv4);
        local = udp_address_of(0, config->bind_port);
    }
    if (good && bind(file, (struct sockaddr const *)&local, sizeof local) == 0)
        return RM_OK;
    int const why = errno;
    struct in_addr const wanted = {.s_addr = htonl(config->bind_ipv4)};
    char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &wanted, text, sizeof text);
    return rm_fail(error, why == EADDRINUSE ? RM_E_BUSY : RM_E_SYSTEM, "port '%s': cannot receive UDP at %s:%u: %s; %s",
                   config->name, text, config->bind_port, strerror(why), udp_port_advice(why));
}

/** Of the groups that any socket of this host has joined, only our own. */
static enum rm_code join_groups(int file, struct rm_port_config const *config, struct rm_error *error) {
    int const no = 0;
    if (config->group_count != 0)
        (void)setsockopt(file, IPPROTO_IP, IP_MULTICAST_ALL, &no, sizeof no);
    return rm_interface_join(file, 0, config->bind_ipv4, config, error);
}

static enum rm_code connect_peer(int file, struct rm_port_config const *config, struct rm_error *error) {
    struct sockaddr_in const peer = udp_address_of(config->peer_ipv4, config->peer_port);
    if (!config->connected || connect(file, (struct sockaddr const *)&peer, sizeof peer) == 0)
        return RM_OK;
    return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot connect a UDP socket to its peer: %s; %s", config->name,
                   strerror(errno), udp_port_advice(errno));
}

static enum rm_code open_socket(int *file, struct rm_port_config const *config, struct rm_error *error) {
    *file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (*file < 0)
        return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot make a UDP socket: %s", config->name, strerror(errno));
    enum rm_code code = bind_socket(*file, config, error);
    if (code == RM_OK)
        code = join_groups(*file, config, error);
    if (code == RM_OK)
        code = connect_peer(*file, config, error);
    if (code != RM_OK)
        close(*file);
    return code;
}

enum rm_code rm_udp_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error) {
    int file = -1;
    struct sockaddr_in const peer = udp_address_of(config->peer_ipv4, config->peer_port);
    enum rm_code code = rm_kernel_socket_check_config(config, error);
    if (code == RM_OK)
        code = open_socket(&file, config, error);
    if (code == RM_OK)
        code = rm_kernel_socket_make(sizeof(struct rm_kernel_socket), &udp_ops, file, config->longest_frame,
                                     config->connected ? NULL : &peer, config, port, error);
    return code;
}
