// SPDX-License-Identifier: Apache-2.0
#include "host/host_standby.h"

#include <stdlib.h>
#include <string.h>

#include <ringmaster/counters.h>

#include "base/timebase.h"
#include "host/host_permissions.h"
#include "host/host_state.h"
#include "host/host_state_bytes.h"
#include "host/host_worker.h"

static double const LAG_SECONDS = 0.1; /**< behind the peer, with which it is in step, and an input may still come */
enum { STEPS_OF_A_DUTY = 16 /**< most steps that are caught up with at once */ };

static bool standby_has_worked(void *context) {
    struct rm_host const *host = context;
    return host->worker == NULL || rm_host_worker_has_worked(host->worker, host->standby->worked);
}

bool rm_host_standby_open(struct rm_host *host) {
    if (host->setup->peer == NULL)
        return true;
    struct rm_host_standby *standby = calloc(1, sizeof *standby);
    if (standby == NULL)
        return false;
    host->standby = standby;
    atomic_store(&standby->phase, RM_HOST_PARKED);
    atomic_store(&standby->stepped, RM_TURN_NONE);
    standby->streams.maximum_lag_turns = (uint64_t)(LAG_SECONDS * host->setup->turn_rate_hz);
    standby->streams.has_worked = standby_has_worked;
    standby->streams.context = host;
    standby->follow.obey = (struct rm_host_obey){
        .source = rm_follow_streams_source(&standby->streams),
        .program = host->program,
        .decisions = &host->decisions,
        .record = host->inputs.record,
        .missing = host->inputs.missing,
    };
    return rm_host_follow_open(&standby->follow) &&
           rm_follow_streams_open(&standby->streams, host->decisions.masks, host->decisions.groups,
                                  host->decisions.ends);
}

void rm_host_standby_close(struct rm_host *host) {
    if (host->standby == NULL)
        return;
    rm_host_follow_close(&host->standby->follow);
    rm_follow_streams_close(&host->standby->streams);
    free(host->standby);
}

static void standby_show_in_step(struct rm_host_standby *standby, bool is_in_step) {
    if (is_in_step == atomic_load_explicit(&standby->is_in_step, memory_order_relaxed))
        return;
    atomic_store_explicit(&standby->is_in_step, is_in_step, memory_order_release);
    rm_parameter_write_f64(standby->in_step, is_in_step, rm_stamp_now());
}

/* ── moves ── */

static void standby_park(struct rm_host *host) {
    struct rm_host_standby *standby = host->standby;
    standby_show_in_step(standby, false);
    host->grant_number = 0;
    atomic_store_explicit(&standby->is_to_park, false, memory_order_relaxed);
    rm_host_standby_move(standby, RM_HOST_PARKED);
}

/** The role has passed, for some cycles maybe: its state stays that of its last step until a copy is taken over. */
static void standby_stop_leading(struct rm_host *host) {
    host->standby->told = (struct rm_host_replayed){.text = ""};
    host->standby->led_grant = host->grant_number;
    standby_park(host);
}

void rm_host_standby_leave_server(struct rm_host *host) {
    struct rm_host_standby *standby = host->standby;
    if (standby == NULL || rm_host_standby_phase(standby) != RM_HOST_FOLLOWS)
        return;
    standby->told = (struct rm_host_replayed){.turn = standby->told.turn, .text = "its own server has gone"};
    standby_park(host);
}

/** It decides from the step of turn `next` on, as if it had made all before it by itself. */
static void standby_go_on(struct rm_host *host, rm_turn next) {
    struct rm_host_standby *standby = host->standby;
    host->program->given.allowed = (struct rm_exchange){.asked = UINT64_MAX, .adopted = UINT64_MAX};
    rm_host_inputs_go_on(&host->inputs, &host->clock, next);
    host->last_grant_number = host->grant_number;
    standby_show_in_step(standby, false);
    rm_host_standby_move(standby, RM_HOST_LEADS);
}

/** It begins as beside a server that was just started: the next grant that is seen calls `init`. */
static void standby_begin_anew(struct rm_host *host) {
    struct rm_host_standby *standby = host->standby;
    rm_host_permissions_withdraw(&host->settings, host->program, RM_WITHDRAWN_SERVER, rm_stamp_now());
    host->program->given.allowed = (struct rm_exchange){.asked = UINT64_MAX, .adopted = UINT64_MAX};
    host->grant_number = 0;
    standby_show_in_step(standby, false);
    rm_host_standby_move(standby, RM_HOST_LEADS);
}

/* ── following ── */

static void standby_show_settings(struct rm_host *host) {
    struct rm_host_standby *standby = host->standby;
    if (standby->shown_generation == standby->follow.obey.generation)
        return;
    standby->shown_generation = standby->follow.obey.generation;
    rm_host_settings_show(&host->settings, rm_stamp_now());
    rm_host_permissions_note(&host->settings, host->program, rm_stamp_now());
}

