// SPDX-License-Identifier: Apache-2.0
#include "publish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "fabric/workspace_leave.h"
#include <ringmaster/parameter.h>

/** OWNER/NAME: each ring has its own. */
static rm_planned_index plan_own(struct rm_publication *publication, char const *name, char const *unit,
                                 char const *description, enum rm_element_type type, uint64_t count) {
    char full[RM_NAME_BYTES];
    snprintf(full, sizeof full, "%s/%s", publication->owner, name);
    return rm_plan_parameter(&publication->plan, full, unit, description, type, count, NULL);
}

static rm_planned_index plan_number(struct rm_publication *publication, char const *name, char const *unit,
                                    char const *description) {
    return plan_own(publication, name, unit, description, RM_ELEMENT_F64, 1);
}

static void publish_number(struct rm_publication *publication, rm_planned_index index, double value) {
    rm_parameter_write_f64(rm_segment_memory(&publication->segment, &publication->plan, index), value, rm_stamp_now());
}

static void plan_counters(struct rm_publication *publication, struct rm_ring_config const *ring) {
    for (uint32_t c = 0; c < publication->count; ++c) {
        char name[RM_NAME_BYTES];
        snprintf(name, sizeof name, "counters/sender/%s%s", ring->groups[c / publication->networks].name,
                 c % publication->networks == 0 ? "" : "/b");
        rm_plan_counters(&publication->plan, name, "what this virtual instrument sent", RM_COUNTER_SET_SENDER,
                         RM_SENDER_COUNTERS);
    }
    for (uint32_t c = 0; c < publication->chains; ++c) {
        char name[RM_NAME_BYTES];
        snprintf(name, sizeof name, "counters/supply/%s", ring->supplies.chains[c].name);
        rm_plan_counters(&publication->plan, name, "what this virtual chain of supplies received and answered",
                         RM_COUNTER_SET_SUPPLY, RM_SUPPLY_COUNTERS);
    }
}

static void plan_time(struct rm_publication *publication) {
    if (!publication->has_turns)
        return;
    publication->turn_zero =
        plan_own(publication, "turn_zero", "", "a TSC count, and the turn that was due then; turn 2^64 - 1: none yet",
                 RM_ELEMENT_U64, 2);
    publication->ticks_per_turn =
        plan_number(publication, "ticks_per_turn", "tick", "TSC ticks from one turn to the next; 0: not shared");
}

static rm_planned_index plan_currents(struct rm_publication *publication) {
    static char const DESCRIPTION[] = "what the virtual supplies do, each in its own unit";
    bool const first = strcmp(publication->owner, "ring") == 0;
    if (!first)
        return plan_own(publication, "supply/current", "", DESCRIPTION, RM_ELEMENT_F64, publication->supplies);
    return rm_plan_parameter(&publication->plan, "supply/current", "", DESCRIPTION, RM_ELEMENT_F64,
                             publication->supplies, NULL);
}

static enum rm_code publish_ring(struct rm_publication *publication, struct rm_ring_config const *ring,
                                 struct rm_fellows const *fellows, double turn_rate_hz, bool simulated,
                                 struct rm_machine *machine, struct rm_event_schedule *schedule,
                                 struct rm_error *error) {
    struct rm_segment_plan *plan = &publication->plan;
    plan_counters(publication, ring);
    rm_planned_index const rate =
        plan_number(publication, "turn_rate_hz", "Hz", "turns per second that the ring sends; 0: unpaced");
    rm_planned_index tune_x = 0, tune_y = 0;
    if (simulated) {
        tune_x = plan_number(publication, "tune_x", "1/turn", "horizontal betatron tune as simulated");
        tune_y = plan_number(publication, "tune_y", "1/turn", "vertical betatron tune as simulated");
    }
    plan_time(publication);
    if (publication->supplies != 0)
        publication->currents = plan_currents(publication);
    bool const follows = machine != NULL && fellows != NULL && rm_fellows_parameter(fellows, "machine/beam") != NULL;
    bool const has_tunes = machine != NULL && !follows;
    if (has_tunes)
        rm_tune_stream_plan(&publication->tunes, plan);
    enum rm_code code = rm_ring_control_plan(&publication->control, ring, schedule, publication->owner,
                                             follows ? NULL : machine, plan, error);
    if (code != RM_OK)
        return code;
    code = rm_segment_open(ring->workspace, publication->owner, plan, &publication->segment, error);
    if (code != RM_OK)
        return code;
    publication->shared = true;
    publication->workspace = ring->workspace;
    for (uint32_t c = 0; c < publication->count; ++c)
        publication->counters[c] = rm_segment_memory(&publication->segment, plan, c);
    for (uint32_t c = 0; c < publication->chains; ++c)
        publication->supply_counters[c] = rm_segment_memory(&publication->segment, plan, publication->count + c);
    publish_number(publication, rate, turn_rate_hz);
    rm_publication_time(publication, &(struct rm_ring_time){0, RM_TURN_NONE, 0});
    if (simulated) {
        publish_number(publication, tune_x, ring->beam.tune_x);
        publish_number(publication, tune_y, ring->beam.tune_y);
    }
    rm_ring_control_place(&publication->control, plan, &publication->segment);
    if (has_tunes && !rm_tune_stream_open(&publication->tunes, plan, &publication->segment))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the stream machine/tune");
    rm_segment_finish(&publication->segment);
    if (follows)
        code = rm_ring_control_follow_knobs(&publication->control, machine, fellows, error);
    if (fellows != NULL && strcmp(publication->owner, "ring") != 0)
        rm_ring_control_follow_events(&publication->control, fellows);
    return code;
}

