// SPDX-License-Identifier: Apache-2.0
/** What happens to a ring at a turn: a supply trips, a BPM goes bad, the beam is kicked.
 *
 * One schema and one parser: an entry of the overlay's list `events`, and the words that a running ring is given
 * (`ringmaster put ring/event …`), are the same mapping.
 *
 *     events:
 *       - {event: trip, at_turn: 2000000, supply: c01/3, for_turns: 100000}
 *
 *     event: trip, supply: c01/3
 *
 * event_schedule.h says when it happens, event_targets.h what it does. Cold path.
 */
#ifndef RM_INSTRUMENTS_RING_EVENT_H
#define RM_INSTRUMENTS_RING_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

enum rm_ring_event_kind {
    /** Supplies go off, and are reset when it is over. */
    RM_EVENT_TRIP,
    /** Supplies that have tripped are reset. */
    RM_EVENT_RESET,
    /** Supplies have one more ripple in their current. */
    RM_EVENT_RIPPLE,
    /** Chains have no power, and forget whom they obeyed. */
    RM_EVENT_POWER_CYCLE,
    /** The beam oscillates. */
    RM_EVENT_KICK,
    /** Charge is added to the beam. */
    RM_EVENT_INJECTION,
    /** The cavities have no voltage. */
    RM_EVENT_RF_TRIP,
    /** Instruments repeat their reading again and again. */
    RM_EVENT_FROZEN,
    /** BPMs have more noise. */
    RM_EVENT_NOISY,
    /** BPMs read so much more. */
    RM_EVENT_OFFSET,
    /** Instruments read 0 in all lanes. */
    RM_EVENT_DEAD,
    /** BPMs read the opposite of the position. */
    RM_EVENT_INVERTED,
    /** Two BPMs read each other's beam. */
    RM_EVENT_SWAPPED_CABLES,
    /** Instruments are good again. */
    RM_EVENT_GOOD,

    RM_EVENT_KINDS,
};

/** Readings of one instrument that an event befalls. */
struct rm_ring_event_reading {
    uint32_t instrument;
    /** 0: all its lanes; 1, 2: those of this BPM. */
    uint32_t bpm;
};

struct rm_ring_event {
    enum rm_ring_event_kind kind;
    /** RM_TURN_NONE: as soon as it can. */
    rm_turn at_turn;
    /** 0: it does not end. */
    uint64_t for_turns;
    /** Indices among all supplies, or NULL. */
    uint32_t *supply;
    uint32_t supply_count;
    /** Instruments, or NULL; of swapped_cables exactly two. */
    struct rm_ring_event_reading *reading;
    uint32_t reading_count;
    /** Of ripple, in the setpoint's unit. */
    double amplitude, hz;
    /** Of kick and injection an amplitude at mean β, of noisy an RMS, of offset an amount. */
    double x_nm, y_nm;
    /** Of injection; negative: what is missing. */
    double ma;
    bool misfires;
};

/** True for what befalls the beam of the whole ring, and so all rings of a workspace alike. */
static inline bool rm_ring_event_is_of_beam(enum rm_ring_event_kind kind) {
    return kind == RM_EVENT_KICK || kind == RM_EVENT_INJECTION || kind == RM_EVENT_RF_TRIP;
}

struct rm_ring_config;

/** Makes an event of words such as "event: trip, supply: c01/3", with or without braces around. RM_E_CONFIG says what
 * is wrong with which key. */
enum rm_code rm_ring_event_parse(struct rm_ring_config const *ring, char const *words, struct rm_ring_event *event,
                                 struct rm_error *error);
void rm_ring_event_free(struct rm_ring_event *event);

#endif
