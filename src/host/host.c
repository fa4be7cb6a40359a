// SPDX-License-Identifier: Apache-2.0
#include "host/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ringmaster/counters.h>
#include <ringmaster/setpoint.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "host/host_control_thread.h"
#include "host/host_permissions.h"
#include "host/host_segment.h"
#include "host/host_setup.h"
#include "host/host_state.h"
#include "host/host_worker.h"

static double const CLOCK_SECONDS = 0.001; /**< a clock that was set anew is seen so soon */
static uint64_t const UNGRANTED_NS = 1000000;
static uint64_t const FOLLOWING_NS = 50000; /**< the peer's records come when they come */
enum { CLOCK_MISSES = 100 /**< looks, a tenth of a second, after which a clock that cannot be read stands */ };

/* ── beginning ── */

/** Takes over the server that the control thread has posted last. */
static void take_server(struct rm_host *host) {
    struct rm_host_server *posted = atomic_load_explicit(&host->posted, memory_order_acquire);
    if (posted == host->server)
        return;
    if (posted == NULL)
        rm_host_permissions_withdraw(&host->settings, host->program, RM_WITHDRAWN_SERVER, rm_stamp_now());
    rm_host_standby_leave_server(host);
    host->server = posted;
    host->grant_number = 0;
    host->clock.anchored = false; /* it was another server's; this one's is looked at next */
    host->clock_misses = 0;
    host->clock_tsc = 0;
    rm_host_grant_forget(&host->grant);
    for (uint32_t i = 0; i < host->setup->input_count; ++i)
        host->program->input[i] = posted != NULL ? posted->input[i].header : NULL;
    atomic_store_explicit(&host->taken, posted, memory_order_release);
}

/** A writer that lost its core inside comes back; one that was killed there does not. */
static void look_at_clock(struct rm_host *host, uint64_t tsc) {
    host->clock_tsc = tsc;
    host->clock_misses = rm_clock_look(host->server->clock, &host->clock) ? 0 : host->clock_misses + 1;
    if (host->clock_misses > CLOCK_MISSES)
        host->clock.anchored = false;
}

static void host_fail(struct rm_host *host, struct rm_error const *error) {
    host->failure = *error;
    host->grant_number = 0;
    atomic_store_explicit(&host->failed, true, memory_order_release);
}

/** True when it is known of one supply at least where it stands: of those that do not answer it is not. */
static bool stands_somewhere(struct rm_host const *host) {
    for (uint32_t i = 0; i < host->setup->actuator_count; ++i)
        if (isfinite(host->program->sent[i]))
            return true;
    return host->setup->actuator_count == 0;
}

/** The next command is written right where its vector lies: what is written there in time need not be copied after the
 * last input, and the lines of the vector are in this core's cache already, which its reader had. */
void rm_host_begin_vector(struct rm_host *host) {
    host->vector = rm_setpoints_begin(host->vectors);
    rm_host_program_expect(host->program, (double *)(void *)host->vector->value);
}

/** The first step's ground: a fresh state, and every command where its supply stands. False: not yet. */
static bool host_begin_grant(struct rm_host *host, uint64_t grant_number) {
    struct rm_host_program *program = host->program;
    host->sent_sequence = 0;
    if (!rm_host_server_sent(host->server, &host->sent_sequence, program->sent) || !stands_somewhere(host) ||
        !rm_host_server_joined(host->server))
        return false;
    /* Also what was given while no server was there to act under. */
    if (host->last_grant_number != 0 && host->last_grant_number != grant_number)
        rm_host_permissions_withdraw(&host->settings, program, RM_WITHDRAWN_SERVER, rm_stamp_now());
    host->last_grant_number = grant_number;
    struct rm_error error;
    if (rm_host_program_init(program, &error) != RM_OK) {
        host_fail(host, &error);
        return false;
    }
    rm_host_inputs_start(&host->inputs, host->server->input);
    rm_host_decisions_begin(&host->decisions, grant_number);
    rm_host_begin_vector(host);
    host->grant_number = grant_number;
    rm_counter_add(host->counters, RM_APPLICATION_GRANTS, 1);
    return true;
}

