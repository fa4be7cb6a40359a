// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "datagram.h"
#include "noise.h"

/** A configured fault, ready to be asked. */
struct armed {
    struct rm_fault fault;
    uint64_t key;
    uint64_t threshold;      /**< strikes when a random u64 lies below */
    uint64_t jump_datagrams; /**< of a jump that lasts: datagrams still to come, UINT64_MAX to the end */
};

enum { NO_INDEX = -1 };

/** A datagram waits in the slot of its own index and is chained to the index at which it goes out. No delay is longer
 * than the slots reach, so the slot of a new datagram is always free. */
struct held {
    struct rm_outgoing outgoing;
    int64_t chain; /**< slot of the next datagram that goes out at the same index, or NO_INDEX */
};

struct rm_faults {
    rm_counter *counters;
    uint64_t reset_turns; /**< the turn counter says so much less than the true turn */
    uint64_t longest_delay;
    uint64_t mask; /**< slots - 1 */
    struct held *held;
    int64_t *due; /**< [slot of an index]: first slot of the chain that goes out then, or NO_INDEX */
    uint32_t count;
    struct armed armed[];
};

static bool delays(enum rm_fault_kind kind) {
    return kind == RM_FAULT_REORDER || kind == RM_FAULT_LATE || kind == RM_FAULT_DELAY;
}

static struct armed arm(struct rm_fault const *fault, uint64_t key) {
    bool const always = fault->kind == RM_FAULT_DELAY || fault->probability >= 1;
    return (struct armed){
        .fault = *fault,
        .key = key,
        .threshold = always ? UINT64_MAX : (uint64_t)ldexp(fault->probability, 64),
    };
}

static bool allocate_slots(struct rm_faults *faults) {
    uint64_t slots = 1;
    while (slots <= faults->longest_delay)
        slots *= 2;
    faults->mask = slots - 1;
    faults->held = malloc(slots * sizeof *faults->held);
    faults->due = malloc(slots * sizeof *faults->due);
    if (faults->held == NULL || faults->due == NULL)
        return false;
    rm_faults_forget(faults);
    return true;
}

/** Arms the faults of one kind, and adds up how long they hold datagrams back. */
static void arm_kind(struct rm_faults *made, enum rm_fault_kind kind, struct rm_fault const *faults, uint32_t count,
                     uint64_t key) {
    for (uint32_t f = 0; f < count; ++f) {
        if (faults[f].kind != kind)
            continue;
        made->armed[made->count++] = arm(&faults[f], rm_noise_u64(key + f));
        if (delays(kind))
            made->longest_delay += (uint64_t)faults[f].turns;
    }
}

