// SPDX-License-Identifier: Apache-2.0
/** Answers to C and R, each in a thread of its own: it may wait for its client and for the disk. */
#ifndef FA_ANSWER_H
#define FA_ANSWER_H

#include "server.h"

/** Bytes on their way to a client, which may take SEND_TIMEOUT for each piece. */
struct fa_out {
    int socket;
    bool failed;
    size_t bytes;
    char buffer[FA_SEND_BYTES];
};

void fa_out_put(struct fa_out *out, void const *data, size_t bytes);
void fa_out_print(struct fa_out *out, char const *format, ...) __attribute__((format(printf, 2, 3)));
void fa_out_flush(struct fa_out *out);

/** Closes a connection so that the client gets all of its answer: bytes that it has sent and nobody read would make the
 * kernel reset it. */
void fa_socket_close(int socket);

/** A client and the gateway that it is one of. */
struct fa_answering {
    struct fa_server *server;
    struct fa_client *client;
    struct fa_shown shown;
    struct fa_out out;
};

/** Starts the thread that answers; the client is the thread's until it is free again. False: there is no thread. */
bool fa_answer_start(struct fa_server *server, struct fa_client *client);

/** The answers. */
void fa_answer_configuration(struct fa_answering *answering);
void fa_answer_read(struct fa_answering *answering);

#endif