/** True while this instance may step. */
static bool is_granted(struct rm_host *host) {
    uint64_t const grant_number = rm_host_grant_look(&host->grant, host->server->grant);
    if (grant_number == host->grant_number)
        return grant_number != 0;
    host->grant_number = 0;
    return grant_number != 0 && host_begin_grant(host, grant_number);
}

/* ── one step ── */

/** The part of a loop's delay that is ours: a controller has to know how old its answers are. */
static void note_age(struct rm_host *host, rm_turn turn, uint64_t now) {
    if (!host->clock.anchored)
        return;
    uint64_t const expected = rm_clock_tsc(&host->clock, turn);
    rm_histogram_add(host->age, now > expected ? now - expected : 0, 1);
}

static void host_commit_vector(struct rm_host *host, rm_turn turn, uint64_t seen_tsc) {
    uint64_t const now = rm_tsc();
    rm_setpoints_commit(host->vector, host->grant_number, turn, now);
    rm_histogram_add(host->latency, now - seen_tsc, 1);
    note_age(host, turn, now);
    rm_counter_add(host->counters, RM_APPLICATION_COMMITTED, 1);
}

static void put_streams(struct rm_host *host, rm_turn turn, uint64_t tsc) {
    struct rm_record record = {.turn = turn};
    for (uint32_t i = 0; i < host->program->code.it->stream_count; ++i) {
        for (uint32_t lane = 0; lane < RM_LANES; ++lane)
            record.lane[lane].f = host->program->stream[i][lane];
        rm_owner_stream_put(host->owner, host->stream[i], &record, tsc);
    }
}

static void put_rows(struct rm_host *host, rm_turn turn, uint64_t tsc) {
    struct rm_host_rows const *rows = &host->program->rows;
    for (uint32_t i = 0; i < rows->count; ++i)
        if (rows->row[i].value != NULL)
            rm_owner_rows_put(host->owner, host->rows[i], turn, rows->row[i].quality, rows->value[i], tsc);
}

static void host_count_cycle(struct rm_host *host, struct rm_host_due const *due, uint32_t missing, uint64_t ticks) {
    rm_counter_add(host->counters, RM_APPLICATION_STEPS, 1);
    rm_counter_add(host->counters, RM_APPLICATION_LATE, due->late);
    rm_counter_add(host->counters, RM_APPLICATION_MISSING, missing);
    rm_counter_add(host->counters, RM_APPLICATION_SKIPPED, due->skipped);
    rm_counter_add(host->counters, RM_APPLICATION_LOST, due->lost);
    if (ticks > rm_counter_get(host->counters, RM_APPLICATION_LONGEST_TICKS))
        rm_counter_set(host->counters, RM_APPLICATION_LONGEST_TICKS, ticks);
}

/** After the vector is committed: all that need not be done before. */
static void host_finish_cycle(struct rm_host *host, struct rm_host_due const *due, bool committed, uint64_t tsc) {
    struct rm_host_outcome const outcome = {
        .tsc = tsc,
        .skipped = due->skipped,
        .late = due->late,
        .committed = committed,
        .setpoints = rm_host_decisions_setpoints(&host->decisions, committed),
    };
    rm_host_begin_vector(host); // the vector that is committed is out of reach for the code from here on
    rm_host_program_prepare(host->program);
    put_streams(host, due->turn, tsc);
    put_rows(host, due->turn, tsc);
    rm_host_decisions_record(&host->decisions, &outcome);
    struct rm_stamp const stamp = rm_stamp_of(&host->clock, tsc, due->turn);
    rm_host_readings_show(&host->readings, host->program, stamp, tsc);
}

void rm_host_make_step(struct rm_host *host, struct rm_host_due const *due) {
    uint64_t const begun = rm_tsc();
    enum rm_step_result const result =
        rm_host_program_step(host->program, due->turn, host->inputs.record, host->inputs.missing, due->missing);
    if (result == RM_STEP_SEND)
        host_commit_vector(host, due->turn, due->seen_tsc);
    else
        rm_counter_add(host->counters, RM_APPLICATION_QUIET, 1);
    uint64_t const ended = rm_tsc();
    host->stepped_tsc = due->seen_tsc;
    host_finish_cycle(host, due, result == RM_STEP_SEND, ended);
    host_count_cycle(host, due, due->missing, ended - begun);
    if (host->standby != NULL)
        rm_host_standby_note_step(host, due->turn);
}

