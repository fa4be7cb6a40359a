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
#include "host/host_attendant.h"
#include "host/host_segment.h"
#include "host/host_setup.h"
#include "host/host_state.h"

static double const CLOCK_SECONDS = 0.001; /**< a clock that was set anew is seen so soon */
static uint64_t const UNGRANTED_NS = 1000000;

/* ── beginning ── */

/** Takes over the server that the attendant has posted last. */
static void take_server(struct rm_host *host) {
    struct rm_host_server *posted = atomic_load_explicit(&host->posted, memory_order_acquire);
    if (posted == host->server)
        return;
    host->server = posted;
    host->epoch = 0;
    rm_host_grant_forget(&host->grant);
    for (uint32_t i = 0; i < host->setup.input_count; ++i)
        host->told_input[i] = posted != NULL ? posted->input[i].header : NULL;
    atomic_store_explicit(&host->taken, posted, memory_order_release);
}

static void look_at_clock(struct rm_host *host, uint64_t tsc) {
    host->clock_tsc = tsc;
    if (!rm_clock_read(host->server->clock, &host->clock))
        host->clock.anchored = false;
}

static void fail(struct rm_host *host, struct rm_error const *error) {
    host->failure = *error;
    host->epoch = 0;
    atomic_store_explicit(&host->failed, true, memory_order_release);
}

/** True when somebody knows of one supply at least where it stands: of those that do not answer nobody does. */
static bool stands_somewhere(struct rm_host const *host) {
    for (uint32_t i = 0; i < host->setup.actuator_count; ++i)
        if (isfinite(host->sent[i]))
            return true;
    return host->setup.actuator_count == 0;
}

/** The first step's ground: a fresh state, and every wish where its supply stands. False: not yet. */
static bool begin(struct rm_host *host, uint64_t epoch) {
    if (!rm_host_server_sent(host->server, host->sent) || !stands_somewhere(host) ||
        !rm_host_server_joined(host->server))
        return false;
    struct rm_error error = {.code = RM_E_CONFIG, .text = "init failed and does not say why"};
    memset(host->state, 0, host->code.it->state_bytes);
    if (host->code.it->init != NULL && host->code.it->init(&host->told, host->state, &error) != RM_OK) {
        fail(host, &error);
        return false;
    }
    if (!rm_host_inputs_start(&host->inputs, host->server->input, host->server->input_count)) {
        error = (struct rm_error){.code = RM_E_NO_SPACE, .text = "no memory for the inputs"};
        fail(host, &error);
        return false;
    }
    memcpy(host->wanted, host->sent, host->setup.actuator_count * sizeof host->wanted[0]);
    host->steps = 0;
    host->epoch = epoch;
    rm_counter_add(host->counters, RM_APPLICATION_GRANTS, 1);
    return true;
}

/** True while this instance may step. */
static bool is_granted(struct rm_host *host) {
    uint64_t const epoch = rm_host_grant_look(&host->grant, host->server->grant);
    if (epoch == host->epoch)
        return epoch != 0;
    host->epoch = 0;
    return epoch != 0 && begin(host, epoch);
}

/* ── one step ── */

static void commit(struct rm_host *host, rm_turn turn, uint64_t seen_tsc) {
    struct rm_setpoint_row *row = rm_setpoints_begin(host->rows);
    for (uint32_t i = 0; i < host->setup.actuator_count; ++i)
        rm_setpoints_put(row, i, host->wanted[i]);
    uint64_t const now = rm_tsc();
    rm_setpoints_commit(row, host->epoch, turn, now);
    rm_histogram_add(host->latency, now - seen_tsc, 1);
    rm_counter_add(host->counters, RM_APPLICATION_SENT, 1);
}

static void show_readings(struct rm_host *host, rm_turn turn, uint64_t tsc) {
    struct rm_stamp const stamp = rm_stamp_of(&host->clock, tsc, turn);
    for (uint32_t i = 0; i < host->code.it->reading_count; ++i) {
        if (memcmp(&host->told_reading[i], &host->shown_reading[i], sizeof host->shown_reading[i]) == 0)
            continue;
        host->shown_reading[i] = host->told_reading[i];
        rm_parameter_write_f64(host->reading[i], host->told_reading[i], stamp);
    }
}

