// SPDX-License-Identifier: Apache-2.0
#include "net/interface.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"

enum rm_code rm_interface_find(struct rm_port_config const *config, uint32_t *index, struct rm_error *error) {
    // A comma would end the driver's argument.
    if (memchr(config->interface, '\0', sizeof config->interface) == NULL || strchr(config->interface, ',') != NULL)
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s': no interface can have that name; `ip link` shows those there are", config->name);
    *index = if_nametoindex(config->interface);
    if (*index != 0)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG, "port '%s': there is no interface '%s' (%s); `ip link` shows those there are",
                   config->name, config->interface, strerror(errno));
}

static bool interface_has_flag(int socket, uint32_t index, int flag) {
    struct ifreq request = {.ifr_ifindex = (int)index};
    return ioctl(socket, SIOCGIFNAME, &request) == 0 && ioctl(socket, SIOCGIFFLAGS, &request) == 0 &&
           (request.ifr_flags & flag) != 0;
}

bool rm_interface_is_on(int socket, uint32_t index) { return interface_has_flag(socket, index, IFF_UP); }

bool rm_interface_up(int socket, uint32_t index) { return interface_has_flag(socket, index, IFF_RUNNING); }

static enum rm_code cannot_join(struct rm_port_config const *config, uint32_t group, struct rm_error *error) {
    int const why = errno;
    struct in_addr const address = {.s_addr = htonl(group)};
    char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &address, text, sizeof text);
    return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot join the multicast group %s: %s%s", config->name, text,
                   strerror(why),
                   why == ENOBUFS  ? "; raise net.ipv4.igmp_max_memberships"
                   : why == ENODEV ? "; no interface has a route for it: give the port the address of one"
                                   : "");
}

enum rm_code rm_interface_join(int socket, uint32_t index, uint32_t ipv4, struct rm_port_config const *config,
                               struct rm_error *error) {
    for (uint32_t i = 0; i < config->group_count; ++i) {
        struct ip_mreqn const request = {.imr_multiaddr.s_addr = htonl(config->group[i]),
                                         .imr_address.s_addr = htonl(ipv4),
                                         .imr_ifindex = (int)index};
        if (setsockopt(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request) != 0)
            return cannot_join(config, config->group[i], error);
    }
    return RM_OK;
}

enum rm_code rm_interface_open(uint32_t index, struct rm_port_config const *config, int *socket_made,
                               struct rm_error *error) {
    int const fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot make a UDP socket: %s", config->name, strerror(errno));
    enum rm_code const code = rm_interface_join(fd, index, 0, config, error);
    if (code == RM_OK)
        *socket_made = fd;
    else
        close(fd);
    return code;
}
