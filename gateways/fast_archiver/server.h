// SPDX-License-Identifier: Apache-2.0
/** The gateway: one loop for all connections and all frames, and a thread for each answer that may wait.
 *
 * The loop never waits for a client or a disk. What it shares with the threads is the list of clients and `shown`, both
 * under `lock`.
 */
#ifndef FA_SERVER_H
#define FA_SERVER_H

#include <stdatomic.h>

#include "client.h"

enum {
    /** Answers from the archive at once: each takes some 100 MB. */
    FA_READS_MAX = 8,
};

/** What a configuration command says of the live data. */
struct fa_shown {
    double rate_hz;
    /** 0: there is none. */
    unsigned decimation;
    /** Turns of a frame, or 0. */
    uint64_t period_turns;
    uint64_t missing, gaps;
    bool is_live;
};

struct fa_server {
    struct fa_file const *file;
    /** Set by a signal, in whatever thread; read by all. */
    atomic_bool const *ending;
    void (*say)(char const *text);

    int listener, epoll;
    struct fa_live live;

    pthread_mutex_t lock;
    struct fa_client *client;
    struct fa_shown shown;
    unsigned answering, reading;

    /* Since the start. */
    uint64_t accepted, refused, too_slow;
};

/** Listens. RM_E_BUSY: another program has the port. */
enum rm_code fa_server_open(struct fa_server *server, struct rm_error *error);
/** Serves until `*ending`. */
void fa_server_run(struct fa_server *server);
/** Closes all connections, and waits for the threads. */
void fa_server_close(struct fa_server *server);

#endif
