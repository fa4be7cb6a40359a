// SPDX-License-Identifier: Apache-2.0
#include "conformance_ends.h"

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

static void configure_memif(struct ends *ends) {
    snprintf(ends->directory, sizeof ends->directory, "/tmp/rm-ports-%d", getpid());
    for (int end = 0; end < 2; ++end)
        snprintf(ends->config[end].socket_path, sizeof ends->config[end].socket_path, "%s/run/link.sock",
                 ends->directory);
    ends->config[RECEIVER].memif_server = true;
}

static void configure_af_packet(struct ends *ends) {
    for (int end = 0; end < 2; ++end)
        snprintf(ends->config[end].interface, sizeof ends->config[end].interface, "veth%d", end);
}

static void configure_udp(struct ends *ends) {
    uint32_t const network = 0x0A630000; // 10.99.0.0
    ends->config[RECEIVER].bind_ipv4 = network + 1;
    ends->config[RECEIVER].bind_port = 4000;
    ends->config[SENDER].bind_ipv4 = network + 2;
    ends->config[SENDER].peer_ipv4 = network + 1;
    ends->config[SENDER].peer_port = 4000;
}

static bool configure(struct ends *ends, char const *kind) {
    for (int end = 0; end < 2; ++end) {
        snprintf(ends->config[end].name, sizeof ends->config[end].name, "%s", end == RECEIVER ? "receiver" : "sender");
        ends->config[end].queues = 1;
    }
    if (strcmp(kind, "memif") == 0) {
        ends->kind = RM_PORT_MEMIF;
        configure_memif(ends);
    } else if (strcmp(kind, "af_packet") == 0) {
        ends->kind = RM_PORT_AF_PACKET;
        configure_af_packet(ends);
    } else if (strcmp(kind, "udp") == 0) {
        ends->kind = RM_PORT_UDP;
        configure_udp(ends);
    } else {
        fprintf(stderr, "no kind '%s': memif, af_packet or udp\n", kind);
        return false;
    }
    ends->config[RECEIVER].kind = ends->config[SENDER].kind = ends->kind;
    return true;
}

bool ends_make(struct ends *ends, char const *kind) {
    *ends = (struct ends){.veth = {.holder = {-1, -1}}};
    ends->shared = mmap(NULL, sizeof *ends->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ends->shared == MAP_FAILED || !configure(ends, kind))
        return false;
    return ends->kind == RM_PORT_MEMIF || rm_veth_pair_make(&ends->veth);
}

void ends_remove(struct ends *ends) {
    rm_veth_pair_remove(&ends->veth);
    rmdir("/var/run/dpdk/ringmaster-tests"); // of processes that were killed
    munmap(ends->shared, sizeof *ends->shared);
    if (ends->kind != RM_PORT_MEMIF)
        return;
    char directory[96];
    unlink(ends->config[RECEIVER].socket_path);
    snprintf(directory, sizeof directory, "%s/run", ends->directory);
    rmdir(directory);
    rmdir(ends->directory);
}

static void start_net(void) {
    struct rm_net_config const config = {.prefix = "ringmaster-tests"};
    struct rm_error error;
    if (rm_net_start(&config, &error) != RM_OK)
        expect(false, error.text);
}

pid_t ends_start(struct ends *ends, int end, script *act) {
    fflush(NULL);
    pid_t const parent = getpid();
    pid_t const process = fork();
    if (process != 0)
        return process;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int const crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE}; // cmocka would catch them and run its tests here
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; ++i)
        signal(crashes[i], SIG_DFL);
    expect(getppid() == parent, "the test that started this process to live");
    if (ends->kind != RM_PORT_MEMIF)
        expect(rm_veth_pair_enter(&ends->veth, end), "the namespace to be entered");
    start_net();
    act(ends, end);
    rm_net_stop();
    _exit(0);
}

bool ends_wait(pid_t process) {
    int status = 1;
    if (waitpid(process, &status, 0) != process)
        return false;
    if (WIFSIGNALED(status))
        fprintf(stderr, "process %d ended by signal %d (%s)\n", process, WTERMSIG(status), strsignal(WTERMSIG(status)));
    return status == 0;
}

void ends_kill(pid_t process) {
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
}

void expect(bool good, char const *what) {
    if (good)
        return;
    fprintf(stderr, "process %d expected %s (errno: %s)\n", getpid(), what, strerror(errno));
    _exit(1);
}

struct rm_port *open_end(struct ends *ends, int end) {
    struct rm_port *port = NULL;
    struct rm_error error;
    if (rm_port_open(&ends->config[end], &port, &error) != RM_OK)
        expect(false, error.text);
    return port;
}

void pause_ms(long milliseconds) {
    struct timespec const pause = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

void wait_for_link(struct rm_port *port, bool up) {
    struct rm_port_totals totals;
    for (rm_port_totals(port, &totals); totals.link_up != up; rm_port_totals(port, &totals))
        pause_ms(1);
}

void wait_for_step(struct ends *ends, uint32_t step) {
    while (atomic_load(&ends->shared->step) < step)
        pause_ms(1);
}
