// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ringmaster/errors.h>

#include "base/timebase.h"
#include "connections.h"

enum {
    /** How often frames are made, and how long the loop sleeps where nobody wants any. */
    TICK_MS = 2,
    IDLE_MS = 50,
    EVENTS_MAX = 64,
    BACKLOG = 128,
    END_NAP_US = 1000,
};

/** As many files as the system allows: clients, and files of the archive. */
static void files_allow(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static enum rm_code server_listen(struct fa_server *server, struct rm_error *error) {
    struct fa_file const *file = server->file;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)file->port)};
    int const one = 1;
    inet_pton(AF_INET, file->address, &address.sin_addr);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listener >= 0)
        setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (server->listener < 0 || bind(server->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server->listener, BACKLOG) != 0)
        return rm_fail(error, errno == EADDRINUSE ? RM_E_BUSY : RM_E_SYSTEM,
                       "%s:%u: %s; choose another `port` or `address`", file->address, file->port, strerror(errno));
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (server->epoll < 0 || epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->listener, &event) != 0)
        return rm_fail(error, RM_E_SYSTEM, "epoll: %s", strerror(errno));
    return RM_OK;
}

enum rm_code fa_server_open(struct fa_server *server, struct rm_error *error) {
    server->listener = server->epoll = -1;
    server->live.file = server->file;
    pthread_mutex_init(&server->lock, NULL);
    files_allow();
    server->client = calloc(server->file->clients, sizeof *server->client);
    if (server->client == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u clients", server->file->clients);
    return server_listen(server, error);
}

static void server_handle(struct fa_server *server, struct epoll_event const *events, int count, uint64_t now_ns) {
    for (int i = 0; i < count; ++i) {
        if (events[i].data.u32 == UINT32_MAX) {
            fa_connections_accept(server, now_ns);
            continue;
        }
        struct fa_client *const client = &server->client[events[i].data.u32];
        if (client->state == FA_CLIENT_SUBSCRIBED && (events[i].events & (EPOLLERR | EPOLLHUP)) != 0)
            fa_connection_end(server, client);
        else if (client->state == FA_CLIENT_SPEAKS)
            fa_connection_hear(server, client);
        else if (client->state == FA_CLIENT_SUBSCRIBED)
            fa_connection_send(server, client, now_ns);
    }
}

/** Says once what has come or gone, and ends the subscriptions to what has. */
static void server_look(struct fa_server *server, uint64_t now_ns) {
    char text[RM_ERROR_TEXT_BYTES + 64];
    bool changed;
    fa_live_look(&server->live, now_ns, &changed);
    if (!changed)
        return;
    fa_connections_end_subscriptions(server);
    if (server->live.workspace != NULL)
        snprintf(text, sizeof text, "serves workspace %s, %.1f frames/s", server->file->workspace,
                 fa_live_rate_hz(&server->live, FA_RATE_FULL));
    else
        snprintf(text, sizeof text, "has no live data: %s",
                 server->live.error.code != RM_OK ? server->live.error.text : "the server has ended");
    server->say(text);
}

/** What threads may see of the live data. */
static void server_show(struct fa_server *server) {
    struct fa_live const *const live = &server->live;
    struct fa_frames const *const full = &live->frames[FA_RATE_FULL];
    struct fa_frames const *const decimated = &live->frames[FA_RATE_DECIMATED];
    struct fa_shown const shown = {
        .rate_hz = fa_live_rate_hz(live, FA_RATE_FULL),
        .decimation = live->has_rate[FA_RATE_DECIMATED] ? (unsigned)(decimated->period / full->period) : 0,
        .period_turns = full->period,
        .missing = full->missing + decimated->missing,
        .gaps = full->gaps + decimated->gaps,
        .is_live = live->workspace != NULL && live->reading.anchored,
    };
    pthread_mutex_lock(&server->lock);
    server->shown = shown;
    pthread_mutex_unlock(&server->lock);
}

static void server_make_frames(struct fa_server *server) {
    for (unsigned rate = 0; rate < FA_RATES; ++rate) {
        struct fa_live *const live = &server->live;
        live->is_wanted[rate] = fa_connections_want(server, rate);
        if (live->is_wanted[rate] && live->has_rate[rate])
            (void)fa_frames_make(&live->frames[rate]);
    }
}

void fa_server_run(struct fa_server *server) {
    struct epoll_event events[EVENTS_MAX];
    while (!*server->ending) {
        bool const is_busy = server->live.is_wanted[FA_RATE_FULL] || server->live.is_wanted[FA_RATE_DECIMATED];
        int const count = epoll_wait(server->epoll, events, EVENTS_MAX, is_busy ? TICK_MS : IDLE_MS);
        uint64_t const now_ns = rm_monotonic_ns();
        server_look(server, now_ns);
        server_show(server);
        server_make_frames(server);
        server_handle(server, events, count > 0 ? count : 0, now_ns);
        fa_connections_step(server, now_ns);
    }
}

void fa_server_close(struct fa_server *server) {
    bool is_waiting = server->client != NULL;
    for (uint32_t i = 0; is_waiting && i < server->file->clients; ++i)
        fa_connection_end(server, &server->client[i]);
    while (is_waiting) { /* threads see that all ends, or that their client has gone */
        pthread_mutex_lock(&server->lock);
        is_waiting = server->answering > 0;
        pthread_mutex_unlock(&server->lock);
        usleep(END_NAP_US);
    }
    if (server->listener >= 0)
        close(server->listener);
    if (server->epoll >= 0)
        close(server->epoll);
    fa_live_close(&server->live);
    free(server->client);
    pthread_mutex_destroy(&server->lock);
}
