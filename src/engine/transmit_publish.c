// SPDX-License-Identifier: Apache-2.0
/* What others may see: sent setpoints, states of supplies, grants. */
#include "engine/transmit_state.h"

#include <string.h>

#include "base/timebase.h"
#include "fabric/sequence_lock.h"
#include "fabric/setpoint_store.h"

enum { STATE_LOOK_CYCLES = 16 }; /**< what only the guard knows of supplies is looked at so often */

static void store_published_word(_Atomic uint64_t *word, uint64_t value) {
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t published_bits(double value) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static uint64_t tai_now(struct rm_transmit const *transmit) {
    return transmit->anchored ? rm_clock_tai_ns(&transmit->clock, rm_tsc()) : rm_tai_ns();
}

/** A vector in every cycle; its values are put only while one of the buffers may still have others: what a vector of
 * three cycles ago says stays true where nothing has moved since. */
void rm_transmit_publish_sent(struct rm_transmit *transmit, rm_turn turn) {
    struct rm_setpoint_vector *const vector = rm_setpoints_begin(transmit->setup.sent);
    if (transmit->sent_vectors < RM_SETPOINT_BUFFERS) {
        rm_setpoints_put_floats(vector, transmit->sent, transmit->supply_count);
        ++transmit->sent_vectors;
    }
    rm_setpoints_commit(vector, transmit->setup.generation, turn, transmit->first_tsc);
}

/** What an application that does not send does to its supplies' state. */
static uint32_t stopped_state(struct rm_transmit const *transmit, uint32_t application) {
    if (application == 0 || !rm_guard_stopped(transmit->guard, application))
        return 0;
    bool const ramps = transmit->setup.config->application[application].stop == RM_STOP_RAMP;
    return ramps ? RM_SUPPLY_RAMPING : RM_SUPPLY_HELD;
}

/** Finds the states while some application has stopped; true when one changed. */
static bool note_states(struct rm_transmit *transmit, uint32_t const *stopped) {
    uint32_t changed = 0;
    for (uint32_t i = 0; i < transmit->supply_count; ++i) {
        uint32_t const slewing = rm_guard_slewing(transmit->guard, i) ? RM_SUPPLY_SLEWING : 0;
        uint32_t const state = transmit->noted[i] | stopped[transmit->supply[i].application] | slewing;
        changed |= state ^ transmit->state[i];
        transmit->state[i] = state;
    }
    return changed != 0;
}

/** The same while none has, with no look-up in it, so that the compiler does several supplies at once. */
static bool note_slewing(struct rm_transmit *transmit) {
    double const *const restrict exact = rm_guard_exact(transmit->guard);
    double const *const restrict target = rm_guard_targets(transmit->guard);
    uint32_t const *const restrict noted = transmit->noted;
    uint32_t *const restrict shown = transmit->state;
    uint32_t const count = transmit->supply_count;
    uint32_t changed = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t const state = noted[i] | (exact[i] != target[i] ? (uint32_t)RM_SUPPLY_SLEWING : 0);
        changed |= state ^ shown[i];
        shown[i] = state;
    }
    return changed != 0;
}

void rm_transmit_publish_states(struct rm_transmit *transmit) {
    if (!transmit->state_changed && transmit->cycle % STATE_LOOK_CYCLES != 0)
        return;
    transmit->state_changed = false;
    bool any_stopped = false;
    uint32_t stopped[RM_CONFIG_APPLICATIONS_MAX + 1];
    for (uint32_t i = 0; i < transmit->application_count; ++i) {
        stopped[i] = stopped_state(transmit, i);
        any_stopped |= stopped[i] != 0;
    }
    if (any_stopped ? note_states(transmit, stopped) : note_slewing(transmit))
        rm_parameter_write(transmit->setup.supply_state, transmit->state,
                           transmit->supply_count * sizeof *transmit->state,
                           (struct rm_stamp){tai_now(transmit), transmit->cycle_turn});
}

