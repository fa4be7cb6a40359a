// SPDX-License-Identifier: Apache-2.0
/** `ringmaster-standby` as a whole: one thread that joins the own workspace, the link and the own segment.
 *
 *     struct rm_peer_process process = {.ending = &ending};
 *     rm_peer_process_open(&process, config, &error)
 *     rm_peer_process_run(&process)              until *process.ending
 *     rm_peer_process_close(&process)
 *
 * It outlives servers: it attaches to the next one. It sleeps between two cycles, and until a datagram comes.
 */
#ifndef RM_STANDBY_LINK_PROCESS_H
#define RM_STANDBY_LINK_PROCESS_H

#include <stdatomic.h>

#include "standby/link/segment.h"
#include "standby/link/sockets.h"

struct rm_peer_process {
    atomic_bool const *ending;
    struct rm_config const *config;
    char *lines;
    struct rm_peer_own own;
    struct rm_peer_segment segment;
    struct rm_peer_sockets sockets;
    struct rm_peer_link link;
    /** A request to switch, which is answered when the two have agreed. */
    struct rm_request switching;
    bool is_switching;
    uint64_t shown_ns, answered_ns;
};

/** `config` is of a pair, and outlives it. On an error, close it too. */
enum rm_code rm_peer_process_open(struct rm_peer_process *process, struct rm_config const *config,
                                  struct rm_error *error);
enum rm_code rm_peer_process_run(struct rm_peer_process *process, struct rm_error *error);
void rm_peer_process_close(struct rm_peer_process *process);

/** requests.c: what people ask for, and what this process asks of applications. */
void rm_peer_requests_answer(struct rm_peer_process *process, uint64_t now_ns);
void rm_peer_requests_ask_state(struct rm_peer_process *process, uint32_t application);
/** The segment is open: settings that it has kept, or that it is to have. */
void rm_peer_requests_begin(struct rm_peer_process *process);

#endif