/** While nothing of the next turn has come: what was sent last is read now, so that it is there when the inputs are. */
static void keep_up(struct rm_host *host) {
    if (rm_host_inputs_between(&host->inputs) &&
        rm_host_server_sent(host->server, &host->sent_sequence, host->program->sent))
        rm_host_program_follow(host->program);
}

/** One step of a code that takes records as they come, when the last of them has. */
static uint32_t step_collected(struct rm_host *host, uint64_t tsc) {
    struct rm_host_due due = {0};
    if (!rm_host_inputs_collect(&host->inputs, &host->clock, tsc, &due)) {
        keep_up(host);
        return 0;
    }
    rm_host_make_step(host, &due);
    return 1;
}

/** All records since the last step, and how far they go back. */
static void host_read_runs(struct rm_host *host, struct rm_host_due *due) {
    rm_host_inputs_read_runs(&host->inputs, &host->server->runs, due);
    rm_host_program_give_runs(host->program, &host->server->runs);
}

/** One step of a code that takes them all at once. */
static uint32_t step_whole(struct rm_host *host, uint64_t tsc) {
    struct rm_host_due due = {0};
    if (!rm_host_inputs_due(&host->inputs, &host->clock, tsc, &due))
        return 0;
    due.seen_tsc = rm_tsc();
    if (host->program->code.it->takes_runs != 0)
        host_read_runs(host, &due);
    else
        due.missing = rm_host_inputs_read(&host->inputs, due.turn);
    /* Where it changes just now, it is what it was. */
    if (rm_host_server_sent(host->server, &host->sent_sequence, host->program->sent))
        rm_host_program_follow(host->program);
    rm_host_make_step(host, &due);
    return 1;
}

static void take_settings(struct rm_host *host) {
    /* Not asked for anything is the rule: then no clock is looked at. */
    if (!rm_mailbox_is_in(&host->settings.mailbox, RM_MAILBOX_POSTED))
        return;
    bool const steps = host->grant_number != 0; // else the next init tells all settings
    if (steps && !rm_host_journal_has_room(&host->decisions.journal))
        return;
    uint32_t const changed = rm_host_settings_take(&host->settings, host->program, rm_stamp_now());
    if (steps && changed > 0)
        rm_host_decisions_adopt(&host->decisions);
    rm_counter_add(host->counters, RM_APPLICATION_SETTINGS, changed);
}

static uint32_t host_stand_by(struct rm_host *host, uint64_t tsc) {
    if (host->server != NULL && tsc - host->clock_tsc > host->clock_wait)
        look_at_clock(host, tsc);
    return rm_host_standby_duty(host);
}

uint32_t rm_host_duty(void *argument, uint64_t tsc) {
    struct rm_host *host = argument;
    take_server(host);
    if (host->standby != NULL && !rm_host_standby_leads(host))
        return host_stand_by(host, tsc);
    if (host->grant_number == 0 || rm_host_inputs_between(&host->inputs))
        take_settings(host);
    if (host->server == NULL || atomic_load_explicit(&host->failed, memory_order_relaxed))
        return 0;
    if (tsc - host->clock_tsc > host->clock_wait)
        look_at_clock(host, tsc);
    if (!is_granted(host))
        return 0;
    return host->inputs.arrive != NULL ? step_collected(host, tsc) : step_whole(host, tsc);
}

uint64_t rm_host_idle_ns(struct rm_host const *host, uint64_t tsc) {
    if (host->standby != NULL && rm_host_standby_phase(host->standby) == RM_HOST_FOLLOWS)
        return FOLLOWING_NS;
    if (host->grant_number == 0 || !host->clock.anchored)
        return UNGRANTED_NS;
    uint64_t const period = (uint64_t)((double)host->setup->period_turns * host->clock.ticks_per_turn);
    /* The first input of a turn may come long before the last one, by which the last step was. */
    uint64_t const next = host->setup->input_count == 0 && host->inputs.next != RM_TURN_NONE
                              ? rm_clock_tsc(&host->clock, host->inputs.next)
                              : host->stepped_tsc + (host->inputs.arrive != NULL ? period / 2 : period);
    return next <= tsc ? 0 : (uint64_t)((double)(next - tsc) * 1e9 / host->tsc_hz);
}

