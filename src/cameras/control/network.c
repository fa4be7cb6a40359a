// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <net/if.h>

enum { GVCP_PORT = 3956, ETHERNET_MTU = 1500 };

static struct sockaddr_in udp_address(uint32_t ipv4, uint16_t port) {
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(ipv4)};
}

/** Of the interface that has an address. */
static uint32_t mtu_of(int any_socket, uint32_t ipv4) {
    struct ifaddrs *all;
    uint32_t mtu = ETHERNET_MTU;
    if (getifaddrs(&all) != 0)
        return mtu;
    for (struct ifaddrs const *one = all; one != NULL; one = one->ifa_next) {
        struct sockaddr_in const *const address = (struct sockaddr_in const *)(void const *)one->ifa_addr;
        struct ifreq request = {.ifr_mtu = 0};
        if (address == NULL || address->sin_family != AF_INET || ntohl(address->sin_addr.s_addr) != ipv4)
            continue;
        strncpy(request.ifr_name, one->ifa_name, sizeof request.ifr_name - 1);
        if (ioctl(any_socket, SIOCGIFMTU, &request) == 0)
            mtu = (uint32_t)request.ifr_mtu;
    }
    freeifaddrs(all);
    return mtu;
}

bool rm_way_to_camera(uint32_t camera_ipv4, struct rm_way_to_camera *way) {
    struct sockaddr_in const camera = udp_address(camera_ipv4, GVCP_PORT);
    struct sockaddr_in ours = {0};
    socklen_t length = sizeof ours;
    int const asked = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool const found = asked >= 0 && connect(asked, (struct sockaddr const *)&camera, sizeof camera) == 0 &&
                       getsockname(asked, (struct sockaddr *)&ours, &length) == 0;
    if (found) {
        way->ipv4 = ntohl(ours.sin_addr.s_addr);
        way->mtu_bytes = mtu_of(asked, way->ipv4);
    }
    if (asked >= 0)
        close(asked);
    return found;
}

int rm_listen_for_nothing(uint32_t ipv4, uint16_t udp_port) {
    struct sockaddr_in const address = udp_address(ipv4, udp_port);
    int const least = 1;
    int const listener = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (listener < 0)
        return -1;
    (void)setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &least, sizeof least);
    if (bind(listener, (struct sockaddr const *)&address, sizeof address) == 0)
        return listener;
    close(listener);
    return -1;
}
