// SPDX-License-Identifier: Apache-2.0
#include "event_targets.h"

/** Each chain of the event's supplies, once: those of a chain stand together. */
static void power_chains(struct rm_chains *chains, struct rm_ring_event const *event, double time, bool on) {
    uint32_t last = RM_CHAINS_NOBODY;
    for (uint32_t s = 0; s < event->supply_count; ++s) {
        uint32_t const chain = rm_chains_of_supply(chains, event->supply[s]);
        if (chain != last)
            rm_chains_power(chains, chain, time, on);
        last = chain;
    }
}

void rm_event_targets_apply_supplies(struct rm_chains *chains, struct rm_ring_event const *event, double time,
                                     bool begins) {
    if (event->kind == RM_EVENT_POWER_CYCLE) {
        power_chains(chains, event, time, !begins);
        return;
    }
    for (uint32_t s = 0; s < event->supply_count; ++s) {
        struct rm_supply *supply = &chains->supply[event->supply[s]];
        rm_supply_advance(supply, time);
        if (event->kind == RM_EVENT_TRIP && begins)
            rm_chains_trip(chains, event->supply[s], time);
        else if (event->kind == RM_EVENT_TRIP || event->kind == RM_EVENT_RESET)
            rm_supply_reset(supply);
        else if (event->kind == RM_EVENT_RIPPLE && begins)
            rm_supply_add_ripple(supply, time, event->hz, event->amplitude);
        else if (event->kind == RM_EVENT_RIPPLE)
            rm_supply_end_ripple(supply, time);
    }
}

static void apply_to_supplies(struct rm_ring_turns *turns, struct rm_ring_event const *event, rm_turn turn,
                              bool begins) {
    struct rm_ring_turns_supplies const *supplies = &turns->supplies;
    if (supplies->chains == NULL)
        return;
    double const time = supplies->reach(supplies->state, turn - turns->ring->first_turn);
    rm_event_targets_apply_supplies(supplies->chains, event, time, begins);
}

/** A machine's beam moves by itself; without one its motion is configured. */
static void apply_to_beam(struct rm_ring_turns *turns, struct rm_ring_event const *event, rm_turn turn) {
    struct rm_machine *machine = turns->lanes == NULL ? NULL : turns->lanes->machine;
    if (machine != NULL)
        rm_machine_kick(machine, 1e-9 * event->x_nm, 1e-9 * event->y_nm);
    else if (turns->beam != NULL)
        rm_beam_kick_at(turns->beam, turn, event->x_nm, event->y_nm);
}

void rm_event_targets_apply(void *state, struct rm_ring_event const *event, rm_turn turn, bool begins) {
    struct rm_ring_turns *turns = state;
    switch (event->kind) {
    case RM_EVENT_TRIP:
    case RM_EVENT_RESET:
    case RM_EVENT_RIPPLE:
    case RM_EVENT_POWER_CYCLE:
        apply_to_supplies(turns, event, turn, begins);
        break;
    case RM_EVENT_KICK:
        apply_to_beam(turns, event, turn);
        break;
    case RM_EVENT_RF_TRIP:
        rm_machine_trip_rf(turns->lanes->machine, begins);
        break;
    case RM_EVENT_INJECTION:
        rm_loss_lanes_inject(&turns->lanes->loss, turn, event->ma, 1e-9 * event->x_nm, 1e-9 * event->y_nm,
                             event->misfires);
        break;
    default:
        rm_bad_readings_begin_or_end(&turns->bad, event, begins);
        break;
    }
}
