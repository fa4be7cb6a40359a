// SPDX-License-Identifier: Apache-2.0
#include "veth_pair.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/** Holds a namespace of its own until its parent ends; writes one byte when it is there. */
static void hold(int ready, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || unshare(CLONE_NEWNET) != 0)
        _exit(1);
    if (write(ready, "", 1) != 1)
        _exit(1);
    close(ready);
    for (;;)
        pause();
}

static pid_t start_holder(void) {
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0)
        return -1;
    pid_t const parent = getpid();
    pid_t const holder = fork();
    if (holder == 0) {
        close(ready[0]);
        hold(ready[1], parent);
    }
    close(ready[1]);
    char byte;
    bool const there = holder > 0 && read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    if (there)
        return holder;
    if (holder > 0)
        waitpid(holder, NULL, 0);
    return -1;
}

bool rm_veth_pair_enter(struct rm_veth_pair const *pair, int end) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/net", pair->holder[end]);
    int const namespace = open(path, O_RDONLY | O_CLOEXEC);
    bool const entered = namespace >= 0 && setns(namespace, CLONE_NEWNET) == 0;
    if (namespace >= 0)
        close(namespace);
    return entered;
}

/** A virtual link has no hardware that would fill in a checksum that the kernel left out. */
static bool compute_checksums(char const *interface) {
    struct ethtool_value off = {.cmd = ETHTOOL_STXCSUM, .data = 0};
    struct ifreq request = {.ifr_data = (char *)&off};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    int const fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool const done = fd >= 0 && ioctl(fd, SIOCETHTOOL, &request) == 0;
    if (fd >= 0)
        close(fd);
    return done;
}

/** The kernel notices some milliseconds later that both ends are up. */
static bool wait_until_running(char const *interface) {
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
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

/** Runs in a child, inside the namespace. */
static int set_up(int end, pid_t other_holder) {
    char command[1024];
    char const *const quiet = "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 && "
                              "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6";
    if (access("/proc/sys/net/ipv6", F_OK) == 0 && system(quiet) != 0)
        return 1;
    if (end == 1) // the other end exists already when namespace 0 is set up
        snprintf(command, sizeof command,
                 "ip link add veth1 address 02:00:00:00:00:02 type veth "
                 "peer name veth0 address 02:00:00:00:00:01 netns %d",
                 other_holder);
    else
        snprintf(command, sizeof command, "true");
    if (system(command) != 0)
        return 1;
    snprintf(command, sizeof command,
             "ip link set lo up && ip address add 10.99.0.%d/24 dev veth%d && ip link set veth%d up && "
             "ip neighbour add 10.99.0.%d lladdr 02:00:00:00:00:0%d dev veth%d nud permanent",
             end + 1, end, end, 2 - end, 2 - end, end);
    char const interface[] = {'v', 'e', 't', 'h', (char)('0' + end), '\0'};
    if (system(command) != 0 || !compute_checksums(interface))
        return 1;
    return end == 1 || wait_until_running(interface) ? 0 : 1;
}

static bool set_up_inside(struct rm_veth_pair const *pair, int end) {
    pid_t const child = fork();
    if (child == 0)
        _exit(rm_veth_pair_enter(pair, end) ? set_up(end, pair->holder[1 - end]) : 1);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

bool rm_veth_pair_make(struct rm_veth_pair *pair) {
    pair->holder[0] = start_holder();
    pair->holder[1] = start_holder();
    if (pair->holder[0] < 0 || pair->holder[1] < 0)
        fprintf(stderr, "cannot make a network namespace: this needs CAP_NET_ADMIN and CAP_SYS_ADMIN, run as root\n");
    else if (!set_up_inside(pair, 1) || !set_up_inside(pair, 0))
        fprintf(stderr, "cannot make a veth pair: this needs `ip` of iproute2 and a kernel with veth\n");
    else
        return true;
    rm_veth_pair_remove(pair);
    return false;
}

void rm_veth_pair_remove(struct rm_veth_pair *pair) {
    for (int end = 0; end < 2; ++end) {
        if (pair->holder[end] > 0) {
            kill(pair->holder[end], SIGKILL);
            waitpid(pair->holder[end], NULL, 0);
        }
        pair->holder[end] = -1;
    }
}
