// SPDX-License-Identifier: Apache-2.0
#include "event_schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static enum rm_event_stage stage_of(struct rm_event_slot const *slot) {
    return atomic_load_explicit(&slot->stage, memory_order_acquire);
}

static void set_stage(struct rm_event_slot *slot, enum rm_event_stage stage) {
    atomic_store_explicit(&slot->stage, stage, memory_order_release);
}

/* ── making ── */

/** The overlay's lists stay the overlay's: the slot has copies. */
static bool copy_event(struct rm_ring_event const *from, struct rm_ring_event *to) {
    *to = *from;
    to->supply = calloc(from->supply_count + 1ul, sizeof *to->supply);
    to->reading = calloc(from->reading_count + 1ul, sizeof *to->reading);
    if (to->supply == NULL || to->reading == NULL)
        return false;
    for (uint32_t s = 0; s < from->supply_count; ++s)
        to->supply[s] = from->supply[s];
    for (uint32_t r = 0; r < from->reading_count; ++r)
        to->reading[r] = from->reading[r];
    return true;
}

/** A run that goes on from a checkpoint must not trip what was reset long ago. */
static bool is_past(struct rm_ring_event const *event, rm_turn first_turn) {
    if (event->at_turn == RM_TURN_NONE || event->at_turn >= first_turn)
        return false;
    bool const moves = event->kind == RM_EVENT_KICK || event->kind == RM_EVENT_INJECTION;
    bool const ended = event->for_turns != 0 && first_turn - event->at_turn >= event->for_turns;
    return moves || ended;
}

static bool plan_overlay(struct rm_event_schedule *schedule, struct rm_ring_config const *ring) {
    bool good = true;
    for (uint32_t e = 0; good && e < ring->event_count; ++e) {
        struct rm_event_slot *slot = &schedule->slot[e];
        good = copy_event(&ring->events[e], &slot->event);
        slot->due = slot->event.at_turn == RM_TURN_NONE ? ring->first_turn : slot->event.at_turn;
        if (is_past(&slot->event, ring->first_turn))
            slot->due = RM_TURN_NONE;
        atomic_init(&slot->turn, slot->due);
        atomic_init(&slot->stage, slot->due == RM_TURN_NONE ? RM_EVENT_OVER : RM_EVENT_PLANNED);
        slot->reported = stage_of(slot); /* it was in the file: that is no news */
        schedule->next = slot->due < schedule->next ? slot->due : schedule->next;
    }
    return good;
}

enum rm_code rm_event_schedule_make(struct rm_ring_config const *ring, struct rm_event_schedule **schedule,
                                    struct rm_error *error) {
    struct rm_event_schedule *made = calloc(1, sizeof *made);
    *schedule = NULL;
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the events of a ring");
    pthread_mutex_init(&made->posting, NULL);
    made->next = RM_TURN_NONE;
    made->first_turn = ring->first_turn;
    made->count = ring->event_count + RM_EVENTS_POSTED_MAX;
    made->slot = calloc(made->count, sizeof *made->slot);
    for (uint32_t s = 0; made->slot != NULL && s < made->count; ++s)
        made->slot[s].due = RM_TURN_NONE;
    if (made->slot == NULL || !plan_overlay(made, ring)) {
        rm_event_schedule_free(made);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u events", ring->event_count);
    }
    *schedule = made;
    return RM_OK;
}

void rm_event_schedule_free(struct rm_event_schedule *schedule) {
    if (schedule == NULL)
        return;
    for (uint32_t s = 0; schedule->slot != NULL && s < schedule->count; ++s)
        rm_ring_event_free(&schedule->slot[s].event);
    free(schedule->slot);
    pthread_mutex_destroy(&schedule->posting);
    free(schedule);
}

/* ── the turns ── */

/** Gives turns to what was posted. A turn that has passed is now. */
static void plan_posted(struct rm_event_schedule *schedule, rm_turn turn) {
    schedule->taken = atomic_load_explicit(&schedule->posted, memory_order_acquire);
    for (uint32_t s = 0; s < schedule->count; ++s) {
        struct rm_event_slot *slot = &schedule->slot[s];
        if (stage_of(slot) != RM_EVENT_POSTED)
            continue;
        rm_turn const wanted = slot->event.at_turn;
        rm_turn const soon = turn + (rm_ring_event_is_of_beam(slot->event.kind) ? schedule->lead_turns : 0);
        slot->due = wanted == RM_TURN_NONE ? soon : wanted < turn ? turn : wanted;
        atomic_store_explicit(&slot->turn, slot->due, memory_order_relaxed);
        set_stage(slot, RM_EVENT_PLANNED);
    }
}

