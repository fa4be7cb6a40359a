// SPDX-License-Identifier: Apache-2.0
/** The last line of a run: what was sent, how fast, how long the link made it wait, which faults were made. */
#ifndef RM_INSTRUMENTS_SUMMARY_H
#define RM_INSTRUMENTS_SUMMARY_H

#include <stdint.h>
#include <stdio.h>

#include <ringmaster/counter.h>

#include "chain_judge.h"
#include "motion.h"
#include "sender.h"

struct rm_summary {
    struct rm_sender_result result;
    /** Blocks of the set `sender`. */
    rm_counter *const *counters;
    /** Number of blocks. */
    uint32_t blocks;

    uint32_t instruments;
    /** Datagrams that devices or the kernel refused after the link took them. */
    uint64_t unsent;

    double tsc_hz;
    uint32_t chains;
    /** [chain] block of the set `supply`. */
    rm_counter *const *supply_counters;
    /** Of what the chains obeyed; NULL: nobody judged. */
    struct rm_chain_verdict const *verdict;
    /** NULL for a replay. */
    struct rm_beam_config const *beam;
    /** The two servers of a pair; NULL: there is one. */
    struct rm_config_server const *server;
};

/** Prints one line for people. */
void rm_summary_print(struct rm_summary const *summary, FILE *out);

/** Prints one JSON object on one line: instruments, sent, turns, link_down_turns, skipped_turns, unsent, seconds,
 * turn_rate_hz, rate_pps, waits, wait_us, longest_wait_us, tune_x, tune_y (null for a replay) and faults by name.
 * For a pair it also has missed, by server.
 * Where there are chains it also has chains and what they counted: setpoints, queries, answers, refused; and `judge`,
 * what the judge of the chains found (chain_judge.h), by the names of its counters and of struct rm_chain_verdict. */
void rm_summary_print_json(struct rm_summary const *summary, FILE *out);

#endif