enum rm_code rm_faults_make(struct rm_fault const *faults, uint32_t count, uint64_t key, rm_counter *counters,
                            struct rm_faults **made, struct rm_error *error) {
    struct rm_faults *new = calloc(1, sizeof *new + count * sizeof new->armed[0]);
    if (new == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u faults", count);
    new->counters = counters;
    for (enum rm_fault_kind kind = 0; kind < RM_FAULT_KINDS; ++kind)
        arm_kind(new, kind, faults, count, key);
    if (!allocate_slots(new)) {
        rm_fail(error, RM_E_NO_SPACE, "no memory to hold datagrams back for %llu turns",
                (unsigned long long)new->longest_delay);
        rm_faults_free(new);
        return RM_E_NO_SPACE;
    }
    *made = new;
    return RM_OK;
}

void rm_faults_forget(struct rm_faults *faults) {
    for (uint64_t s = 0; s <= faults->mask; ++s)
        faults->due[s] = NO_INDEX;
}

void rm_faults_free(struct rm_faults *faults) {
    if (faults == NULL)
        return;
    free(faults->held);
    free(faults->due);
    free(faults);
}

uint64_t rm_faults_longest_delay(struct rm_faults const *faults) { return faults->longest_delay; }

static bool strikes(struct armed const *armed, rm_turn turn) {
    if (armed->fault.at_turn != RM_TURN_NONE)
        return armed->fault.at_turn == turn;
    return rm_noise_u64(turn ^ armed->key) < armed->threshold;
}

/** What becomes of the datagram in hand. */
struct fate {
    bool dropped;
    uint64_t delay;
    struct rm_outgoing *outgoing;
};

static void damage(struct rm_faults *faults, struct fate *fate, unsigned bits, enum rm_sender_counter counter) {
    fate->outgoing->damage |= bits;
    rm_counter_add(faults->counters, counter, 1);
}

static void delay(struct rm_faults *faults, struct fate *fate, int64_t turns, enum rm_sender_counter counter) {
    fate->delay += (uint64_t)turns;
    rm_counter_add(faults->counters, counter, 1);
}

static void strike(struct rm_faults *faults, struct armed *armed, rm_turn turn, struct fate *fate) {
    struct rm_fault const *fault = &armed->fault;
    switch (fault->kind) {
    case RM_FAULT_DROP:
        fate->dropped = true;
        rm_counter_add(faults->counters, RM_SENDER_DROPPED, 1);
        break;
    case RM_FAULT_DUPLICATE:
        fate->outgoing->copies += 1;
        rm_counter_add(faults->counters, RM_SENDER_DUPLICATED, 1);
        break;
    case RM_FAULT_REORDER:
        delay(faults, fate, fault->turns, RM_SENDER_REORDERED);
        break;
    case RM_FAULT_LATE:
    case RM_FAULT_DELAY:
        delay(faults, fate, fault->turns, RM_SENDER_DELAYED);
        break;
    case RM_FAULT_CORRUPT:
        damage(faults, fate, fault->unseen ? RM_DAMAGE_CORRUPT_UNSEEN : RM_DAMAGE_CORRUPT, RM_SENDER_CORRUPTED);
        break;
    case RM_FAULT_TRUNCATED:
        damage(faults, fate, RM_DAMAGE_TRUNCATED, RM_SENDER_TRUNCATED);
        break;
    case RM_FAULT_WRONG_VERSION:
        damage(faults, fate, RM_DAMAGE_VERSION, RM_SENDER_WRONG_VERSION);
        break;
    case RM_FAULT_TURN_JUMP:
        armed->jump_datagrams = fault->duration == 0 ? UINT64_MAX : fault->duration;
        rm_counter_add(faults->counters, RM_SENDER_TURN_JUMPS, 1);
        break;
    case RM_FAULT_TURN_RESET:
        faults->reset_turns = turn;
        rm_counter_add(faults->counters, RM_SENDER_TURN_RESETS, 1);
        break;
    case RM_FAULT_KINDS:
        break;
    }
}

/** The offset of a jump that lasts, and one datagram less of it. */
static uint64_t jumped(struct armed *armed) {
    if (armed->jump_datagrams == 0)
        return 0;
    if (armed->jump_datagrams != UINT64_MAX)
        --armed->jump_datagrams;
    return (uint64_t)armed->fault.turns;
}

void rm_faults_push(struct rm_faults *faults, uint64_t index, rm_turn first_turn, union rm_lane const *lanes) {
    rm_turn const turn = first_turn + index;
    int64_t const slot = (int64_t)(index & faults->mask);
    struct held *held = &faults->held[slot];
    struct fate fate = {.outgoing = &held->outgoing};
    uint64_t offset = 0;
    held->outgoing.copies = 1;
    held->outgoing.damage = 0;
    for (uint32_t f = 0; f < faults->count; ++f) {
        struct armed *armed = &faults->armed[f];
        if (strikes(armed, turn))
            strike(faults, armed, turn, &fate);
        if (fate.dropped)
            return;
        offset += jumped(armed);
    }
    held->outgoing.turn = turn - faults->reset_turns + offset;
    held->outgoing.random = rm_noise_u64(turn ^ (uint64_t)held->outgoing.damage << 32);
    memcpy(held->outgoing.lane, lanes, sizeof held->outgoing.lane);
    int64_t *due = &faults->due[(index + fate.delay) & faults->mask];
    held->chain = *due;
    *due = slot;
}

struct rm_outgoing const *rm_faults_next(struct rm_faults *faults, uint64_t index) {
    int64_t *due = &faults->due[index & faults->mask];
    if (*due == NO_INDEX)
        return NULL;
    struct held const *held = &faults->held[*due];
    *due = held->chain;
    return &held->outgoing;
}
