// SPDX-License-Identifier: Apache-2.0
/* What the other server sent, and wants. */
#include "engine/transmit_standby.h"

#include <math.h>
#include <string.h>

uint64_t rm_transmit_lag(struct rm_transmit const *transmit) {
    struct rm_transmit_standby const *const standby = transmit->standby;
    if (standby->known_turn == RM_TURN_NONE)
        return UINT64_MAX;
    if (standby->obeyed_turn == RM_TURN_NONE || standby->obeyed_turn <= standby->known_turn)
        return 0;
    return (standby->obeyed_turn - standby->known_turn) / transmit->period_turns;
}

/** The newest vector of the other server. False while there is no new one. */
static bool copy_of_peer(struct rm_transmit *transmit, struct rm_setpoints const *from,
                         struct rm_setpoints_place *place, double *values, rm_turn *turn) {
    struct rm_setpoint_reading reading;
    size_t const bytes = rm_setpoint_vector_bytes(transmit->supply_count);
    if (from == NULL || !rm_setpoints_copy(from, bytes, place, &reading, values, transmit->supply_count))
        return false;
    *turn = reading.input_turn;
    return true;
}

/** Setpoints of a turn that has not been yet are of another time: a clock that was stepped, or nonsense. */
static bool turn_has_been(struct rm_transmit const *transmit, rm_turn turn) {
    return turn <= transmit->standby->cycle_turn + transmit->period_turns;
}

/** One supply was sent that. What is beyond its limits was never sent: the memory is another process's. */
static void follow_value(struct rm_transmit *transmit, uint32_t supply, double value) {
    struct rm_config_supply const *const limits = &transmit->setup.config->supply[supply];
    float const sent = (float)fmax(limits->low, fmin(limits->high, value));
    if (!isfinite(value) || sent == transmit->sent[supply])
        return;
    transmit->sent[supply] = sent;
    transmit->doubtful[supply] = NAN;
    transmit->moved[supply] = transmit->cycle;
    transmit->sent_vectors = 0;
    rm_guard_follow(transmit->guard, supply, (double)sent);
}

static void follow_sent(struct rm_transmit *transmit) {
    struct rm_transmit_standby *const standby = transmit->standby;
    rm_turn turn;
    if (!copy_of_peer(transmit, standby->peer.sent, &standby->sent_place, standby->values, &turn) ||
        !turn_has_been(transmit, turn))
        return;
    if (standby->known_turn != RM_TURN_NONE && turn <= standby->known_turn)
        return;
    standby->followed = true;
    standby->known_turn = turn;
    rm_counter_add(standby->setup.counters, RM_STANDBY_FOLLOWED, 1);
    for (uint32_t i = 0; i < transmit->supply_count; ++i)
        follow_value(transmit, i, standby->values[i]);
}

/** What the other server wanted before this one sent is old: it, too, followed since. */
static void copy_targets(struct rm_transmit *transmit) {
    struct rm_transmit_standby *const standby = transmit->standby;
    rm_turn turn;
    if (copy_of_peer(transmit, standby->peer.targets, &standby->targets_place, standby->values, &turn) &&
        (standby->led_from == RM_TURN_NONE || turn >= standby->led_from))
        memcpy(standby->wanted, standby->values, transmit->supply_count * sizeof *standby->wanted);
}

/** The operator sets supplies on the server that sends: what was wanted there is wanted here. */
static void follow_targets(struct rm_transmit *transmit) {
    struct rm_transmit_standby *const standby = transmit->standby;
    struct rm_config_application const *const person = &transmit->setup.config->application[0];
    uint32_t const deaf = RM_SUPPLY_JOINING | RM_SUPPLY_LOST | RM_SUPPLY_TRIPPED;
    double limit;
    copy_targets(transmit);
    double const *const targets = rm_guard_targets(transmit->guard);
    for (uint32_t i = 0; i < person->supply_count; ++i) {
        uint32_t const supply = person->supply[i];
        double const wanted = standby->wanted[supply];
        if (isfinite(wanted) && wanted != targets[supply] && (transmit->noted[supply] & deaf) == 0)
            (void)rm_guard_put(transmit->guard, supply, wanted, transmit->turn, &limit);
    }
}

void rm_transmit_follow(struct rm_transmit *transmit) {
    follow_sent(transmit);
    follow_targets(transmit);
}

void rm_transmit_publish_targets(struct rm_transmit *transmit) {
    struct rm_transmit_standby *const standby = transmit->standby;
    double const *const targets = rm_guard_targets(transmit->guard);
    size_t const bytes = transmit->supply_count * sizeof *targets;
    if (memcmp(standby->published, targets, bytes) == 0)
        return;
    memcpy(standby->published, targets, bytes);
    struct rm_setpoint_vector *const vector = rm_setpoints_begin(standby->setup.targets);
    for (uint32_t i = 0; i < transmit->supply_count; ++i)
        rm_setpoints_put(vector, i, targets[i]);
    rm_setpoints_commit(vector, transmit->setup.generation, transmit->cycle_turn, transmit->sent_tsc);
}
