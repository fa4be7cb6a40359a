// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "datagram.h"
#include "fragments.h"
#include "noise.h"

enum { NOBODY = -1 };

/** A datagram waits in the slot of its own number and is chained to the number at which it goes out. No delay is longer
 * than the slots reach, so the slot of a new datagram is always free. */
struct held_datagram {
    struct rm_outgoing outgoing;
    int64_t chain; /**< slot of the next datagram that goes out at the same number, or NOBODY */
};

struct rm_faults {
    rm_counter *counters;
    uint64_t longest_delay; /**< datagrams */
    uint64_t mask;          /**< slots - 1 */
    uint32_t payload_bytes;
    uint8_t *payload; /**< of each slot */
    struct held_datagram *held;
    int64_t *due; /**< [slot of a number]: first slot of the chain that goes out then, or NOBODY */
    uint32_t count;
    struct rm_armed_fault armed[];
};

static bool fault_kind_delays(enum rm_fault_kind kind) {
    return kind == RM_FAULT_REORDER || kind == RM_FAULT_LATE || kind == RM_FAULT_DELAY;
}

static uint64_t delay_of(struct rm_armed_fault const *armed) {
    return ((uint64_t)armed->fault.turns + armed->span_turns - 1) / armed->span_turns;
}

static bool allocate_slots(struct rm_faults *faults) {
    uint64_t slots = 1;
    while (slots <= faults->longest_delay)
        slots *= 2;
    faults->mask = slots - 1;
    faults->held = malloc(slots * sizeof *faults->held);
    faults->due = malloc(slots * sizeof *faults->due);
    faults->payload = malloc(slots * faults->payload_bytes);
    if (faults->held == NULL || faults->due == NULL || faults->payload == NULL)
        return false;
    rm_faults_forget(faults);
    return true;
}

/** Arms the faults of one kind, and adds up how long they hold datagrams back. */
static void arm_kind(struct rm_faults *made, enum rm_fault_kind kind, struct rm_fault const *faults, uint32_t count,
                     uint64_t span_turns) {
    for (uint32_t f = 0; f < count; ++f) {
        if (faults[f].kind != kind)
            continue;
        made->armed[made->count] = rm_fault_arm(&faults[f], span_turns);
        if (fault_kind_delays(kind))
            made->longest_delay += delay_of(&made->armed[made->count]);
        ++made->count;
    }
}

enum rm_code rm_faults_make(struct rm_fault const *faults, uint32_t count, uint64_t span_turns, uint32_t payload_bytes,
                            rm_counter *counters, struct rm_faults **made, struct rm_error *error) {
    *made = NULL;
    struct rm_faults *new = calloc(1, sizeof *new + count * sizeof new->armed[0]);
    if (new == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u faults", count);
    new->counters = counters;
    new->payload_bytes = payload_bytes;
    for (enum rm_fault_kind kind = 0; kind < RM_FAULT_KINDS; ++kind)
        if (!rm_fault_is_of_counter(kind))
            arm_kind(new, kind, faults, count, span_turns);
    if (new->count == 0) {
        free(new);
        return RM_OK;
    }
    if (!allocate_slots(new)) {
        rm_fail(error, RM_E_NO_SPACE, "no memory to hold %llu datagrams back", (unsigned long long)new->longest_delay);
        rm_faults_free(new);
        return RM_E_NO_SPACE;
    }
    *made = new;
    return RM_OK;
}

void rm_faults_forget(struct rm_faults *faults) {
    for (uint64_t s = 0; s <= faults->mask; ++s)
        faults->due[s] = NOBODY;
}

void rm_faults_free(struct rm_faults *faults) {
    if (faults == NULL)
        return;
    free(faults->held);
    free(faults->due);
    free(faults->payload);
    free(faults);
}

uint64_t rm_faults_longest_delay(struct rm_faults const *faults) { return faults->longest_delay; }

/** What becomes of the datagram in hand. */
struct fate {
    bool dropped;
    uint64_t delay;
    struct rm_outgoing *outgoing;
};

static void damage_datagram(struct rm_faults *faults, struct fate *fate, unsigned bits,
                            enum rm_sender_counter counter) {
    fate->outgoing->damage |= bits;
    rm_counter_add(faults->counters, counter, 1);
}

static void delay_datagram(struct rm_faults *faults, struct fate *fate, struct rm_armed_fault const *armed,
                           enum rm_sender_counter counter) {
    fate->delay += delay_of(armed);
    rm_counter_add(faults->counters, counter, 1);
}

static void strike_datagram(struct rm_faults *faults, struct rm_armed_fault const *armed, struct fate *fate) {
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
        delay_datagram(faults, fate, armed, RM_SENDER_REORDERED);
        break;
    case RM_FAULT_LATE:
    case RM_FAULT_DELAY:
        delay_datagram(faults, fate, armed, RM_SENDER_DELAYED);
        break;
    case RM_FAULT_CORRUPT:
        damage_datagram(faults, fate, fault->unseen ? RM_DAMAGE_CORRUPT_UNSEEN : RM_DAMAGE_CORRUPT,
                        RM_SENDER_CORRUPTED);
        break;
    case RM_FAULT_TRUNCATED:
        damage_datagram(faults, fate, RM_DAMAGE_TRUNCATED, RM_SENDER_TRUNCATED);
        break;
    case RM_FAULT_WRONG_VERSION:
        damage_datagram(faults, fate, RM_DAMAGE_VERSION, RM_SENDER_WRONG_VERSION);
        break;
    default:
        fate->outgoing->fragments |= rm_fragment_fault_of(fault);
        break;
    }
}

void rm_faults_push(struct rm_faults *faults, uint64_t number, rm_turn turn, uint8_t const *payload) {
    int64_t const slot = (int64_t)(number & faults->mask);
    struct held_datagram *held = &faults->held[slot];
    uint8_t *copy = faults->payload + (size_t)slot * faults->payload_bytes;
    struct fate fate = {.outgoing = &held->outgoing};
    held->outgoing = (struct rm_outgoing){.payload = copy, .copies = 1};
    for (uint32_t f = 0; f < faults->count; ++f) {
        if (rm_fault_strikes(&faults->armed[f], turn))
            strike_datagram(faults, &faults->armed[f], &fate);
        if (fate.dropped)
            return;
    }
    held->outgoing.random = rm_noise_u64(turn ^ (uint64_t)held->outgoing.damage << 32);
    memcpy(copy, payload, faults->payload_bytes);
    int64_t *due = &faults->due[(number + fate.delay) & faults->mask];
    held->chain = *due;
    *due = slot;
}

struct rm_outgoing const *rm_faults_next(struct rm_faults *faults, uint64_t number) {
    int64_t *due = &faults->due[number & faults->mask];
    if (*due == NOBODY)
        return NULL;
    struct held_datagram const *held = &faults->held[*due];
    *due = held->chain;
    return &held->outgoing;
}
