// SPDX-License-Identifier: Apache-2.0
#include "veth_setup.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { COMMAND_BYTES = 1024 };

bool rm_veth_quieten(void) {
    return access("/proc/sys/net/ipv6", F_OK) != 0 ||
           system("echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 && "
                  "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6") == 0;
}

bool rm_veth_link_make(int link, int mtu, pid_t other_holder) {
    char command[COMMAND_BYTES];
    snprintf(command, sizeof command,
             "ip link add veth%d mtu %d address 02:00:00:00:%02x:02 type veth "
             "peer name veth%d mtu %d address 02:00:00:00:%02x:01 netns %d",
             2 * link + 1, mtu, (unsigned)link, 2 * link, mtu, (unsigned)link, other_holder);
    return system(command) == 0;
}

static void set_name(struct ifreq *request, int link, int end) {
    snprintf(request->ifr_name, sizeof request->ifr_name, "veth%d", 2 * link + end);
}

/** A virtual link has no hardware that would fill in a checksum that the kernel left out. */
static bool compute_checksums(int link, int end) {
    struct ethtool_value off = {.cmd = ETHTOOL_STXCSUM, .data = 0};
    struct ifreq request = {.ifr_data = (char *)&off};
    set_name(&request, link, end);
    int const fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool const done = fd >= 0 && ioctl(fd, SIOCETHTOOL, &request) == 0;
    if (fd >= 0)
        close(fd);
    return done;
}

bool rm_veth_link_wait(int link, int end) {
    struct ifreq request = {0};
    set_name(&request, link, end);
    int const fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool running = false;
    for (int tries = 0; fd >= 0 && !running && tries < 1000; ++tries) {
        running = ioctl(fd, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_RUNNING) != 0;
        usleep(running ? 0 : 5000);
    }
    if (fd >= 0)
        close(fd);
    return running;
}

bool rm_veth_link_up(int link, int end) {
    char command[COMMAND_BYTES];
    int const device = 2 * link + end;
    snprintf(command, sizeof command,
             "ip link set lo up && ip address add 10.99.%d.%d/24 dev veth%d && ip link set veth%d up && "
             "ip neighbour add 10.99.%d.%d lladdr 02:00:00:00:%02x:%02x dev veth%d nud permanent",
             link, end + 1, device, device, link, 2 - end, (unsigned)link, (unsigned)(2 - end), device);
    return system(command) == 0 && compute_checksums(link, end);
}
