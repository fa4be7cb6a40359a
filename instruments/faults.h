// SPDX-License-Identifier: Apache-2.0
/** What befalls an instrument's datagrams on one network: lost, doubled, out of order, late, damaged, and their
 * fragments likewise.
 *
 * Every datagram meets the faults in the order of enum rm_fault_kind; one that is dropped meets no more. What was done
 * is counted (counters/sender/NAME); fragment faults when they are done, by fragments.h. Where there are no faults
 * there is no rm_faults at all.
 *
 * Datagrams are numbered, 0, 1, 2, … or from anywhere; a delay of turns is rounded up to whole datagrams.
 */
#ifndef RM_INSTRUMENTS_FAULTS_H
#define RM_INSTRUMENTS_FAULTS_H

#include <ringmaster/counter.h>
#include <ringmaster/error.h>

#include "fault.h"

/** A datagram to send, as the faults left it. */
struct rm_outgoing {
    uint8_t const *payload;
    /** How often it is sent, at least once. */
    uint32_t copies;
    /** Bits of enum rm_damage. */
    unsigned damage;
    /** Bits of enum rm_fragment_fault. */
    unsigned fragments;
    /** Random number for rm_datagram_damage and rm_fragments_plan. */
    uint64_t random;
};

struct rm_faults;

/** Makes those of the `count` faults that befall datagrams of `payload_bytes`, one in `span_turns`; `*made` is NULL
 * when there are none. RM_E_NO_SPACE. */
enum rm_code rm_faults_make(struct rm_fault const *faults, uint32_t count, uint64_t span_turns, uint32_t payload_bytes,
                            rm_counter *counters, struct rm_faults **made, struct rm_error *error);
void rm_faults_free(struct rm_faults *faults);

/** Hands in datagram `number`, whose first turn is `turn`; numbers come in order, each once. The payload is copied. */
void rm_faults_push(struct rm_faults *faults, uint64_t number, rm_turn turn, uint8_t const *payload);

/** The next datagram to send at `number`, which was pushed last or lies beyond. The new datagram comes first, then
 * those held back until now. NULL when there are no more. Valid until the next push. */
struct rm_outgoing const *rm_faults_next(struct rm_faults *faults, uint64_t number);

/** Forgets the datagrams that are held back. Call it when turns are skipped. */
void rm_faults_forget(struct rm_faults *faults);

/** The most datagrams by which one can be held back. After the last push, call rm_faults_next for so many numbers
 * more. */
uint64_t rm_faults_longest_delay(struct rm_faults const *faults);

#endif
