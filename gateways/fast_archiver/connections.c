// SPDX-License-Identifier: Apache-2.0
#include "connections.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "answer.h"
#include "sending.h"

enum {
    /** How often a client that takes nothing is looked after. */
    STALL_LOOK_NS = 100 * 1000 * 1000,
};

static char const TOO_MANY[] = "Too many clients\n";
static char const INVALID[] = "Invalid command\n";

static struct fa_client *server_free_client(struct fa_server *server) {
    for (uint32_t i = 0; i < server->file->clients; ++i)
        if (server->client[i].state == FA_CLIENT_FREE)
            return &server->client[i];
    return NULL;
}

static void client_set_state(struct fa_server *server, struct fa_client *client, enum fa_client_state state) {
    pthread_mutex_lock(&server->lock);
    client->state = state;
    pthread_mutex_unlock(&server->lock);
}

static bool client_watch(struct fa_server *server, struct fa_client *client, int operation, uint32_t events) {
    struct epoll_event event = {.events = events, .data.u32 = (uint32_t)(client - server->client)};
    return epoll_ctl(server->epoll, operation, client->socket, &event) == 0;
}

static void client_begin(struct fa_server *server, struct fa_client *client, int socket, struct sockaddr_in const *peer,
                         uint64_t now_ns) {
    client->socket = socket;
    client->peer = *peer;
    client->accepted_ns = now_ns;
    client->line_bytes = 0;
    client->waits = false;
    client->sending = (struct fa_sending){.buffer = NULL};
    clock_gettime(CLOCK_REALTIME, &client->since);
    server->accepted++;
    if (client_watch(server, client, EPOLL_CTL_ADD, EPOLLIN))
        client_set_state(server, client, FA_CLIENT_SPEAKS);
    else
        close(socket);
}

