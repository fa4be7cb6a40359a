// SPDX-License-Identifier: Apache-2.0
/** What the parts of the transmit role share; transmit.h is its outside.
 *
 *     transmit.c           making and freeing; the cycle: when is it due, and what comes in which order
 *     transmit_clock.c     which turn it is, and when the next cycle is due
 *     transmit_vectors.c   what applications and the operator want: commands, vectors, values set by hand
 *     transmit_chain.c     composing datagrams and sending them
 *     transmit_intended.c  what each chain was sent last, for a successor of this server
 *     transmit_watch.c     readbacks: what became of the datagrams, and what each supply does
 *     transmit_term.c      the term of our setpoints
 *     transmit_standby.h   what there is besides where it is one of two servers
 *     transmit_publish.c   what others may see: sent setpoints, states, grants
 *
 * All of it is one thread's. Until the first datagram of a cycle is handed over nothing is done that can wait.
 */
#ifndef RM_ENGINE_TRANSMIT_STATE_H
#define RM_ENGINE_TRANSMIT_STATE_H

#include <stdbool.h>

#include "engine/transmit.h"
#include "standby/standby.h"
#include "wire/setpoint_frame.h"

enum {
    /** Newest cycles whose answers can be told apart: one bit of a word for each. */
    RM_TRANSMIT_WINDOW = 64,
    /** Datagrams of a cycle's first burst: it must leave soon. */
    RM_TRANSMIT_FIRST_BURST = 1
};

/** What is kept of one application, 0 being the operator. */
struct rm_transmit_source {
    /** The command that was taken over; its setpoints are NULL when there is no application. */
    struct rm_transmit_command command;

    struct rm_setpoints_place place;
    /** TSC at which the newest vector since the last cycle was committed; 0: there was none. */
    uint64_t vector_tsc;
    /** The turn that the newest vector answers. */
    rm_turn vector_turn;
    /** A new vector was looked for since the last cycle. */
    bool looked;
    /** Newest instance that was granted a number. */
    uint64_t instance;

    uint64_t restarts;
    uint64_t since_tai_ns;
    /** The grant has been published once, … */
    bool told;
    /** … and shows this. */
    struct rm_application_view shown;

    uint64_t shown_grant_number;
};

/** One chain. What every cycle needs of it comes first and lies in as few cache lines as it can. */
struct rm_transmit_link {
    /** Sequence number of the newest setpoint datagram handed to the port; 0 before the first. */
    _Alignas(RM_CACHE_LINE) uint64_t sequence;
    /** Counters, as in `place`. */
    rm_counter *counters;
    /** What a successor of this server shall know of it, … */
    struct rm_intended *intended;
    /** … and the number there of its next setpoints. */
    uint64_t number;
    /** Its supplies. */
    uint32_t first, count;
    /** Number of parts of its answers. */
    uint32_t parts;
    /** Cycles since its last good answer. */
    uint32_t silent;
    /** It gets setpoints; else it gets queries. */
    bool joined;
    /** It was joined, and has not answered for too long. */
    bool lost;
    /** Its datagram of this cycle was handed to the port. */
    bool handed;
    /** It gets a query in this cycle. */
    bool query;
    /** It missed a cycle: its setpoints catch up with the guard's. */
    bool behind;
    /** In this cycle it gets the values of rm_transmit.caught. */
    bool catching;
    /** What was intended last is not known to be with the port. */
    bool in_doubt;
    /** A supply has joined since: what was intended last is not where it begins. */
    bool begins;
    /** Newest turn of its answers at the last look. */
    rm_turn head;

    struct rm_setpoint_frame frame;
    /** Bit per place in the window: the cycle was sent and not answered. */
    uint64_t pending;
    /** Bit per place in the window: there was a wrong answer to the cycle. */
    uint64_t wrong;
    /** It joins in this cycle at the earliest. */
    uint64_t joins_from;

    /** Highest term of ours that it was heard to obey; 0: none. */
    uint16_t ours;

    struct rm_transmit_chain place;
    /** Sequence numbers, by the cycle's place in the window; 0: nothing was sent, RM_TRANSMIT_ASKED: a query was. */
    uint64_t said[RM_TRANSMIT_WINDOW];
};

/** One port, and the chains behind it. */
struct rm_transmit_sender {
    struct rm_port *port;
    uint16_t queue;
    uint32_t count;
    /** Numbers of its chains. */
    uint32_t *chain;
    /** Chains whose datagram of this cycle was composed, … */
    uint32_t composed;
    /** … and handed over; `out` holds those between. */
    uint32_t handed;
    /** `out` holds one buffer for the next cycle's first datagram. */
    bool spare;
    /** The buffers that the port lent. */
    struct rm_burst out;
};

