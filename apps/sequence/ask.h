// SPDX-License-Identifier: Apache-2.0
/** What the thread beside (`work`, every 10 ms or so) does for the steps: it asks other owners for what actions want of
 * their parameters, and reads parameters of others ten times a second. What comes of both it puts to the application's
 * own settings (`refused`, `parameter`, `lost`): so it is on record, and a replay has it at the same step.
 *
 * `value` is stored before `wanted`, which is stored with release by the thread that steps, and loaded with acquire by
 * the one beside. `granted` is relaxed: it is for people.
 */
#ifndef SEQUENCE_ASK_H
#define SEQUENCE_ASK_H

#include <stdatomic.h>

#include <ringmaster/application.h>

#include "program.h"

/** One action that is a request. */
struct sequence_ask {
    /** What is asked for, and its value, or words; owned by the file. */
    char const *parameter, *words;
    /** The value that the thread that steps has worked out, as bits; of a constant not used. */
    _Atomic uint64_t value;
    double constant;
    /** How often the thread that steps wanted it. */
    _Atomic uint32_t wanted;
    /** Of the thread beside: up to which `wanted` it is done with, and how often it has tried the present one. */
    uint32_t done, tries;
    bool is_constant;
    /** Where there is no such parameter there is nothing to ask for: no feedback, nothing to hold. */
    bool may_be_absent;
    uint8_t reserved[2];
};

struct sequence_asks {
    struct sequence_ask *ask;
    uint32_t asks;
    uint32_t reserved;
    /** Requests since `open`: of the thread that steps alone. */
    uint64_t asked;
    _Atomic uint64_t granted;

    /* Of the thread beside alone. */

    struct rm_workspace *workspace;
    struct rm_owner *owner;
    /** Calls of `work`. */
    uint64_t calls;
    /** What own settings were put to last. */
    double seen[SEQUENCE_PARAMETERS_MAX];
    double lost_put;
    /** Requests that were refused and are not yet in the setting `refused`. */
    uint64_t untold;
};

/** Makes a request of each action that is one. False: there is no memory. */
bool sequence_asks_make(struct sequence_asks *asks, struct sequence_program const *program);
void sequence_asks_free(struct sequence_asks *asks);

/** The thread that steps wants one. */
static inline void sequence_ask_want(struct sequence_asks *asks, uint32_t index, double value) {
    union {
        double number;
        uint64_t bits;
    } const as = {.number = value};
    struct sequence_ask *const ask = &asks->ask[index];
    atomic_store_explicit(&ask->value, as.bits, memory_order_relaxed);
    atomic_store_explicit(&ask->wanted, atomic_load_explicit(&ask->wanted, memory_order_relaxed) + 1,
                          memory_order_release);
}

/** One call of the thread beside. Where there is no workspace nothing is asked, and nothing refused. */
void sequence_asks_work(struct sequence_asks *asks, struct rm_application_setup const *setup,
                        struct sequence_file const *file);

#endif