static void count(struct rm_host *host, struct rm_host_due const *due, uint32_t missing, uint64_t ticks) {
    rm_counter_add(host->counters, RM_APPLICATION_STEPS, 1);
    rm_counter_add(host->counters, RM_APPLICATION_LATE, due->late);
    rm_counter_add(host->counters, RM_APPLICATION_MISSING, missing);
    rm_counter_add(host->counters, RM_APPLICATION_SKIPPED, due->skipped);
    if (ticks > rm_counter_get(host->counters, RM_APPLICATION_LONGEST_TICKS))
        rm_counter_set(host->counters, RM_APPLICATION_LONGEST_TICKS, ticks);
}

static void step(struct rm_host *host, struct rm_host_due const *due) {
    uint64_t const seen = rm_tsc();
    uint32_t const missing = rm_host_inputs_read(&host->inputs, due->turn);
    rm_host_server_sent(host->server, host->sent); // what it was, where it changes just now
    for (uint32_t i = 0; i < host->setup.actuator_count; ++i)
        if (!isfinite(host->wanted[i]))
            host->wanted[i] = host->sent[i];
    struct rm_step const given = {
        .turn = due->turn,
        .steps = host->steps,
        .record = host->inputs.record,
        .missing = missing,
        .is_missing = host->inputs.missing,
        .setting = host->settings.value,
        .sent = host->sent,
    };
    struct rm_wish wish = {.setpoint = host->wanted, .reading = host->told_reading};
    uint64_t const begun = rm_tsc();
    enum rm_step_result const result = host->code.it->step(&host->told, host->state, &given, &wish);
    uint64_t const ended = rm_tsc();
    if (result == RM_STEP_SEND)
        commit(host, due->turn, seen);
    else
        rm_counter_add(host->counters, RM_APPLICATION_QUIET, 1);
    host->stepped_tsc = seen;
    ++host->steps;
    show_readings(host, due->turn, ended);
    count(host, due, missing, ended - begun);
}

static void take_settings(struct rm_host *host) {
    /* Not asked for anything is the rule: then no clock is looked at. */
    if (atomic_load_explicit(&host->settings.state, memory_order_relaxed) != RM_PROPOSAL_POSTED)
        return;
    uint32_t const changed =
        rm_host_settings_take(&host->settings, host->code.it, &host->told, host->state, rm_stamp_now());
    rm_counter_add(host->counters, RM_APPLICATION_SETTINGS, changed);
}

uint32_t rm_host_duty(void *argument, uint64_t tsc) {
    struct rm_host *host = argument;
    take_server(host);
    take_settings(host);
    if (host->server == NULL || atomic_load_explicit(&host->failed, memory_order_relaxed))
        return 0;
    if (tsc - host->clock_tsc > host->clock_wait)
        look_at_clock(host, tsc);
    struct rm_host_due due;
    if (!is_granted(host) || !rm_host_inputs_due(&host->inputs, &host->clock, tsc, &due))
        return 0;
    step(host, &due);
    return 1;
}

uint64_t rm_host_idle_ns(struct rm_host const *host, uint64_t tsc) {
    if (host->epoch == 0 || !host->clock.anchored)
        return UNGRANTED_NS;
    uint64_t const period = (uint64_t)((double)host->setup.period_turns * host->clock.ticks_per_turn);
    uint64_t const next = host->setup.input_count == 0 && host->inputs.next != RM_TURN_NONE
                              ? rm_clock_tsc(&host->clock, host->inputs.next)
                              : host->stepped_tsc + period;
    return next <= tsc ? 0 : (uint64_t)((double)(next - tsc) * 1e9 / host->tsc_hz);
}

struct rm_error const *rm_host_failure(struct rm_host const *host) {
    return atomic_load_explicit(&host->failed, memory_order_acquire) ? &host->failure : NULL;
}

/* ── life ── */