void rm_publication_time(struct rm_publication *publication, struct rm_ring_time const *time) {
    if (!publication->shared || !publication->has_turns)
        return;
    uint64_t const zero[2] = {time->start_tsc, time->first_turn};
    publish_number(publication, publication->ticks_per_turn, publication->lock_step ? 0 : time->ticks_per_turn);
    rm_parameter_write(rm_segment_memory(&publication->segment, &publication->plan, publication->turn_zero), zero,
                       sizeof zero, rm_stamp_now());
}

void rm_publication_currents(struct rm_publication *publication, double const *currents) {
    if (publication->shared)
        rm_parameter_write(rm_segment_memory(&publication->segment, &publication->plan, publication->currents),
                           currents, publication->supplies * sizeof *currents, rm_stamp_now());
}

static enum rm_code keep_private(struct rm_publication *publication, struct rm_error *error) {
    size_t const sender = (size_t)publication->count * RM_SENDER_COUNTERS;
    rm_counter *counters = calloc(sender + (size_t)publication->chains * RM_SUPPLY_COUNTERS, sizeof *counters);
    if (counters == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the counters of the instruments");
    for (uint32_t c = 0; c < publication->count; ++c)
        publication->counters[c] = counters + (size_t)c * RM_SENDER_COUNTERS;
    for (uint32_t c = 0; c < publication->chains; ++c)
        publication->supply_counters[c] = counters + sender + (size_t)c * RM_SUPPLY_COUNTERS;
    publication->private_counters = (void *)counters;
    return RM_OK;
}

enum rm_code rm_publication_open(struct rm_ring_config const *ring, struct rm_fellows const *fellows,
                                 double turn_rate_hz, bool simulated, struct rm_machine *machine,
                                 struct rm_event_schedule *schedule, struct rm_publication *publication,
                                 struct rm_error *error) {
    *publication = (struct rm_publication){
        .count = ring->group_count * ring->network_count,
        .networks = ring->network_count,
        .chains = ring->supplies.chain_count,
        .supplies = ring->supplies.supply_count,
        .has_turns = ring->instrument_count != 0,
        .lock_step = ring->lock_step.period_turns != 0,
    };
    strcpy(publication->owner, fellows == NULL ? "ring" : fellows->owner);
    rm_plan_init(&publication->plan);
    publication->counters = calloc(publication->count + 1, sizeof *publication->counters);
    publication->supply_counters = calloc(publication->chains + 1, sizeof *publication->supply_counters);
    enum rm_code code;
    if (publication->counters == NULL || publication->supply_counters == NULL)
        code = rm_fail(error, RM_E_NO_SPACE, "no memory for the counters of the instruments");
    else if (ring->workspace[0] == '\0')
        code = keep_private(publication, error);
    else
        code = publish_ring(publication, ring, fellows, turn_rate_hz, simulated, machine, schedule, error);
    publication->control.schedule = schedule;
    if (code == RM_OK)
        code = rm_ring_control_start(&publication->control, &publication->plan,
                                     publication->shared ? &publication->segment : NULL, error);
    if (code != RM_OK)
        rm_publication_close(publication);
    return code;
}

void rm_publication_close(struct rm_publication *publication) {
    rm_ring_control_stop(&publication->control);
    rm_tune_stream_close(&publication->tunes);
    if (publication->shared) {
        rm_segment_close(&publication->segment);
        rm_workspace_leave(publication->workspace);
    }
    rm_plan_free(&publication->plan);
    free(publication->private_counters);
    free(publication->counters);
    free(publication->supply_counters);
    *publication = (struct rm_publication){0};
}
