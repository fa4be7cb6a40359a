// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link_stamps.h"

void rm_interface_hardware_stamps(char const *interface, char stamps[64]) {
    int const file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0)
        return;
    struct ethtool_ts_info info = {.cmd = ETHTOOL_GET_TS_INFO};
    struct ifreq request = {.ifr_data = (void *)&info};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%.15s", interface);
    bool const known = ioctl(file, SIOCETHTOOL, &request) == 0;
    close(file);
    if (!known)
        return;
    bool const transmit = (info.so_timestamping & SOF_TIMESTAMPING_TX_HARDWARE) != 0;
    bool const receive = (info.so_timestamping & SOF_TIMESTAMPING_RX_HARDWARE) != 0;
    if (transmit || receive)
        snprintf(stamps, 64, "%s%s%s of the card, not used", transmit ? "transmit" : "",
                 transmit && receive ? " and " : "", receive ? "receive" : "");
}

void rm_address_hardware_stamps(uint32_t ipv4, char stamps[64]) {
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0)
        return;
    for (struct ifaddrs const *one = all; one != NULL; one = one->ifa_next) {
        struct sockaddr_in const *const address = (struct sockaddr_in const *)one->ifa_addr;
        if (address != NULL && address->sin_family == AF_INET && ntohl(address->sin_addr.s_addr) == ipv4) {
            rm_interface_hardware_stamps(one->ifa_name, stamps);
            break;
        }
    }
    freeifaddrs(all);
}
