// SPDX-License-Identifier: Apache-2.0
#include "veth_pair.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "veth_setup.h"

/** Holds a namespace of its own until its parent ends; writes one byte when it is there. */
static void hold_namespace(int ready, pid_t parent) {
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
        hold_namespace(ready[1], parent);
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

/** Runs in a child, inside the namespace. End 1 makes the links, so it comes first. */
static bool set_up(int end, struct rm_veth_links links, pid_t other_holder) {
    if (!rm_veth_quieten())
        return false;
    bool done = true;
    for (int link = 0; done && link < links.count; ++link)
        done = (end == 0 || rm_veth_link_make(link, links.mtu, other_holder)) && rm_veth_link_up(link, end);
    for (int link = 0; done && end == 0 && link < links.count; ++link)
        done = rm_veth_link_wait(link, end);
    return done;
}

static bool set_up_inside(struct rm_veth_pair const *pair, int end, struct rm_veth_links links) {
    pid_t const child = fork();
    if (child == 0)
        _exit(rm_veth_pair_enter(pair, end) && set_up(end, links, pair->holder[1 - end]) ? 0 : 1);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

bool rm_veth_pair_make(struct rm_veth_pair *pair) {
    return rm_veth_links_make(pair, (struct rm_veth_links){.count = 1, .mtu = 1500});
}

bool rm_veth_links_make(struct rm_veth_pair *pair, struct rm_veth_links links) {
    pair->holder[0] = start_holder();
    pair->holder[1] = start_holder();
    if (pair->holder[0] < 0 || pair->holder[1] < 0)
        fprintf(stderr, "cannot make a network namespace: this needs CAP_NET_ADMIN and CAP_SYS_ADMIN, run as root\n");
    else if (!set_up_inside(pair, 1, links) || !set_up_inside(pair, 0, links))
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