/** Sends a short text to a client that is closed then. */
static void socket_refuse(int socket, char const *text) {
    (void)send(socket, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
    fa_socket_close(socket);
}

void fa_connections_accept(struct fa_server *server, uint64_t now_ns) {
    struct sockaddr_in peer;
    for (;;) {
        socklen_t bytes = sizeof peer;
        int const socket = accept4(server->listener, (struct sockaddr *)&peer, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket < 0)
            return;
        struct fa_client *const client = server_free_client(server);
        if (client != NULL) {
            client_begin(server, client, socket, &peer, now_ns);
        } else {
            server->refused++;
            socket_refuse(socket, TOO_MANY);
        }
    }
}

void fa_connection_end(struct fa_server *server, struct fa_client *client) {
    pthread_mutex_lock(&server->lock);
    if (client->state == FA_CLIENT_ANSWERED) {
        shutdown(client->socket, SHUT_RDWR);
    } else if (client->state != FA_CLIENT_FREE) {
        close(client->socket);
        fa_sending_end(&client->sending);
        client->state = FA_CLIENT_FREE;
    }
    pthread_mutex_unlock(&server->lock);
}

/** Closes a connection with a last line for the client. */
static void client_refuse(struct fa_server *server, struct fa_client *client, char const *text) {
    (void)send(client->socket, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
    client_watch(server, client, EPOLL_CTL_DEL, 0);
    pthread_mutex_lock(&server->lock);
    fa_socket_close(client->socket);
    client->state = FA_CLIENT_FREE;
    pthread_mutex_unlock(&server->lock);
}

static void client_log(struct fa_server *server, struct fa_client const *client, char const *what) {
    char text[256], address[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &client->peer.sin_addr, address, sizeof address);
    snprintf(text, sizeof text, "client %s:%u: %s", address, ntohs(client->peer.sin_port), what);
    server->say(text);
}

/** Frames are made from now on, if they were not. */
static void rate_begin(struct fa_live *live, enum fa_rate rate) {
    if (live->is_wanted[rate])
        return;
    live->is_wanted[rate] = true;
    live->frames[rate].next_turn = RM_TURN_NONE;
    (void)fa_frames_begin(&live->frames[rate]);
}

static void client_subscribe(struct fa_server *server, struct fa_client *client) {
    struct fa_sending *const sending = &client->sending;
    char error[FA_ERROR_BYTES];
    int const one = 1;
    if (!fa_subscription_parse(client->line, server->file->id_count, &sending->wants, error)) {
        client_refuse(server, client, error);
        return;
    }
    sending->rate = sending->wants.decimated ? FA_RATE_DECIMATED : FA_RATE_FULL;
    if (sending->wants.decimated && server->file->decimated == NULL) {
        client_refuse(server, client, "Error parsing subscription: Decimated data not available\n");
        return;
    }
    if (server->live.has_rate[sending->rate])
        rate_begin(&server->live, sending->rate);
    if (!fa_sending_begin(sending, &server->live, error)) {
        client_refuse(server, client, error);
        return;
    }
    if (sending->wants.uncork)
        setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    client_watch(server, client, EPOLL_CTL_MOD, 0); /* it may have ended its own side: frames go on */
    client_set_state(server, client, FA_CLIENT_SUBSCRIBED);
}

/** Hands a client to a thread, which may wait for it. */
static void client_answer(struct fa_server *server, struct fa_client *client) {
    client_watch(server, client, EPOLL_CTL_DEL, 0);
    fcntl(client->socket, F_SETFL, fcntl(client->socket, F_GETFL) & ~O_NONBLOCK);
    if (!fa_answer_start(server, client))
        fa_connection_end(server, client);
}

static void client_begin_answer(struct fa_server *server, struct fa_client *client) {
    switch (fa_command_kind(client->line)) {
    case FA_COMMAND_SUBSCRIPTION:
        client_subscribe(server, client);
        break;
    case FA_COMMAND_CONFIGURATION:
    case FA_COMMAND_READ:
        client_answer(server, client);
        break;
    default:
        client_refuse(server, client, INVALID);
        break;
    }
}

void fa_connection_hear(struct fa_server *server, struct fa_client *client) {
    ssize_t const bytes =
        recv(client->socket, client->line + client->line_bytes, sizeof client->line - client->line_bytes, 0);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (bytes <= 0) {
        fa_connection_end(server, client);
        return;
    }
    char *const end = memchr(client->line + client->line_bytes, '\n', (size_t)bytes);
    client->line_bytes += (size_t)bytes;
    if (end != NULL) {
        *end = '\0';
        client_begin_answer(server, client);
    } else if (client->line_bytes == sizeof client->line) {
        client_refuse(server, client, INVALID);
    }
}

void fa_connection_send(struct fa_server *server, struct fa_client *client, uint64_t now_ns) {
    enum fa_sent const sent = fa_sending_step(&client->sending, &server->live, client->socket, now_ns);
    client->stepped_ns = now_ns;
    bool const waits = sent == FA_SENT_WAITS || sent == FA_SENT_MORE;
    switch (sent) {
    case FA_SENT_TOO_SLOW:
        server->too_slow++;
        client_log(server, client, "is too slow, and was closed");
        fa_connection_end(server, client);
        return;
    case FA_SENT_GAP:
        client_log(server, client, "was closed at a gap in the data");
        fa_connection_end(server, client);
        return;
    case FA_SENT_GONE:
        fa_connection_end(server, client);
        return;
    default:
        break;
    }
    if (waits != client->waits)
        client_watch(server, client, EPOLL_CTL_MOD, waits ? EPOLLOUT : 0u);
    client->waits = waits;
}

/** Whether a client that waits for its socket is to be looked after all the same. */
static bool client_is_due(struct fa_client const *client, uint64_t now_ns) {
    return !client->waits || now_ns - client->stepped_ns > STALL_LOOK_NS;
}

void fa_connections_step(struct fa_server *server, uint64_t now_ns) {
    for (uint32_t i = 0; i < server->file->clients; ++i) {
        struct fa_client *const client = &server->client[i];
        if (client->state == FA_CLIENT_SPEAKS && now_ns - client->accepted_ns > FA_COMMAND_NS)
            fa_connection_end(server, client);
        else if (client->state == FA_CLIENT_SUBSCRIBED && client_is_due(client, now_ns))
            fa_connection_send(server, client, now_ns);
    }
}

bool fa_connections_want(struct fa_server const *server, enum fa_rate rate) {
    for (uint32_t i = 0; i < server->file->clients; ++i)
        if (server->client[i].state == FA_CLIENT_SUBSCRIBED && server->client[i].sending.rate == rate)
            return true;
    return false;
}

void fa_connections_end_subscriptions(struct fa_server *server) {
    for (uint32_t i = 0; i < server->file->clients; ++i)
        if (server->client[i].state == FA_CLIENT_SUBSCRIBED)
            fa_connection_end(server, &server->client[i]);
}
