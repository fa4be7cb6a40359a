// SPDX-License-Identifier: Apache-2.0
/** Two servers and one machine in simulated time: the real protocol (src/standby), the real guards, real virtual chains,
 * and a network that faults befall (faults.h). One thread, one queue of events: the same seed gives the same run.
 *
 *     cycle k     the instruments of its turn are read, and each server hears them or does not
 *     + phase     each server's cycle is due: it steps its application or has followed, decides, sends or is quiet,
 *                 and says over the link what it did
 *     + ¼ period  a server that suspects asks all chains
 *     between     datagrams reach chains, answers reach both servers, what was said reaches the other one
 *
 * Cycles have the same number on both servers, for a turn clock gives it; it is never 0.
 */
#ifndef RM_SIMULATION_PAIR_PAIR_H
#define RM_SIMULATION_PAIR_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "config/config.h"
#include "engine/application_setup.h"
#include "faults.h"
#include "instruments/chain_judge.h"
#include "network.h"
#include "queue.h"
#include "server.h"
#include "simulation/feed.h"
#include "simulation/plant.h"
#include "tally.h"

enum rm_pair_happening {
    RM_PAIR_CYCLE,    /**< the instruments are read */
    RM_PAIR_DUE,      /**< a server's cycle */
    RM_PAIR_ASK,      /**< a server's queries */
    RM_PAIR_DATAGRAM, /**< parcel `what` reaches chain `whom` */
    RM_PAIR_ANSWER,   /**< parcel `what` reaches server `whom` */
    RM_PAIR_WORD,  /**< what the peer said of `cycle` reaches server `whom`, which had life `what` when it was said */
    RM_PAIR_COPY,  /**< a copy of the application's state reaches server `whom` */
    RM_PAIR_FAULT, /**< a fault begins, or ends (`what` 1) */
};

/** What is on its way to a chain or from one. */
struct rm_pair_parcel {
    uint32_t chain;
    uint32_t length;
    /** The next free one. */
    uint32_t next;
    union {
        uint8_t setpoints[RM_SETPOINT_LONGEST];
        struct rm_chain_answer answer;
    };
};

enum { RM_PAIR_SETTINGS_MAX = 8 };

/** "gain=0.8:1.2": it is set to the one when the application begins, and at times to something up to the other. */
struct rm_pair_setting {
    char name[64];
    double from, to;
};

struct rm_pair_setup {
    struct rm_ring_files files;
    /** NULL: no application; supplies go where operators put them. */
    char const *application;
    uint64_t seed, cycles;
    /** N. */
    uint32_t missed_cycles;
    /** Which faults befall it, bits by enum rm_pair_fault_kind; and how many times. */
    uint32_t faults;
    uint64_t fault_count;
    /** Share of datagrams that are lost, and that are late. */
    double disturbed;
    /** Cycles from one setting of an operator to the next; 0: none. */
    uint64_t operator_cycles;
    /** What the operator sets of the application, once it runs. */
    struct rm_pair_setting setting[RM_PAIR_SETTINGS_MAX];
    uint32_t settings;
    bool json;
};

struct rm_pair {
    struct rm_pair_setup const *setup;
    struct rm_config *config;
    struct rm_plant plant;
    struct rm_feed feed;
    /** In the configuration; 0: none. */
    uint32_t application;
    /** [cycle][input] what the instruments said, and [server][cycle] a bit per input that it heard of that. */
    struct rm_record *records;
    uint64_t *heard[RM_PAIR_SERVERS];
    uint32_t heard_words;
    bool *dropped;
    struct rm_pair_network network;
    struct rm_pair_queue queue;
    struct rm_pair_server server[RM_PAIR_SERVERS];
    struct rm_pair_faults faults;
    struct rm_pair_tally tally;
    struct rm_chain_judge *judge;
    /** [chain of the server] chain of the ring. */
    uint32_t *ring_chain;

    struct rm_pair_parcel *parcel;
    uint32_t parcels, free_parcel;

    uint64_t now_ns, cycle, first_cycle, last_cycle;
    /** Of the first cycle. */
    uint64_t first_ns;
    double period_ns;
    uint64_t phase_ns;
    /** Of operators and of lives. */
    uint64_t key;
    /** First error that ended the run. */
    enum rm_code code;
    struct rm_error *error;
};

enum rm_code rm_pair_open(struct rm_pair_setup const *setup, struct rm_pair *pair, struct rm_error *error);

/** Runs until all cycles are done, or all faults and switches. */
enum rm_code rm_pair_run(struct rm_pair *pair, struct rm_error *error);
void rm_pair_close(struct rm_pair *pair);

/** Of its turn. */
static inline uint64_t rm_pair_cycle_ns(struct rm_pair const *pair, uint64_t cycle) {
    return pair->first_ns + (uint64_t)((double)(cycle - pair->first_cycle) * pair->period_ns);
}

static inline rm_turn rm_pair_turn(struct rm_pair const *pair, uint64_t cycle) {
    return cycle * pair->config->setpoints.period_turns;
}

static inline struct rm_record *rm_pair_records(struct rm_pair const *pair, uint64_t cycle) {
    return pair->records + (size_t)(cycle % RM_PAIR_SAID_CYCLES) * pair->feed.count;
}

/** Posts an event; without memory the run ends. */
void rm_pair_post(struct rm_pair *pair, struct rm_pair_event event);

/** A free parcel's index, or UINT32_MAX without memory: the run ends. */
uint32_t rm_pair_parcel_take(struct rm_pair *pair);
void rm_pair_parcel_give(struct rm_pair *pair, uint32_t parcel);

/** Makes room for what instruments say; reads those of a cycle, as each server hears them. */
enum rm_code rm_pair_instruments_open(struct rm_pair *pair, struct rm_error *error);
void rm_pair_instruments_close(struct rm_pair *pair);
enum rm_code rm_pair_instruments_read(struct rm_pair *pair, uint64_t cycle, struct rm_error *error);

/** Sends a datagram from a server to a chain: it arrives, or is lost on its way. */
void rm_pair_send(struct rm_pair *pair, uint32_t server, uint32_t chain, struct rm_setpoint_datagram const *datagram,
                  float const *values);

/** What the judge of chains has found, in all chains. */
struct rm_pair_judged {
    uint64_t two_masters, over_limit, over_slew, divided;
    double divided_cycles;
};

/** Makes the judge, and puts it behind all chains. */
enum rm_code rm_pair_judge_open(struct rm_pair *pair, struct rm_error *error);
struct rm_pair_judged rm_pair_judged(struct rm_pair const *pair);

/** A chain has lost its power, and has it again. */
void rm_pair_chain_lose_power(struct rm_pair *pair, uint32_t chain);

#endif