/** What is kept of one supply. */
struct rm_transmit_supply {
    uint32_t application;
    /** Largest step per cycle. */
    float slew;

    double tolerance;
    uint32_t settle_cycles;
};

/** What a chain was sent in a cycle that it got a query in, in place of a sequence number. */
#define RM_TRANSMIT_ASKED UINT64_MAX

struct rm_transmit_standby;

struct rm_transmit {
    struct rm_operator_put put;
    struct rm_transmit_setup setup;
    /** NULL: this server is alone. */
    struct rm_transmit_standby *standby;
    struct rm_guard *guard;
    uint32_t application_count, chain_count, supply_count, sender_count;
    struct rm_transmit_source *source;
    struct rm_command_mailbox *mailbox;
    struct rm_transmit_link *link;
    struct rm_transmit_sender *sender;
    /** Memory of all senders' lists. */
    uint32_t *sender_chain;

    struct rm_transmit_supply *supply;
    /** Per supply: the newest setpoint handed to the port; NaN: there is none, neither in this life nor before. */
    float *sent;
    /** Per supply that has not joined: another setpoint that the last life may have transmitted after `sent`, which the
     * readback decides; NaN: there is none. */
    float *doubtful;
    /** Per supply: the cycle in which that last changed. */
    uint64_t *moved;
    /** Per supply: the setpoint for a chain that catches up. */
    float *caught;
    /** Room for a vector of the longest application. */
    double *vector;
    /** Per supply: enum rm_supply_state, as far as readbacks and chains show it. */
    uint32_t *noted;
    /** "supply/state" as it was written last. */
    uint32_t *state;

    /* The clock. */
    struct rm_clock_reading clock;
    /** TSC at which TAI was read last. */
    uint64_t tai_look_tsc;

    uint64_t period_turns, phase_turns;
    /** Ticks of a period, by the clock. */
    uint64_t period_ticks;
    /** Turn of the next cycle. */
    rm_turn turn;
    /** TSC at which the next cycle is due. */
    uint64_t due_tsc;
    /** TSC at which the last cycle was sent. */
    uint64_t sent_tsc;
    /** Ticks of a period, by the nominal turn rate. */
    uint64_t nominal_ticks;
    /** In simulated time: looks for the leader's vector since that is overdue. */
    uint64_t looks;
    /** TSC before which no cycle is sent: a clock that runs too fast must not hurry supplies. */
    uint64_t allowed_tsc;

    /* The cycle under way, or the last one. */

    /** Term of our setpoints; 0: none yet. */
    uint16_t term;
    /** What chains are sent in this cycle: always setpoints where the server is alone. */
    enum rm_standby_act act;
    /** Supplies go their step in this cycle. */
    bool moves;
    /** For other threads: the highest term used or heard of. */
    _Atomic uint32_t highest_term;
    /** Number of the cycle, from 1. */
    uint64_t cycle;

    rm_turn cycle_turn;
    /** Turn-counter epoch of its turn. */
    uint64_t cycle_epoch;
    /** TSC at which its first datagram was handed over; 0: not yet. */
    uint64_t first_tsc;

    rm_turn turn_of[RM_TRANSMIT_WINDOW];
    /** Cycles that an answer may take, at most RM_TRANSMIT_WINDOW - 1. */
    uint32_t window;
    /** The chains that have readbacks, … */
    uint32_t *answering;
    /** … and how many these are. */
    uint32_t answering_count;
    /** Index of the chain that is looked at next. */
    uint32_t watched;
    /** The application that is looked at next. */
    uint32_t heard;

    /* How things stand. */

    /** Vectors of "setpoints/sent" written since `sent` changed. When there are as many as buffers, all are alike. */
    uint32_t sent_vectors;
    /** The state of a supply has changed since it was published. */
    bool state_changed;
    /** `turn` and `due_tsc` are valid. */
    bool anchored;
    /** A part of the cycle is not sent yet. */
    bool sending;
    /** The cycle has not been closed: nothing of it is published. */
    bool open;
};

/* transmit_clock.c */

/** Copies the clock, and finds when the next cycle is due. False while there is no turn. */
bool rm_transmit_look_at_clock(struct rm_transmit *transmit, uint64_t tsc);

/** Makes the first cycle whose time is still to come the next one. */
void rm_transmit_synchronise(struct rm_transmit *transmit, rm_turn now);

/** Skips the cycles whose time has gone. Returns by how many ticks the present one is late. */
uint64_t rm_transmit_skip(struct rm_transmit *transmit, uint64_t tsc);

/* transmit_vectors.c */

/** Looks for a new vector of an application; true when it was taken. */
bool rm_transmit_take_vector(struct rm_transmit *transmit, uint32_t application);