struct rm_error const *rm_host_failure(struct rm_host const *host) {
    return atomic_load_explicit(&host->failed, memory_order_acquire) ? &host->failure : NULL;
}

/* ── life ── */

static void host_input_arrived(void *context, uint32_t input, struct rm_record const *record) {
    struct rm_host_program *program = context;
    program->code.it->arrive(&program->passed, program->state, input, record);
}

static void host_put_decision(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc) {
    struct rm_host *host = context;
    rm_owner_stream_put(host->owner, host->decision_stream[stream], record, tsc);
}

static bool host_allocate(struct rm_host *host) {
    struct rm_host_program *program = host->program;
    host->decisions = (struct rm_host_decisions){.put = host_put_decision, .context = host};
    if (!rm_host_decisions_open(&host->decisions, program))
        return false;
    host->stream = calloc(program->code.it->stream_count + 1ul, sizeof *host->stream);
    host->rows = calloc(program->code.it->row_count + 1ul, sizeof *host->rows);
    host->decision_stream = calloc(host->decisions.stream_count, sizeof *host->decision_stream);
    return host->stream != NULL && host->rows != NULL && host->decision_stream != NULL &&
           rm_host_settings_allocate(&host->settings, program) &&
           rm_host_readings_allocate(&host->readings, program, host->tsc_hz) &&
           rm_host_inputs_allocate(&host->inputs, host->setup->input_count) && rm_host_standby_open(host);
}

/** All that the stepping thread needs to know. */
static void make_ready(struct rm_host *host) {
    host->clock_wait = (uint64_t)(CLOCK_SECONDS * host->tsc_hz);
    host->inputs.period = host->setup->period_turns;
    host->inputs.deadline_turns = host->setup->deadline_turns;
    host->inputs.next = RM_TURN_NONE;
    host->inputs.context = host->program;
    if (host->program->code.it->arrive != NULL && host->setup->input_count > 0)
        host->inputs.arrive = host_input_arrived;
    host->grant.pid = (uint64_t)getpid();
    rm_host_grant_forget(&host->grant);
}

static enum rm_code host_prepare_application(struct rm_host *host, struct rm_host_setup const *setup,
                                             struct rm_error *error) {
    enum rm_code code = rm_host_program_open(setup, &host->program, error);
    if (code != RM_OK)
        return code;
    host->setup = &host->program->setup;
    host->tsc_hz = rm_tsc_hz_measure();
    if (!host_allocate(host))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for application \"%s\"", setup->name);
    make_ready(host);
    code = rm_host_segment_open(host, error);
    if (code != RM_OK)
        return code;
    host->grant.instance = atomic_load(&rm_owner_header(host->owner)->generation);
    code = rm_host_worker_start(host->program, &host->worker, error);
    return code == RM_OK ? rm_host_control_thread_start(host, &host->control_thread, error) : code;
}

enum rm_code rm_host_open(struct rm_host_setup const *setup, struct rm_host **host, struct rm_error *error) {
    struct rm_host *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for application \"%s\"", setup->name);
    enum rm_code const code = host_prepare_application(made, setup, error);
    if (code == RM_OK)
        *host = made;
    else
        rm_host_close(made);
    return code;
}

void rm_host_close(struct rm_host *host) {
    if (host == NULL)
        return;
    rm_host_control_thread_stop(host->control_thread);
    rm_host_worker_stop(host->worker);
    rm_owner_close(host->owner);
    rm_host_standby_close(host);
    rm_host_inputs_free(&host->inputs);
    rm_host_settings_free(&host->settings);
    rm_host_readings_free(&host->readings);
    free(host->stream);
    free(host->rows);
    free(host->decision_stream);
    rm_host_decisions_close(&host->decisions);
    rm_host_program_close(host->program);
    free(host);
}
