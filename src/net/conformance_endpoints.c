// SPDX-License-Identifier: Apache-2.0
#include "conformance_numbered.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"

/** Kinds that meet at a socket. */
static void configure_socket(struct endpoints *endpoints) {
    snprintf(endpoints->directory, sizeof endpoints->directory, "/tmp/rm-ports-%d", getpid());
    for (int end = 0; end < 2; ++end)
        snprintf(endpoints->config[end].socket_path, sizeof endpoints->config[end].socket_path, "%s/run/link.sock",
                 endpoints->directory);
    endpoints->config[RECEIVER].memif_server = true;
    endpoints->slow = true;
}

static void configure_vhost(struct endpoints *endpoints) {
    configure_socket(endpoints);
    endpoints->forgets = true;
}

static void configure_veth(struct endpoints *endpoints) {
    for (int end = 0; end < 2; ++end)
        snprintf(endpoints->config[end].interface, sizeof endpoints->config[end].interface, "veth%d", end);
    endpoints->has_veth = true;
}

static void configure_af_xdp(struct endpoints *endpoints) {
    configure_veth(endpoints);
    endpoints->claimed = true;
    for (int end = 0; end < 2; ++end) {
        endpoints->config[end].claim_count = 1;
        endpoints->config[end].claim[0] = CLAIMED_PORT;
    }
}

/** The far end is the kernel's: its interface, in the same namespace. */
static void configure_tap(struct endpoints *endpoints) {
    for (int end = 0; end < 2; ++end)
        snprintf(endpoints->config[end].interface, sizeof endpoints->config[end].interface, "rm0");
    endpoints->has_veth = true; // its namespaces are wanted
    endpoints->together = true;
}

static void configure_udp(struct endpoints *endpoints) {
    uint32_t const network = 0x0A630000; // 10.99.0.0
    endpoints->config[RECEIVER].bind_ipv4 = network + 1;
    endpoints->config[RECEIVER].bind_port = 4000;
    endpoints->config[SENDER].bind_ipv4 = network + 2;
    endpoints->config[SENDER].peer_ipv4 = network + 1;
    endpoints->config[SENDER].peer_port = 4000;
    endpoints->has_veth = true;
}

struct pairing {
    char const *word;
    enum rm_port_kind kind[2];
    int first;
    void (*configure)(struct endpoints *endpoints);
};

static struct pairing const pairings[] = {
    {"memif", {RM_PORT_MEMIF, RM_PORT_MEMIF}, NEITHER, configure_socket},
    {"af_packet", {RM_PORT_AF_PACKET, RM_PORT_AF_PACKET}, NEITHER, configure_veth},
    {"af_xdp", {RM_PORT_AF_XDP, RM_PORT_AF_XDP}, NEITHER, configure_af_xdp},
    {"raw", {RM_PORT_RAW, RM_PORT_RAW}, NEITHER, configure_veth},
    {"udp", {RM_PORT_UDP, RM_PORT_UDP}, NEITHER, configure_udp},
    {"tap", {RM_PORT_TAP, RM_PORT_AF_PACKET}, RECEIVER, configure_tap},
    {"vhost", {RM_PORT_VHOST, RM_PORT_VIRTIO_USER}, RECEIVER, configure_vhost},
    {"virtio_user", {RM_PORT_VIRTIO_USER, RM_PORT_VHOST}, SENDER, configure_vhost},
};

static bool configure_endpoints(struct endpoints *endpoints, char const *kind) {
    for (size_t i = 0; i < sizeof pairings / sizeof pairings[0]; ++i) {
        struct pairing const *const pairing = &pairings[i];
        if (strcmp(kind, pairing->word) != 0)
            continue;
        for (int end = 0; end < 2; ++end) {
            snprintf(endpoints->config[end].name, sizeof endpoints->config[end].name, "%s",
                     end == RECEIVER ? "receiver" : "sender");
            endpoints->config[end].queues = 1;
            endpoints->config[end].kind = pairing->kind[end];
        }
        endpoints->kind = pairing->kind[RECEIVER];
        endpoints->first = pairing->first;
        pairing->configure(endpoints);
        return true;
    }
    fprintf(stderr, "no kind '%s'\n", kind);
    return false;
}

