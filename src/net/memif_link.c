// SPDX-License-Identifier: Apache-2.0
#include "net/memif_link.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_ethdev.h>

#include "base/fail.h"
#include "net/memif_socket.h"

enum {
    RETRY_MS = 50,            /**< between attempts to reach a server that is not there */
    HANDSHAKE_STEP_MS = 5,    /**< how often the driver is asked whether it is connected */
    HANDSHAKE_STEPS = 400,    /**< a peer that has said nothing useful for this long is dropped */
    DRAIN_PATIENCE_MS = 1000, /**< for receivers to take what a peer that ended had sent */
};

static void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

enum rm_code rm_memif_link_open(struct rm_memif_link *link, struct rm_port_config const *config,
                                struct rm_error *error) {
    link->peer_listener = link->driver_listener = -1;
    link->server = config->memif_server;
    memcpy(link->path, config->socket_path, sizeof link->path);
    // Random, because the driver never closes a listening socket: a name must not come twice in a process.
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return rm_fail(error, RM_E_SYSTEM, "port '%s': the kernel gives no random number: %s", config->name,
                       strerror(errno));
    snprintf(link->driver_socket, sizeof link->driver_socket, "ringmaster-memif-%016lx", number);

    link->stop = eventfd(0, EFD_CLOEXEC);
    if (link->stop < 0)
        return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot make an eventfd: %s", config->name, strerror(errno));
    if (!rm_gate_init(&link->gate, (uint16_t)(config->queues + 1))) { // the slow path sends, too
        close(link->stop);
        return rm_fail(error, RM_E_NO_SPACE, "port '%s': no memory for the gates of %u queues; free some memory",
                       config->name, config->queues);
    }
    enum rm_code code = RM_OK;
    if (link->server)
        code = rm_memif_listen(config->name, link->path, &link->peer_listener, error);
    else if ((link->driver_listener = rm_memif_listen_abstract(link->driver_socket)) < 0)
        code = rm_fail(error, RM_E_SYSTEM, "port '%s': cannot make the socket for DPDK's driver: %s", config->name,
                       strerror(errno));
    if (code != RM_OK)
        rm_memif_link_close(link);
    return code;
}

void rm_memif_link_close(struct rm_memif_link *link) {
    if (link->peer_listener >= 0)
        unlink(link->path);
    close_fd(&link->peer_listener);
    close_fd(&link->driver_listener);
    close_fd(&link->stop);
    rm_gate_free(&link->gate);
}

/** Waits until `fd` (which may be -1) is readable; false when the link shall end. */
static bool wait_for(struct rm_memif_link const *link, int fd, int timeout_ms) {
    struct pollfd fds[2] = {{.fd = link->stop, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    poll(fds, 2, timeout_ms);
    return fds[0].revents == 0;
}

/** The peer's socket, or -1 when the link shall end. */
static int wait_for_peer(struct rm_memif_link const *link) {
    int peer = -1;
    if (link->server) {
        while (peer < 0 && wait_for(link, link->peer_listener, -1))
            peer = accept4(link->peer_listener, NULL, NULL, SOCK_CLOEXEC);
        return peer;
    }
    while ((peer = rm_memif_connect(link->path)) < 0)
        if (!wait_for(link, -1, RETRY_MS))
            return -1;
    return peer;
}

/** Starts the driver and returns the other end of its control socket, or -1. */
static int start_driver(struct rm_memif_link const *link) {
    if (rte_eth_dev_start(link->device) != 0)
        return -1;
    if (link->server)
        return rm_memif_connect_abstract(link->driver_socket);
    return accept4(link->driver_listener, NULL, NULL, SOCK_CLOEXEC);
}

struct stop_request {
    uint16_t device;
    sem_t done;
};

static void stop_device(void *argument) {
    struct stop_request *const request = argument;
    (void)rte_eth_dev_stop(request->device);
    sem_post(&request->done);
}

/** Stops the driver from within DPDK's interrupt thread, where it handles its messages: never two at a time. */
static void stop_driver(struct rm_memif_link const *link) {
    struct stop_request request = {.device = link->device};
    sem_init(&request.done, 0, 0);
    while (rte_eal_alarm_set(1, stop_device, &request) != 0)
        wait_for(link, -1, RETRY_MS); // out of memory: nothing else may touch the driver
    while (sem_wait(&request.done) != 0)
        ;
    sem_destroy(&request.done);
}

static bool driver_connected(struct rm_memif_link const *link) {
    struct rte_eth_link state;
    return rte_eth_link_get_nowait(link->device, &state) == 0 && state.link_status == RTE_ETH_LINK_UP;
}

/** Passes one message and counts the rings that it announces. */
static enum rm_memif_message pass(struct rm_memif_link *link, int from, int to) {
    enum rm_memif_message const message = rm_memif_pass(from, to);
    if (message == RM_MEMIF_ADD_C2S)
        ++*(link->server ? &link->receive_rings : &link->send_rings);
    if (message == RM_MEMIF_ADD_S2C)
        ++*(link->server ? &link->send_rings : &link->receive_rings);
    return message;
}

/** Passes messages until both sides are connected; false when that does not come about. */
static bool shake_hands(struct rm_memif_link *link, int peer, int driver) {
    struct pollfd fds[3] = {
        {.fd = link->stop, .events = POLLIN}, {.fd = peer, .events = POLLIN}, {.fd = driver, .events = POLLIN}};
    link->receive_rings = link->send_rings = 0;
    bool agreed = false;
    for (int idle = 0; idle < HANDSHAKE_STEPS; ++idle) {
        if (agreed && driver_connected(link))
            return true;
        poll(fds, 3, HANDSHAKE_STEP_MS);
        if (fds[0].revents != 0)
            return false;
        for (int side = 1; side <= 2; ++side) {
            if (fds[side].revents == 0)
                continue;
            enum rm_memif_message const message = pass(link, fds[side].fd, fds[3 - side].fd);
            if (message == RM_MEMIF_END)
                return false;
            agreed |= message == RM_MEMIF_CONNECTED;
            idle = 0;
        }
    }
    return false;
}

/** From a peer's arrival to its end. */
static void serve(struct rm_memif_link *link, int peer) {
    int driver = start_driver(link);
    if (driver >= 0 && shake_hands(link, peer, driver)) {
        rm_gate_open(&link->gate);
        // A connected peer has nothing more to say than that it goes, and it says so by ending too.
        if (wait_for(link, peer, -1))
            rm_gate_drain(&link->gate, link->receive_rings, DRAIN_PATIENCE_MS);
        rm_gate_close(&link->gate);
    }
    stop_driver(link);
    close_fd(&driver);
}

static void *keep_connected(void *argument) {
    struct rm_memif_link *const link = argument;
    int peer;
    while ((peer = wait_for_peer(link)) >= 0) {
        serve(link, peer);
        close(peer);
        if (!wait_for(link, -1, RETRY_MS)) // a peer that is refused may come again at once
            break;
    }
    return NULL;
}

enum rm_code rm_memif_link_run(struct rm_memif_link *link, struct rm_dpdk_device const *device,
                               struct rm_port_config const *config, struct rm_error *error) {
    link->device = device->id;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the program's own threads
    int const result = pthread_create(&link->thread, NULL, keep_connected, link);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result != 0)
        return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot start its link thread: %s; raise the limit of threads",
                       config->name, strerror(result));
    pthread_setname_np(link->thread, "rm-memif-link");
    return RM_OK;
}

void rm_memif_link_halt(struct rm_memif_link *link) {
    eventfd_write(link->stop, 1);
    pthread_join(link->thread, NULL);
}
