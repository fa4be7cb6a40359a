// SPDX-License-Identifier: Apache-2.0
/** One of two servers in simulated time: what its transmit role, its link process and its hosts do together, once per
 * cycle. The decisions are those of src/standby, the limits those of the guard; what is here is what lies between. */
#ifndef RM_SIMULATION_PAIR_SERVER_H
#define RM_SIMULATION_PAIR_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "engine/guard.h"
#include "instruments/chain.h"
#include "standby/standby.h"
#include "stepping.h"

struct rm_pair;

enum {
    /** For BEGIN. */
    RM_PAIR_BEGIN_CYCLES = 200,
    /** Cycles of which is kept what was said. */
    RM_PAIR_SAID_CYCLES = 1024,
    /** Cycles after which a link that brings nothing is lost. */
    RM_PAIR_LINK_LOST_CYCLES = 1000,
    /** Most that waits for a server that is stopped: more is lost, as in a queue that is full. */
    RM_PAIR_WAITING_MAX = 4096,
};

/** What a server says of one cycle over the link. */
struct rm_pair_said {
    uint64_t cycle;
    /** Which life of the server says it. */
    uint64_t life;
    enum rm_standby_role role;
    uint32_t term;
    bool unacknowledged;
    /** A planned switch that it knows of; RM_TURN_NONE: none. */
    rm_turn switch_turn;
    /** The oldest cycle of the peer that it lacks; 0: none. */
    uint64_t lacks;
    /** It can follow no further without a copy of the state. */
    bool needs_copy;
    /** [supply] what it sent last, and where it goes. */
    float *sent;
    double *target;
};

/** What a server knows of one chain. */
struct rm_pair_contact {
    uint64_t sequence;
    /** Cycle of the newest datagram that the chain is known to have obeyed, of either server. */
    uint64_t obeyed;
    /** It joins in this cycle at the earliest. */
    uint64_t joins_from;
    /** Cycles without an answer. */
    uint32_t silent;
    bool joined, lost;
    /** It missed a cycle, and what the guard wants is further than one slew from what it was sent. */
    bool behind;
};

struct rm_pair_server {
    struct rm_pair *pair;
    uint32_t index;
    /** It runs; it is stopped, as by SIGSTOP. */
    bool alive, stopped;
    uint64_t life;
    uint32_t instance;
    struct rm_standby standby;
    struct rm_guard *guard;
    struct rm_pair_contact *contact;
    /** Highest term on its disk. */
    uint32_t saved_term;

    /** [supply] what was sent last, by the server that sends; NaN: unknown. */
    float *sent;
    /** [supply] its guard knows where it stands. */
    bool *stands;
    /** Cycle of `sent`. */
    uint64_t sent_cycle;
    /** Its newest cycle, and when that was due. */
    uint64_t cycle, due_ns;
    /** Newest cycle whose instruments it heard. */
    uint64_t heard_instruments;

    /** [cycle] what it said: for the other one, and for itself. */
    struct rm_pair_said *said;
    float *said_sent;
    double *said_target;
    /** [cycle] which of the peer's have come: their number. */
    uint64_t *come;
    /** The peer: newest cycle that came, when, of which life; the first whose step was not followed. */
    uint64_t peer_cycle, peer_come, peer_life, next_step;
    /** The first cycle of that life that came. */
    uint64_t peer_first;
    struct rm_pair_stepping stepping;
    /** Of a planned switch; RM_TURN_NONE: none is to come. */
    rm_turn switch_turn;
    uint64_t acknowledged;

    /** While it is stopped: what waits for it; and the first chain that still gets its datagram of the cycle in which
     * it was stopped. */
    struct rm_pair_event *waiting;
    uint32_t waits;
    uint32_t stop_at_chain;
    bool stops_within;
};

enum rm_code rm_pair_server_open(struct rm_pair *pair, uint32_t index, struct rm_pair_server *server,
                                 struct rm_error *error);
void rm_pair_server_close(struct rm_pair_server *server);

/** A new life begins: it knows nothing but its disk. */
enum rm_code rm_pair_server_begin(struct rm_pair *pair, uint32_t index, struct rm_error *error);

/** Its cycle is due. */
void rm_pair_server_due(struct rm_pair *pair, uint32_t index, uint64_t cycle);

/** Sends the cycle to all chains; to those before `stop_at_chain` alone where it is stopped within. */
void rm_pair_server_send(struct rm_pair *pair, uint32_t index);

/** A chain gets no setpoints, but queries, until it joins. */
void rm_pair_server_part(struct rm_pair *pair, struct rm_pair_server *server, uint32_t chain);

/** It asks all chains. */
void rm_pair_server_ask(struct rm_pair *pair, uint32_t index, uint64_t cycle);

/** A chain's answer has come. */
void rm_pair_server_answer(struct rm_pair *pair, uint32_t index, uint32_t chain, struct rm_chain_answer const *answer);

/** What the peer said of a cycle has come. */
void rm_pair_server_word(struct rm_pair *pair, uint32_t index, uint64_t cycle, uint64_t life);

/** The peer's word of that cycle, where it has come and is still known; else NULL. */
struct rm_pair_said const *rm_pair_server_word_of(struct rm_pair *pair, struct rm_pair_server const *server,
                                                  uint64_t cycle);

/** A copy of the peer's application has come, of that life and cycle. */
void rm_pair_server_copy(struct rm_pair *pair, uint32_t index, uint64_t cycle, uint64_t life);

/** It is told to hand over to the other one at a turn that both agree on. Does nothing where it does not send. */
void rm_pair_server_switch(struct rm_pair *pair, uint32_t index);

/** What waits for it is lost. */
void rm_pair_server_drop(struct rm_pair *pair, uint32_t index);

/** The rest of the cycle in which it was stopped goes out, late. */
void rm_pair_server_resume(struct rm_pair *pair, uint32_t index);

#endif