bool endpoints_make_mtu(struct endpoints *endpoints, char const *kind, int mtu) {
    *endpoints = (struct endpoints){.veth = {.holder = {-1, -1}}};
    endpoints->shared =
        mmap(NULL, sizeof *endpoints->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (endpoints->shared == MAP_FAILED || !configure_endpoints(endpoints, kind))
        return false;
    return !endpoints->has_veth || rm_veth_links_make(&endpoints->veth, (struct rm_veth_links){.count = 1, .mtu = mtu});
}

bool endpoints_make(struct endpoints *endpoints, char const *kind) { return endpoints_make_mtu(endpoints, kind, 1500); }

void endpoints_remove(struct endpoints *endpoints) {
    rm_veth_pair_remove(&endpoints->veth);
    rmdir("/var/run/dpdk/ringmaster-tests"); // of processes that were killed
    munmap(endpoints->shared, sizeof *endpoints->shared);
    if (endpoints->directory[0] == '\0')
        return;
    char directory[96];
    unlink(endpoints->config[RECEIVER].socket_path);
    snprintf(directory, sizeof directory, "%s/run", endpoints->directory);
    rmdir(directory);
    rmdir(endpoints->directory);
}

/** A test that failed may have left some that wait for others. */
static void end_those_left(struct endpoints const *endpoints) {
    for (int i = 0; i < PROCESSES; ++i)
        if (endpoints->process[i] != 0 && waitpid(endpoints->process[i], NULL, WNOHANG) == 0)
            endpoints_kill(endpoints->process[i]);
}

void endpoints_begin(struct endpoints *endpoints) {
    end_those_left(endpoints);
    atomic_store(&endpoints->shared->received, 0);
    atomic_store(&endpoints->shared->sent, 0);
    atomic_store(&endpoints->shared->step, 0);
    for (int end = 0; end < 2; ++end)
        atomic_store(&endpoints->shared->openings[end], 0);
}

static void start_conformance_net(void) {
    struct rm_net_config const config = {.prefix = "ringmaster-tests"};
    struct rm_error error;
    if (rm_net_start(&config, &error) != RM_OK)
        expect(false, error.text);
}

pid_t endpoints_start(struct endpoints *endpoints, int end, script *act) {
    fflush(NULL);
    pid_t const parent = getpid();
    pid_t const process = fork();
    if (process != 0) {
        endpoints->process[endpoints->started++ % PROCESSES] = process;
        return process;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int const crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE}; // cmocka would catch them and run its tests here
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; ++i)
        signal(crashes[i], SIG_DFL);
    expect(getppid() == parent, "the test that started this process to live");
    if (endpoints->has_veth)
        expect(rm_veth_pair_enter(&endpoints->veth, endpoints->together ? 0 : end), "the namespace to be entered");
    start_conformance_net();
    act(endpoints, end);
    rm_net_stop();
    _exit(0);
}

static bool ended_well(pid_t process, int status) {
    if (WIFSIGNALED(status))
        fprintf(stderr, "process %d ended by signal %d (%s)\n", process, WTERMSIG(status), strsignal(WTERMSIG(status)));
    return status == 0;
}

bool endpoints_wait(pid_t process) {
    int status = 1;
    return waitpid(process, &status, 0) == process && ended_well(process, status);
}

bool endpoints_wait_both(pid_t one, pid_t other) {
    int status = 1;
    pid_t const first = waitpid(-1, &status, 0); // the namespaces' holders live on
    pid_t const second = first == one ? other : one;
    if (first > 0 && ended_well(first, status))
        return endpoints_wait(second);
    endpoints_kill(second);
    return false;
}

void endpoints_kill(pid_t process) {
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
}

void expect(bool good, char const *what) {
    if (good)
        return;
    fprintf(stderr, "process %d expected %s (errno: %s)\n", getpid(), what, strerror(errno));
    _exit(1);
}

struct rm_port *open_end(struct endpoints *endpoints, int end) {
    struct rm_port *port = NULL;
    struct rm_error error;
    if (endpoints->first != NEITHER && endpoints->first != end)
        while (atomic_load(&endpoints->shared->openings[endpoints->first]) <=
               atomic_load(&endpoints->shared->openings[end]))
            pause_ms(1);
    if (rm_port_open(&endpoints->config[end], &port, &error) != RM_OK)
        expect(false, error.text);
    atomic_fetch_add(&endpoints->shared->openings[end], 1);
    return port;
}

void pause_ms(long milliseconds) {
    struct timespec const pause = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

void wait_for_link(struct rm_port *port, bool up) {
    struct rm_port_statistics totals;
    for (rm_port_totals(port, &totals); totals.link_up != up; rm_port_totals(port, &totals))
        pause_ms(1);
}

void wait_for_step(struct endpoints *endpoints, uint32_t step) {
    while (atomic_load(&endpoints->shared->step) < step)
        pause_ms(1);
}

void close_sender(struct endpoints *endpoints, struct rm_port *port, uint64_t count) {
    while (endpoints->forgets && atomic_load(&endpoints->shared->received) < count)
        pause_ms(1);
    rm_port_close(port);
}
