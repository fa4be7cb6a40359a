// SPDX-License-Identifier: Apache-2.0
#include "standby/link/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"

/** Room of a socket: a copy's chunks come at once. */
enum { BUFFER_BYTES = 4 << 20 };

static struct sockaddr_in address_of(struct rm_config_link const *link) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(link->port), .sin_addr.s_addr = htonl(link->ipv4)};
}

static char const *address_text(struct rm_config_link const *link, char text[32]) {
    snprintf(text, 32, "%u.%u.%u.%u:%u", link->ipv4 >> 24, link->ipv4 >> 16 & 255, link->ipv4 >> 8 & 255,
             link->ipv4 & 255, link->port);
    return text;
}

static enum rm_code socket_open(struct pollfd *poll, struct rm_config_link const *own, struct rm_error *error) {
    struct sockaddr_in const here = address_of(own);
    int const room = BUFFER_BYTES;
    char text[32];
    poll->events = POLLIN;
    poll->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (poll->fd < 0)
        return rm_fail(error, RM_E_SYSTEM, "no socket for the link %s: %s", address_text(own, text), strerror(errno));
    (void)setsockopt(poll->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    (void)setsockopt(poll->fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (bind(poll->fd, (struct sockaddr const *)&here, sizeof here) != 0)
        return rm_fail(error, RM_E_SYSTEM,
                       "the link cannot have %s: %s; expected an address of this host, and a UDP port that no other "
                       "program has (see standby.servers)",
                       address_text(own, text), strerror(errno));
    return RM_OK;
}

enum rm_code rm_peer_sockets_open(struct rm_peer_sockets *sockets, struct rm_config const *config,
                                  struct rm_error *error) {
    struct rm_config_standby const *const standby = &config->standby;
    struct rm_config_server const *const own = &standby->server[standby->own];
    struct rm_config_server const *const peer = &standby->server[1 - standby->own];
    *sockets = (struct rm_peer_sockets){.count = own->link_count};
    for (uint32_t i = 0; i < sockets->count; ++i) {
        sockets->poll[i].fd = -1;
        sockets->peer[i] = address_of(&peer->link[i]);
    }
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < sockets->count; ++i)
        code = socket_open(&sockets->poll[i], &own->link[i], error);
    return code;
}

void rm_peer_sockets_close(struct rm_peer_sockets *sockets) {
    for (uint32_t i = 0; i < sockets->count; ++i)
        if (sockets->poll[i].fd >= 0)
            close(sockets->poll[i].fd);
}

void rm_peer_sockets_send(struct rm_peer_sockets *sockets, uint8_t const *bytes, size_t size) {
    for (uint32_t i = 0; i < sockets->count; ++i) {
        bool const good = sendto(sockets->poll[i].fd, bytes, size, 0, (struct sockaddr const *)&sockets->peer[i],
                                 sizeof sockets->peer[i]) >= 0;
        sockets->sent += good;
        sockets->full += !good;
    }
}

long rm_peer_sockets_receive(struct rm_peer_sockets *sockets, uint32_t link, uint8_t *bytes, size_t room) {
    return recv(sockets->poll[link].fd, bytes, room, MSG_TRUNC);
}

void rm_peer_sockets_wait(struct rm_peer_sockets *sockets, uint64_t timeout_ns) {
    struct timespec const timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                                     .tv_nsec = (long)(timeout_ns % 1000000000)};
    (void)ppoll(sockets->poll, sockets->count, &timeout, NULL);
}