static void write_offence(struct rm_offence *to, struct rm_guard_offence const *from, uint64_t tai_ns) {
    rm_sequence_begin(&to->sequence);
    store_published_word(&to->refusal, from->refusal);
    store_published_word(&to->actuator, from->actuator);
    store_published_word(&to->value, published_bits(from->value));
    store_published_word(&to->limit, published_bits(from->limit));
    store_published_word(&to->turn, from->turn);
    store_published_word(&to->vector, from->vector);
    store_published_word(&to->tai_ns, tai_ns);
    rm_sequence_end(&to->sequence);
}

static void write_grant(struct rm_grant *grant, struct rm_transmit_source const *source,
                        struct rm_application_view const *view) {
    rm_sequence_begin(&grant->sequence);
    store_published_word(&grant->grant_number, source->command.grant_number);
    store_published_word(&grant->instance, source->command.instance);
    store_published_word(&grant->pid, source->command.pid);
    store_published_word(&grant->state, view->state);
    store_published_word(&grant->since_tai_ns, source->since_tai_ns);
    store_published_word(&grant->stalls, view->stalls);
    store_published_word(&grant->restarts, source->restarts);
    rm_sequence_end(&grant->sequence);
}

static void write_counters(rm_counter *counters, struct rm_application_view const *view) {
    rm_counter_set(counters, RM_GUARD_TAKEN, view->vectors);
    for (unsigned reason = RM_REFUSED_GRANT; reason < RM_REFUSALS; ++reason)
        rm_counter_set(counters, RM_GUARD_REFUSED_GRANT + reason - RM_REFUSED_GRANT, view->refused[reason]);
    rm_counter_set(counters, RM_GUARD_STALLS, view->stalls);
}

_Static_assert((int)RM_GUARD_REFUSED_FAULT - (int)RM_GUARD_REFUSED_GRANT ==
                   (int)RM_REFUSED_FAULT - (int)RM_REFUSED_GRANT,
               "reasons and their counters go in one order");
_Static_assert((int)RM_REFUSED_FAULT + 1 == (int)RM_REFUSALS, "and these are all");

static bool refused_more(struct rm_application_view const *now, struct rm_application_view const *shown) {
    for (unsigned reason = RM_REFUSED_GRANT; reason < RM_REFUSALS; ++reason)
        if (now->refused[reason] != shown->refused[reason])
            return true;
    return false;
}

void rm_transmit_publish_grant(struct rm_transmit *transmit, uint32_t application) {
    struct rm_transmit_source *const source = &transmit->source[application];
    struct rm_application_view const *const view = rm_guard_view(transmit->guard, application);
    struct rm_application_view const *const shown = &source->shown;
    bool const refused = refused_more(view, shown);
    bool const state = !source->told || view->state != shown->state || view->stalls != shown->stalls ||
                       source->command.grant_number != source->shown_grant_number;
    if (view->state != shown->state || !source->told) {
        source->since_tai_ns = tai_now(transmit);
        transmit->state_changed = true;
    }
    if (state)
        write_grant(transmit->setup.grant[application], source, view);
    if (refused)
        write_offence(&transmit->setup.grant[application]->offence, &view->offence, tai_now(transmit));
    if (refused || state || view->vectors != shown->vectors)
        write_counters(transmit->setup.guard_counters[application], view);
    source->shown = *view;
    source->shown_grant_number = source->command.grant_number;
    source->told = true;
}

void rm_transmit_publish_grants(struct rm_transmit *transmit) {
    for (uint32_t i = 0; i < transmit->application_count; ++i)
        rm_transmit_publish_grant(transmit, i);
}

void rm_transmit_publish_first(struct rm_transmit *transmit) {
    static struct rm_guard_offence const NONE = {.refusal = RM_REFUSED_NOTHING};
    for (uint32_t i = 0; i < transmit->application_count; ++i)
        write_offence(&transmit->setup.grant[i]->offence, &NONE, 0);
    rm_transmit_publish_grants(transmit);
    transmit->state_changed = true;
    memset(transmit->state, 0xff, transmit->supply_count * sizeof *transmit->state);
    rm_transmit_publish_states(transmit);
}