/** What the code is told of the configuration. */
static bool tell(struct rm_host *host) {
    struct rm_host_setup const *setup = &host->setup;
    size_t const actuators = setup->actuator_count + 1ul;
    host->told_input = calloc(setup->input_count + 1ul, sizeof *host->told_input);
    host->told_actuator = calloc(actuators, sizeof *host->told_actuator);
    host->low = calloc(actuators, sizeof *host->low);
    host->high = calloc(actuators, sizeof *host->high);
    host->slew = calloc(actuators, sizeof *host->slew);
    host->sent = calloc(actuators, sizeof *host->sent);
    host->wanted = calloc(actuators, sizeof *host->wanted);
    host->told_reading = calloc(host->code.it->reading_count + 1ul, sizeof *host->told_reading);
    host->shown_reading = calloc(host->code.it->reading_count + 1ul, sizeof *host->shown_reading);
    host->reading = calloc(host->code.it->reading_count + 1ul, sizeof *host->reading);
    size_t const state = (host->code.it->state_bytes + RM_CACHE_LINE) / RM_CACHE_LINE * RM_CACHE_LINE;
    host->state = aligned_alloc(RM_CACHE_LINE, state);
    if (!host->told_input || !host->told_actuator || !host->low || !host->high || !host->slew || !host->sent ||
        !host->wanted || !host->told_reading || !host->shown_reading || !host->reading || !host->state)
        return false;
    memset(host->state, 0, state);
    for (uint32_t i = 0; i < setup->actuator_count; ++i) {
        host->told_actuator[i] = setup->actuator[i].name;
        host->low[i] = setup->actuator[i].low;
        host->high[i] = setup->actuator[i].high;
        host->slew[i] = setup->actuator[i].slew_per_s * (double)setup->period_turns / setup->turn_rate_hz;
    }
    host->told = (struct rm_application_setup){
        .name = setup->name,
        .turn_rate_hz = setup->turn_rate_hz,
        .period_turns = setup->period_turns,
        .input_count = setup->input_count,
        .input = host->told_input,
        .input_name = setup->input,
        .actuator_count = setup->actuator_count,
        .actuator_name = host->told_actuator,
        .actuator_low = host->low,
        .actuator_high = host->high,
        .actuator_slew_per_step = host->slew,
        .setting = host->settings.value,
    };
    return true;
}

static enum rm_code prepare(struct rm_host *host, struct rm_host_setup const *setup, struct rm_error *error) {
    enum rm_code code = rm_host_setup_copy(&host->setup, setup, error);
    if (code == RM_OK)
        code = rm_host_code_load(setup->code, &host->code, error);
    if (code != RM_OK)
        return code;
    if (!rm_host_settings_allocate(&host->settings, host->code.it->setting_count) || !tell(host))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for application \"%s\"", setup->name);
    host->tsc_hz = rm_tsc_hz_measure();
    host->clock_wait = (uint64_t)(CLOCK_SECONDS * host->tsc_hz);
    host->inputs.period = setup->period_turns;
    host->inputs.deadline_turns = setup->deadline_turns;
    host->inputs.next = RM_TURN_NONE;
    code = rm_host_segment_open(host, error);
    if (code != RM_OK)
        return code;
    host->grant.instance = atomic_load(&rm_owner_header(host->owner)->epoch);
    host->grant.pid = (uint64_t)getpid();
    rm_host_grant_forget(&host->grant);
    return rm_host_attendant_start(host, &host->attendant, error);
}

enum rm_code rm_host_open(struct rm_host_setup const *setup, struct rm_host **host, struct rm_error *error) {
    struct rm_host *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for application \"%s\"", setup->name);
    enum rm_code const code = prepare(made, setup, error);
    if (code == RM_OK)
        *host = made;
    else
        rm_host_close(made);
    return code;
}

void rm_host_close(struct rm_host *host) {
    if (host == NULL)
        return;
    rm_host_attendant_stop(host->attendant);
    rm_owner_close(host->owner);
    rm_host_inputs_free(&host->inputs);
    rm_host_settings_free(&host->settings);
    free(host->told_input);
    free(host->told_actuator);
    free(host->low);
    free(host->high);
    free(host->slew);
    free(host->sent);
    free(host->wanted);
    free(host->told_reading);
    free(host->shown_reading);
    free(host->reading);
    free(host->state);
    rm_host_code_unload(&host->code);
    rm_host_setup_free(&host->setup);
    free(host);
}