/** The one that is due first, of several the one of the first slot; NULL: none is due by `turn`. */
static struct rm_event_slot *first_due(struct rm_event_schedule *schedule, rm_turn turn) {
    struct rm_event_slot *first = NULL;
    schedule->next = RM_TURN_NONE;
    for (uint32_t s = 0; s < schedule->count; ++s) {
        struct rm_event_slot *slot = &schedule->slot[s];
        if (slot->due >= schedule->next)
            continue;
        schedule->next = slot->due;
        first = slot;
    }
    return schedule->next <= turn ? first : NULL;
}

/** It happens at its own turn, however late it is found. */
static void begin_or_end(struct rm_event_schedule *schedule, struct rm_event_slot *slot) {
    rm_turn const turn = slot->due < schedule->first_turn ? schedule->first_turn : slot->due;
    bool const begins = stage_of(slot) == RM_EVENT_PLANNED;
    if (schedule->apply != NULL)
        schedule->apply(schedule->state, &slot->event, turn, begins);
    bool const ends_later = begins && slot->event.for_turns != 0;
    slot->due = ends_later ? slot->due + slot->event.for_turns : RM_TURN_NONE;
    if (begins)
        atomic_store_explicit(&slot->turn, turn, memory_order_relaxed);
    set_stage(slot, ends_later ? RM_EVENT_BEGUN : RM_EVENT_OVER);
}

void rm_event_schedule_serve(struct rm_event_schedule *schedule, rm_turn turn) {
    struct rm_event_slot *slot;
    if (atomic_load_explicit(&schedule->posted, memory_order_relaxed) != schedule->taken)
        plan_posted(schedule, turn);
    while ((slot = first_due(schedule, turn)) != NULL)
        begin_or_end(schedule, slot);
}

/* ── the others ── */

enum rm_code rm_event_schedule_post(struct rm_event_schedule *schedule, struct rm_ring_event *event, char const *words,
                                    struct rm_error *error) {
    struct rm_event_slot *free_slot = NULL;
    pthread_mutex_lock(&schedule->posting);
    for (uint32_t s = 0; s < schedule->count && free_slot == NULL; ++s)
        if (stage_of(&schedule->slot[s]) == RM_EVENT_FREE)
            free_slot = &schedule->slot[s];
    if (free_slot != NULL) {
        free_slot->event = *event;
        free_slot->reported = RM_EVENT_POSTED;
        snprintf(free_slot->words, sizeof free_slot->words, "%s", words);
        set_stage(free_slot, RM_EVENT_POSTED);
        atomic_fetch_add_explicit(&schedule->posted, 1, memory_order_release);
    }
    pthread_mutex_unlock(&schedule->posting);
    if (free_slot != NULL)
        return RM_OK;
    rm_ring_event_free(event);
    return rm_fail(error, RM_E_BUSY, "%d events wait for their turns already, expected fewer; try again later",
                   RM_EVENTS_POSTED_MAX);
}

enum rm_code rm_event_schedule_post_words(struct rm_event_schedule *schedule, struct rm_ring_config const *ring,
                                          char const *words, struct rm_error *error) {
    struct rm_ring_event event;
    enum rm_code const code = rm_ring_event_parse(ring, words, &event, error);
    return code == RM_OK ? rm_event_schedule_post(schedule, &event, words, error) : code;
}

static void report_slot(struct rm_event_slot *slot, enum rm_event_stage stage,
                        void (*hear)(void *state, struct rm_event_report const *report), void *state) {
    static enum rm_event_stage const news[] = {RM_EVENT_PLANNED, RM_EVENT_BEGUN};
    for (size_t n = 0; n < sizeof news / sizeof news[0]; ++n)
        if (slot->reported < news[n] && stage >= news[n])
            hear(state, &(struct rm_event_report){.stage = news[n],
                                                  .event = &slot->event,
                                                  .words = slot->words,
                                                  .turn = atomic_load_explicit(&slot->turn, memory_order_relaxed)});
    slot->reported = stage;
}

void rm_event_schedule_report(struct rm_event_schedule *schedule,
                              void (*hear)(void *state, struct rm_event_report const *report), void *state) {
    for (uint32_t s = 0; s < schedule->count; ++s) {
        struct rm_event_slot *slot = &schedule->slot[s];
        enum rm_event_stage const stage = stage_of(slot);
        if (stage <= RM_EVENT_POSTED)
            continue;
        report_slot(slot, stage, hear, state);
        if (stage != RM_EVENT_OVER)
            continue;
        rm_ring_event_free(&slot->event);
        set_stage(slot, RM_EVENT_FREE);
    }
}