static void standby_make_step(struct rm_host *host) {
    struct rm_host_standby *standby = host->standby;
    struct rm_host_obey *obey = &standby->follow.obey;
    struct rm_record const *decision = &standby->follow.step.decision;
    struct rm_host_due const due = {
        .turn = decision->turn,
        .skipped = rm_obey_lane(decision, RM_DECISION_SKIPPED),
        .late = (rm_obey_lane(decision, RM_DECISION_FLAGS) & RM_DECISION_LATE) != 0,
        .missing = rm_obey_lane(decision, RM_DECISION_MISSING),
        .seen_tsc = rm_tsc(),
    };
    if (standby->begins || rm_host_obey_is_first(&standby->follow.step))
        rm_host_begin_vector(host);
    standby->begins = false;
    rm_host_program_follow(host->program);
    for (uint32_t i = 0; i < host->setup->input_count; ++i)
        if (!obey->missing[i])
            rm_host_program_arrive(host->program, i, &obey->record[i]);
    rm_host_make_step(host, &due);
    rm_host_obey_go_on(obey, &standby->follow.step);
    standby->worked = host->worker != NULL ? rm_host_worker_begun(host->worker) : 0;
}

/** Counts a step that was made, and says whether it is in step. */
static void standby_judge_step(struct rm_host *host) {
    struct rm_host_standby *standby = host->standby;
    struct rm_host_follow *follow = &standby->follow;
    standby->is_same &= rm_host_follow_judge(follow);
    rm_counter_set(standby->counters, RM_FOLLOW_FOLLOWED, follow->followed);
    rm_counter_set(standby->counters, RM_FOLLOW_DIFFERENCES, follow->differences);
    rm_counter_set(standby->counters, RM_FOLLOW_WAITS, follow->waits);
    uint64_t const behind = rm_follow_streams_behind(&standby->streams, follow->obey.next);
    bool const keeps_up = behind * host->setup->period_turns <= standby->streams.maximum_lag_turns;
    standby_show_in_step(standby, standby->is_same && keeps_up);
    standby->was_in_step |= standby->is_same && keeps_up;
}

/** One step of the peer's, where all of it is here. One that came to other bits needs a copy, too. */
static enum rm_host_followed standby_follow_step(struct rm_host *host) {
    struct rm_host_standby *standby = host->standby;
    if (rm_follow_streams_restarted(&standby->streams)) {
        standby->told =
            (struct rm_host_replayed){.turn = standby->told.turn, .text = "the active server counts turns anew"};
        return RM_FOLLOW_NEEDS_COPY;
    }
    enum rm_host_followed const followed = rm_host_follow_give(&standby->follow, &standby->told);
    if (followed == RM_FOLLOW_NEEDS_COPY)
        rm_counter_add(standby->counters, RM_FOLLOW_INPUTS_MISSING, standby->told.differs == RM_REPLAY_INPUTS);
    if (followed != RM_FOLLOW_STEPPED)
        return followed;
    standby_make_step(host);
    standby_show_settings(host);
    standby_judge_step(host);
    return standby->is_same ? RM_FOLLOW_STEPPED : RM_FOLLOW_NEEDS_COPY;
}

static void standby_look_at_grant(struct rm_host *host) {
    host->grant_number = rm_host_grant_look(&host->grant, host->server->grant);
    host->decisions.grant_number = host->grant_number;
}

uint32_t rm_host_standby_duty(struct rm_host *host) {
    struct rm_host_standby *standby = host->standby;
    if (host->server == NULL || rm_host_standby_phase(standby) != RM_HOST_FOLLOWS)
        return 0;
    if (atomic_load_explicit(&standby->is_to_park, memory_order_acquire)) {
        standby->told = (struct rm_host_replayed){.text = "the records of the other server do not come as they should"};
        standby_park(host);
        return 0;
    }
    standby_look_at_grant(host);
    enum rm_host_followed followed = host->grant_number != 0 ? RM_FOLLOW_STEPPED : RM_FOLLOW_WAITING;
    uint32_t steps = 0;
    for (; followed == RM_FOLLOW_STEPPED && steps < STEPS_OF_A_DUTY; steps += followed == RM_FOLLOW_STEPPED)
        followed = standby_follow_step(host);
    if (followed == RM_FOLLOW_NEEDS_COPY)
        standby_park(host);
    return steps;
}

/* ── leading ── */

/** What the peer has decided and is here is done first: false while that goes on. A step that cannot be made again is
 * where it leads. */
static bool standby_has_caught_up(struct rm_host *host) {
    standby_look_at_grant(host);
    for (uint32_t steps = 0; steps < STEPS_OF_A_DUTY; ++steps)
        if (host->grant_number == 0 || standby_follow_step(host) != RM_FOLLOW_STEPPED)
            return true;
    return false;
}

