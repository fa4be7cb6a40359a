// SPDX-License-Identifier: Apache-2.0
#include "net/memif_link.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "net/memif_socket.h"

enum {
    RETRY_MS = 50,           /**< between attempts to reach a server that is not there */
    HANDSHAKE_MS = 2000,     /**< a peer that has said nothing for this long is dropped */
    DRAIN_TIMEOUT_MS = 1000, /**< for receivers to take what a peer that ended had sent */
};

/** Waits until `fd` (which may be -1) is readable; false when the link shall end. */
static bool memif_link_wait_for(struct rm_memif_link const *link, int fd, int timeout_ms) {
    struct pollfd fds[2] = {{.fd = link->stop, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    poll(fds, 2, timeout_ms);
    return fds[0].revents == 0;
}

/** The peer's socket, or -1 when the link shall end. */
static int wait_for_peer(struct rm_memif_link const *link) {
    int peer = -1;
    if (link->server) {
        while (peer < 0 && memif_link_wait_for(link, link->listener, -1))
            peer = accept4(link->listener, NULL, NULL, SOCK_CLOEXEC);
        return peer;
    }
    while ((peer = rm_memif_connect(link->path)) < 0)
        if (!memif_link_wait_for(link, -1, RETRY_MS))
            return -1;
    return peer;
}

/** The peer's next message; false when none comes in time. */
static bool memif_link_hear(struct rm_memif_link const *link, int peer, struct rm_memif_message *message, int *file) {
    return memif_link_wait_for(link, peer, HANDSHAKE_MS) && rm_memif_message_receive(peer, message, file);
}

/** The same of a peer that has no file to give. */
static bool hear_words(struct rm_memif_link const *link, int peer, struct rm_memif_message *message) {
    int file;
    if (!memif_link_hear(link, peer, message, &file))
        return false;
    if (file >= 0)
        close(file);
    return true;
}

static bool meet_client(struct rm_memif_link *link, int peer) {
    struct rm_memif_server server = {.offer = &link->offer, .channel = &link->channel};
    struct rm_memif_message message, answer;
    rm_memif_server_hello(&server, &answer);
    while (rm_memif_message_send(peer, &answer, -1)) {
        int file;
        if (server.connected)
            return true;
        if (!memif_link_hear(link, peer, &message, &file))
            return false;
        char const *const refusal = rm_memif_server_take(&server, &message, file, &answer);
        if (refusal != NULL) {
            rm_memif_message_part(peer, refusal);
            return false;
        }
    }
    return false;
}

/** Says all that a client has to say; true when all of it was acknowledged. */
static bool memif_link_introduce(struct rm_memif_link const *link, struct rm_memif_client *client, int peer) {
    struct rm_memif_message message, answer;
    int file;
    while (rm_memif_client_next(client, &message, &file)) {
        uint16_t const wanted = message.type == RM_MEMIF_CONNECT ? RM_MEMIF_CONNECTED : RM_MEMIF_ACK;
        if (!rm_memif_message_send(peer, &message, file) || !hear_words(link, peer, &answer) || answer.type != wanted)
            return false;
    }
    return true;
}

static bool meet_server(struct rm_memif_link *link, int peer) {
    struct rm_memif_client client = {.offer = &link->offer, .channel = &link->channel, .region_file = -1};
    struct rm_memif_message hello;
    if (!hear_words(link, peer, &hello))
        return false;
    char const *const refusal = rm_memif_client_greeted(&client, &hello);
    if (refusal != NULL)
        rm_memif_message_part(peer, refusal);
    bool const met = refusal == NULL && memif_link_introduce(link, &client, peer);
    rm_memif_client_end(&client);
    return met;
}

static void attach_all(struct rm_memif_link *link) {
    struct rm_memif_channel const *const channel = &link->channel;
    struct rm_memif_place const *const in = link->server ? channel->to_server : channel->to_client;
    struct rm_memif_place const *const out = link->server ? channel->to_client : channel->to_server;
    link->receive_rings = link->server ? channel->to_server_count : channel->to_client_count;
    link->send_rings = link->server ? channel->to_client_count : channel->to_server_count;
    for (uint16_t i = 0; i < link->receive_rings; ++i)
        rm_memif_ring_attach_receive(&link->receive[i], &channel->regions, &in[i]);
    for (uint16_t i = 0; i < link->send_rings; ++i)
        rm_memif_ring_attach_send(&link->send[i], &channel->regions, &out[i]);
}

/** From a peer's arrival to its end. */
static void memif_link_serve_peer(struct rm_memif_link *link, int peer) {
    if (link->server ? meet_client(link, peer) : meet_server(link, peer)) {
        attach_all(link);
        rm_gate_open(&link->gate);
        // A connected peer has nothing more to say than that it goes, and it says so by ending too.
        if (memif_link_wait_for(link, peer, -1))
            rm_gate_drain(&link->gate, link->receive_rings, DRAIN_TIMEOUT_MS);
        rm_gate_close(&link->gate);
        rm_memif_message_part(peer, "the port is closed");
    }
    rm_memif_channel_close(&link->channel);
}

static void *keep_connected(void *argument) {
    struct rm_memif_link *const link = argument;
    int peer;
    while ((peer = wait_for_peer(link)) >= 0) {
        memif_link_serve_peer(link, peer);
        close(peer);
        if (!memif_link_wait_for(link, -1, RETRY_MS)) // a peer that is refused may come again at once
            break;
    }
    return NULL;
}

static bool make_rings(struct rm_memif_link *link, uint32_t longest) {
    link->receive = rm_zeroed(link->offer.receive_rings, sizeof *link->receive);
    link->send = rm_zeroed(link->offer.send_rings, sizeof *link->send);
    if (link->receive == NULL || link->send == NULL)
        return false;
    bool good = true;
    for (uint16_t i = 0; i < link->offer.receive_rings; ++i)
        good = rm_memif_ring_init(&link->receive[i], longest) && good;
    return good;
}

static void free_rings(struct rm_memif_link *link) {
    for (uint16_t i = 0; link->receive != NULL && i < link->offer.receive_rings; ++i)
        rm_memif_ring_free(&link->receive[i]);
    free(link->receive);
    free(link->send);
}

static void close_files(struct rm_memif_link *link) {
    if (link->listener >= 0) {
        unlink(link->path);
        close(link->listener);
    }
    if (link->stop >= 0)
        close(link->stop);
}

static enum rm_code start_thread(struct rm_memif_link *link, char const *name, struct rm_error *error) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the program's own threads
    int const result = pthread_create(&link->thread, NULL, keep_connected, link);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result != 0)
        return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot start its link thread: %s; raise the limit of threads",
                       name, strerror(result));
    pthread_setname_np(link->thread, "rm-memif-link");
    return RM_OK;
}

