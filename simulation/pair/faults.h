// SPDX-License-Identifier: Apache-2.0
/** What befalls a pair: faults of kinds that are wanted, at random moments of a pair that was at rest, one at a time or
 * a second one while the first one lasts, and each over after a random while. Then the pair comes to rest again, or the
 * run says that it does not. */
#ifndef RM_SIMULATION_PAIR_FAULTS_H
#define RM_SIMULATION_PAIR_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

struct rm_pair;

enum rm_pair_fault_kind {
    /** The process is gone; a new life begins later. */
    RM_PAIR_KILL,
    /** SIGSTOP, in the midst of a cycle too, and later SIGCONT. */
    RM_PAIR_STOP,
    /** A cable is cut in one direction. */
    RM_PAIR_CUT_TO_CHAINS,
    RM_PAIR_CUT_FROM_CHAINS,
    RM_PAIR_CUT_LINK,
    RM_PAIR_CUT_INSTRUMENTS,
    /** One way takes 50 ms longer. */
    RM_PAIR_DELAY,
    /** Some chains hear one server alone, and the others the other one. */
    RM_PAIR_DIVIDE,
    /** The same, and the link is cut too. */
    RM_PAIR_PARTITION,
    /** The wall clock makes a step. Nothing of a pair reads one, so nothing may follow. */
    RM_PAIR_CLOCK,
    /** The standby hears neither instruments nor chains, and then the active one is killed. */
    RM_PAIR_DEAF,
    /** The standby is killed, and then the active one. */
    RM_PAIR_STANDBY_FIRST,
    /** Chains lose their power, and have it again at once. */
    RM_PAIR_POWER,
    /** No fault: a planned switch. */
    RM_PAIR_SWITCH,
    RM_PAIR_FAULT_KINDS,
};

struct rm_pair_fault {
    enum rm_pair_fault_kind kind;
    uint32_t server;
    /** Which way, or which chains, by draws of this. */
    uint64_t key;
    bool lasts;
};

enum { RM_PAIR_FAULTS_AT_ONCE = 4 };

struct rm_pair_faults {
    struct rm_pair_fault fault[RM_PAIR_FAULTS_AT_ONCE];
    uint32_t count, lasting;
    /** They were posted, and not all are over. */
    bool under_way;
    /** Cycle in which the last one was over, and since which the pair is at rest; 0: it is not. */
    uint64_t over, rests;
    uint64_t key;
    uint64_t done[RM_PAIR_FAULT_KINDS], rounds;
    /** Times that a pair did not come to rest. */
    uint64_t unsettled;
    double wall_s;
};

/** Name of a kind, as options and figures have it: "kill". */
char const *rm_pair_fault_name(enum rm_pair_fault_kind kind);

/** Looks, once per cycle, whether the pair is at rest, and posts what befalls it then. */
void rm_pair_faults_cycle(struct rm_pair *pair);

/** A fault begins, or is over. */
void rm_pair_faults_happen(struct rm_pair *pair, uint32_t fault, bool over);

#endif