/** Takes over the commands that the control thread has posted. */
void rm_transmit_take_commands(struct rm_transmit *transmit);
void rm_transmit_take_put(struct rm_transmit *transmit);

/* transmit_chain.c */

/** Lists the chains by ports, and makes what is constant in their datagrams. */
bool rm_transmit_make_senders(struct rm_transmit *transmit);

/** Decides what each chain gets in the cycle that begins. */
void rm_transmit_open_chains(struct rm_transmit *transmit);

/** Sends what the ports take now; returns how many datagrams. Clears `sending` when nothing is left. */
uint32_t rm_transmit_send(struct rm_transmit *transmit);

/** Ends the cycle: what was not sent is given back and counted, what was sent is noted. */
void rm_transmit_close_chains(struct rm_transmit *transmit);

/** Takes a buffer for the first datagram of the next cycle. */
void rm_transmit_reserve(struct rm_transmit *transmit);
void rm_transmit_release(struct rm_transmit *transmit);

/* transmit_intended.c */

/** Finds what the last life of the server sent: `sent` and `doubtful`. */
void rm_transmit_find_last_life(struct rm_transmit *transmit);

/** The chain's next setpoint datagram has these values. Call it before the datagram is offered to the port; there is no
 * need where they are as in `sent`, the chain is not in doubt, and no supply of it begins. */
void rm_transmit_intend(struct rm_transmit_link *link, float const *values);

/** The port has taken a setpoint datagram of a chain that was in doubt. */
void rm_transmit_note_transmitted(struct rm_transmit_link *link);

/* transmit_term.c */

/** Finds what terms are known, and takes one where this server is alone. RM_E_CONFIG where there is none left. */
enum rm_code rm_transmit_find_term(struct rm_transmit *transmit, struct rm_error *error);

/** What is sent from now on has this term. */
void rm_transmit_take_term(struct rm_transmit *transmit, uint32_t term);

/** A chain told a term that is not below ours, and obeys nobody: a server that is alone goes beyond. */
void rm_transmit_raise_term(struct rm_transmit *transmit, uint32_t told);

void rm_transmit_note_highest(struct rm_transmit *transmit, uint32_t term);

/* transmit_standby.c, where this is one of two servers */

enum rm_code rm_transmit_standby_make(struct rm_transmit *transmit, struct rm_error *error);
void rm_transmit_standby_free(struct rm_transmit *transmit);

/** Decides what the cycle at hand sends: rm_transmit.act and .moves. */
void rm_transmit_decide(struct rm_transmit *transmit, uint64_t tsc);

/** Whether the leader's vector may send a cycle: of a server that sends, and is in time. */
bool rm_transmit_may_be_led(struct rm_transmit const *transmit, uint64_t tsc);

/** Whether so much time has gone since the cycle at hand was decided that what was decided may be no longer true: the host
 * took the core away, or the process was stopped. */
bool rm_transmit_has_slept(struct rm_transmit const *transmit);

/** Whether a chain that is there can be expected to have answered a server since the cycle before. */
bool rm_transmit_is_answered(struct rm_transmit const *transmit);

/** Publishes what the cycle came to. */
void rm_transmit_close_standby(struct rm_transmit *transmit, uint64_t tsc);

/** Takes over what the control thread has found of the other server. */
void rm_transmit_take_peer(struct rm_transmit *transmit);

/* transmit_watch.c */

/** Begins: supplies join where the last life left them, or wait for their chains' answers. */
void rm_transmit_join_first(struct rm_transmit *transmit);

/** Called when a cycle goes out: answers to the oldest cycle of the window are given up. */
void rm_transmit_count_silence(struct rm_transmit *transmit);

/** Looks at the answers of the next chain in turn. */
void rm_transmit_watch(struct rm_transmit *transmit);

/** The answer of this turn is to the other of two servers: it tells how the supplies do all the same. */
void rm_transmit_judge_other(struct rm_transmit *transmit, struct rm_transmit_link *link, rm_turn turn);

/** The chain joins where its answer of this turn says that it stands; without one, when it answers. */
void rm_transmit_join_where_it_stands(struct rm_transmit *transmit, struct rm_transmit_link *link, rm_turn turn);

/* transmit_publish.c */

void rm_transmit_publish_first(struct rm_transmit *transmit);

/** Publishes what was sent last, in the cycle of `turn`. */
void rm_transmit_publish_sent(struct rm_transmit *transmit, rm_turn turn);
void rm_transmit_publish_states(struct rm_transmit *transmit);
void rm_transmit_publish_grants(struct rm_transmit *transmit);

/** Publishes the grant of one application; 0 is the operator. */
void rm_transmit_publish_grant(struct rm_transmit *transmit, uint32_t application);

#endif
