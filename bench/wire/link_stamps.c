// SPDX-License-Identifier: Apache-2.0
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link_way.h"

void rm_link_ask_hardware_stamps(struct rm_link *link, char const *interface) {
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
        snprintf(link->hardware_stamps, sizeof link->hardware_stamps, "%s%s%s of the card, not used",
                 transmit ? "transmit" : "", transmit && receive ? " and " : "", receive ? "receive" : "");
}