/** It led last, and nobody did since: chains that did not answer for some cycles end nothing. A server that goes on does
 * so under its own term; all that begins has a new one. */
static bool standby_may_resume(struct rm_host *host, struct rm_standby_state_reading const *role) {
    struct rm_host_standby const *const standby = host->standby;
    if (role->reason != RM_STANDBY_UNANSWERED || standby->led_grant == 0 || role->term != standby->led_term)
        return false;
    standby_look_at_grant(host);
    return host->grant_number == host->standby->led_grant;
}

/** The role is ACTIVE, and it does not lead yet. True: now it does. */
static bool standby_take_lead(struct rm_host *host, struct rm_standby_state_reading const *role) {
    struct rm_host_standby *standby = host->standby;
    bool const is_passed_on = role->reason == RM_STANDBY_TOOK_OVER || role->reason == RM_STANDBY_SWITCHED;
    int parked = RM_HOST_PARKED;
    if (rm_host_standby_phase(standby) == RM_HOST_FOLLOWS) {
        if (!is_passed_on || !standby->was_in_step) {
            standby_begin_anew(host);
            return true;
        }
        if (!standby_has_caught_up(host))
            return false;
        if (standby->is_same && host->grant_number != 0)
            standby_go_on(host, standby->follow.obey.next);
        else
            standby_begin_anew(host);
        return true;
    }
    if (!atomic_compare_exchange_strong_explicit(&standby->phase, &parked, RM_HOST_RESTORES, memory_order_acquire,
                                                 memory_order_relaxed))
        return false; /* the control thread is in the midst of a copy */
    if (standby_may_resume(host, role))
        standby_go_on(host, host->inputs.next);
    else
        standby_begin_anew(host);
    return true;
}

static bool standby_promote(struct rm_host *host, struct rm_standby_state_reading const *role) {
    if (!standby_take_lead(host, role))
        return false;
    host->standby->led_since = role->since_turn;
    host->standby->led_term = role->term;
    return true;
}

/** It leads no more: behind the step that is under way. */
static void standby_give_up_lead(struct rm_host *host) {
    if (rm_host_inputs_between(&host->inputs))
        standby_stop_leading(host);
}

static uint64_t role_word(_Atomic uint64_t const *word) { return atomic_load_explicit(word, memory_order_relaxed); }

bool rm_host_standby_leads(struct rm_host *host) {
    struct rm_host_standby *standby = host->standby;
    enum rm_host_phase const phase = rm_host_standby_phase(standby);
    if (host->server == NULL)
        return phase == RM_HOST_LEADS;
    struct rm_standby_state const *const role = host->server->role;
    if (role == NULL) /* a server of another configuration, which is alone */
        return phase == RM_HOST_LEADS ||
               standby_promote(host, &(struct rm_standby_state_reading){.since_turn = RM_TURN_NONE});
    struct rm_standby_state_reading reading;
    bool const is_active = role_word(&role->role) == RM_STANDBY_ACTIVE;
    if (phase == RM_HOST_LEADS && is_active && role_word(&role->since_turn) == standby->led_since) {
        standby->led_term = role_word(&role->term); /* it may rise */
        return true;
    }
    /* A change is looked at whole; where its writer is inside, in the next duty. */
    if (is_active && !rm_standby_state_look(role, &reading))
        return false;
    bool const leads = is_active && reading.role == RM_STANDBY_ACTIVE;
    if (phase == RM_HOST_LEADS && !(leads && reading.since_turn == standby->led_since))
        standby_give_up_lead(host); /* also where the role went and came back since the last duty */
    else if (leads && phase != RM_HOST_LEADS)
        return standby_promote(host, &reading);
    return rm_host_standby_phase(standby) == RM_HOST_LEADS;
}

/* ── a copy ── */

static void standby_save(struct rm_host *host) {
    struct rm_host_standby *standby = host->standby;
    void *const bytes = rm_state_begin(standby->state);
    size_t const used =
        rm_host_state_save(host->program, &host->decisions, host->inputs.record, bytes, standby->state->capacity);
    rm_state_commit(standby->state, &(struct rm_state_reading){.turn = host->program->given.turn,
                                                               .steps = host->program->steps,
                                                               .bytes = used,
                                                               .checksum = used > 0 ? rm_checksum_word(bytes, 0) : 0});
    atomic_store_explicit(&standby->wants_state, false, memory_order_release);
}

void rm_host_standby_note_step(struct rm_host *host, rm_turn turn) {
    struct rm_host_standby *standby = host->standby;
    atomic_store_explicit(&standby->stepped, turn, memory_order_release);
    if (atomic_load_explicit(&standby->wants_state, memory_order_acquire))
        standby_save(host);
}
