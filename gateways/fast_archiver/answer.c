// SPDX-License-Identifier: Apache-2.0
#include "answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PRINT_BYTES = 512, DRAIN_BYTES = 4096, STACK_BYTES = 512 * 1024 };

void fa_out_flush(struct fa_out *out) {
    for (size_t sent = 0; sent < out->bytes && !out->failed;) {
        ssize_t const bytes = send(out->socket, out->buffer + sent, out->bytes - sent, MSG_NOSIGNAL);
        out->failed = bytes <= 0;
        sent += out->failed ? 0 : (size_t)bytes;
    }
    out->bytes = 0;
}

void fa_out_put(struct fa_out *out, void const *data, size_t bytes) {
    for (char const *at = data; bytes > 0;) {
        size_t const room = sizeof out->buffer - out->bytes, part = bytes < room ? bytes : room;
        memcpy(out->buffer + out->bytes, at, part);
        out->bytes += part;
        at += part;
        bytes -= part;
        if (out->bytes == sizeof out->buffer)
            fa_out_flush(out);
    }
}

void fa_out_print(struct fa_out *out, char const *format, ...) {
    char text[PRINT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int const bytes = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fa_out_put(out, text, bytes < PRINT_BYTES ? (size_t)bytes : sizeof text - 1);
}

void fa_socket_close(int socket) {
    char drained[DRAIN_BYTES];
    shutdown(socket, SHUT_WR);
    while (recv(socket, drained, sizeof drained, MSG_DONTWAIT) > 0)
        ;
    close(socket);
}

static void answering_end(struct fa_answering *answering) {
    struct fa_server *const server = answering->server;
    struct fa_client *const client = answering->client;
    pthread_mutex_lock(&server->lock);
    fa_socket_close(client->socket);
    client->state = FA_CLIENT_FREE;
    server->answering--;
    pthread_mutex_unlock(&server->lock);
    free(answering);
}

static void *answering_run(void *context) {
    struct fa_answering *const answering = context;
    if (fa_command_kind(answering->client->line) == FA_COMMAND_READ)
        fa_answer_read(answering);
    else
        fa_answer_configuration(answering);
    fa_out_flush(&answering->out);
    answering_end(answering);
    return NULL;
}

static bool answering_thread(struct fa_answering *answering) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    bool const is_started = pthread_create(&thread, &attributes, answering_run, answering) == 0;
    pthread_attr_destroy(&attributes);
    return is_started;
}

bool fa_answer_start(struct fa_server *server, struct fa_client *client) {
    struct timeval const timeout = {.tv_sec = FA_SEND_TIMEOUT_S};
    struct fa_answering *const answering = calloc(1, sizeof *answering);
    if (answering == NULL)
        return false;
    setsockopt(client->socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    answering->server = server;
    answering->client = client;
    answering->out.socket = client->socket;
    pthread_mutex_lock(&server->lock);
    answering->shown = server->shown;
    client->state = FA_CLIENT_ANSWERED;
    server->answering++;
    pthread_mutex_unlock(&server->lock);
    if (answering_thread(answering))
        return true;
    pthread_mutex_lock(&server->lock);
    client->state = FA_CLIENT_SPEAKS;
    server->answering--;
    pthread_mutex_unlock(&server->lock);
    free(answering);
    return false;
}