static enum rm_code open_parts(struct rm_memif_link *link, struct rm_port_config const *config, uint32_t longest,
                               struct rm_error *error) {
    if (!rm_gate_init(&link->gate, (uint16_t)(config->queues + 1)) ||
        !make_rings(link, longest)) // the exception path sends
        return rm_fail(error, RM_E_NO_SPACE, "port '%s': no memory for %u queues; free some memory", config->name,
                       config->queues);
    link->stop = eventfd(0, EFD_CLOEXEC);
    if (link->stop < 0)
        return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot make an eventfd: %s", config->name, strerror(errno));
    enum rm_code code = RM_OK;
    if (link->server)
        code = rm_memif_listen(config->name, link->path, &link->listener, error);
    return code == RM_OK ? start_thread(link, config->name, error) : code;
}

static void close_parts(struct rm_memif_link *link) {
    close_files(link);
    free_rings(link);
    rm_gate_free(&link->gate);
}

enum rm_code rm_memif_link_open(struct rm_memif_link *link, struct rm_port_config const *config,
                                struct rm_memif_offer const *offer, uint32_t longest, struct rm_error *error) {
    link->listener = link->stop = -1;
    link->server = config->memif_server;
    link->offer = *offer;
    memcpy(link->path, config->socket_path, sizeof link->path);
    enum rm_code const code = open_parts(link, config, longest, error);
    if (code != RM_OK)
        close_parts(link);
    return code;
}

void rm_memif_link_close(struct rm_memif_link *link) {
    eventfd_write(link->stop, 1);
    pthread_join(link->thread, NULL);
    close_parts(link);
}
