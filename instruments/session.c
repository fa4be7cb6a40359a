// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "chain_duty.h"
#include "event_targets.h"
#include "members.h"
#include "publish.h"
#include "sender_ports.h"
#include "signals.h"
#include "summary.h"

static double const LEAST_LOOK_S = 1e-3;

/** What a run holds; parts are opened in this order and closed in the reverse. */
struct session_run {
    struct rm_publication publication;
    struct rm_session const *session;
    double tsc_hz;
    struct rm_signals signals;
    struct rm_sender_ports ports;
    struct rm_members members;
    struct rm_chain_duty duty; /**< where there are chains */
};

/** Whether DPDK is needed. */
static bool needs_net(struct rm_ring_config const *ring) {
    for (uint32_t p = 0; p < ring->port_count; ++p)
        if (ring->ports[p].port.kind != RM_PORT_UDP) /* as a pair's second one, which is of the same kind */
            return true;
    return false;
}

static enum rm_code start_session_net(struct rm_ring_config const *ring, struct rm_error *error) {
    if (!needs_net(ring))
        return RM_OK;
    struct rm_net_config config = {0};
    snprintf(config.prefix, sizeof config.prefix, "ringmaster-ring-%d", (int)getpid());
    return rm_net_start(&config, error);
}

static enum rm_code make_members(struct session_run *run, struct rm_error *error) {
    struct rm_ring_config const *ring = run->session->ring;
    enum rm_code const code = rm_members_make(ring, run->publication.counters, &run->members, error);
    for (uint32_t g = 0; code == RM_OK && g < ring->group_count; ++g)
        for (uint32_t n = 0; n < ring->network_count; ++n)
            run->members.member[g].outlet[n].port =
                rm_sender_ports_find(&run->ports, ring->groups[g].port[n], ring->groups[g].source_ipv4[n]);
    return code;
}

static void tell_of_end(struct rm_port *open, struct rm_port_config const *port) {
    if (rm_port_check(open, NULL) != RM_OK)
        fprintf(stderr, "ringmaster-instruments: waiting for the other end of %s\n",
                port->socket_path[0] != '\0' ? port->socket_path : port->interface);
}

static void tell_of_waiting(struct rm_sender_ports const *ports, struct rm_ring_config const *ring) {
    for (uint32_t p = 0; p < ports->count; ++p) {
        struct rm_ring_port const *to = &ring->ports[ports->of[p].index];
        tell_of_end(ports->port[p], &to->port);
        if (to->paired)
            tell_of_end(ports->second[p], &to->second);
    }
}

static void publish_currents(void *state, double const *currents) {
    struct session_run *run = state;
    rm_publication_currents(&run->publication, currents);
}

/** `state` is the duty, of chains or of none. */
static void begin_turns(void *state, struct rm_turn_pace const *pace) {
    struct rm_chain_duty const *duty = state;
    struct session_run *run = duty->state;
    rm_publication_time(&run->publication,
                        &(struct rm_ring_time){pace->start_tsc, run->session->ring->first_turn, pace->ticks_per_turn});
    if (run->session->responses != NULL)
        run->session->responses->pace = pace;
}

/** Whether chains share a port with instruments. */
static bool shares_ports(struct session_run const *run) {
    for (uint32_t p = 0; p < run->duty.port_count; ++p)
        if (run->duty.own_port[p][0] == NULL)
            return true;
    return false;
}

static bool has_chains(struct session_run const *run) { return run->session->ring->supplies.chain_count != 0; }

static enum rm_code open_chains(struct session_run *run, struct rm_error *error) {
    struct rm_ring_config const *ring = run->session->ring;
    if (!has_chains(run))
        return RM_OK;
    rm_open_ports open;
    for (uint32_t p = 0; p < RM_RING_PORTS_MAX; ++p)
        for (uint32_t s = 0; s < RM_CONFIG_SERVERS; ++s)
            open[p][s] = rm_sender_ports_shared(&run->ports, p, s);
    enum rm_code const code =
        rm_chain_duty_open(ring, open, run->publication.supply_counters, run->tsc_hz, &run->duty, error);
    if (code != RM_OK)
        return code;
    if (ring->lock_step.period_turns == 0) /* in simulated time they have been on for long */
        rm_chains_switch_on(&run->duty.chains, 0);
    run->duty.resets = &run->signals.resets;
    run->duty.publish = publish_currents;
    run->duty.state = run;
    if (run->session->responses != NULL)
        run->session->responses->chains = &run->duty.chains;
    return RM_OK;
}

/** SIGUSR1 is an event as any other. */
static void post_kick(void *state) {
    struct session_run *run = state;
    struct rm_error error;
    if (rm_event_schedule_post_words(run->session->schedule, run->session->ring, "event: kick", &error) != RM_OK)
        fprintf(stderr, "ringmaster-instruments: %s\n", error.text);
}

static bool is_paired(struct rm_ring_config const *ring) { return ring->port_count != 0 && ring->ports[0].paired; }

static void sum_up(struct session_run *run, struct rm_sender_result const *result) {
    struct rm_session const *session = run->session;
    struct rm_summary const summary = {
        .result = *result,
        .counters = run->publication.counters,
        .blocks = run->publication.count,
        .instruments = session->ring->instrument_count,
        .unsent = rm_sender_ports_unsent(&run->ports),
        .tsc_hz = run->tsc_hz,
        .chains = session->ring->supplies.chain_count,
        .supply_counters = run->publication.supply_counters,
        .verdict = run->duty.chains.judge == NULL ? NULL : rm_chain_judge_verdict(run->duty.chains.judge),
        .beam = session->simulated ? &session->ring->beam : NULL,
        .server = is_paired(session->ring) ? session->ring->description->standby.server : NULL,
    };
    if (session->json)
        rm_summary_print_json(&summary, stdout);
    else
        rm_summary_print(&summary, stdout);
}

static enum rm_code session_send_all(struct session_run *run, struct rm_error *error) {
    struct rm_session const *session = run->session;
    struct rm_ring_config const *ring = session->ring;
    struct rm_sender_setup setup = {
        .instruments = ring->instruments,
        .members = run->members.member,
        .member_count = ring->group_count,
        .network_count = ring->network_count,
        .ports = run->ports.port,
        .seconds = rm_sender_ports_paired(&run->ports) ? run->ports.second : NULL,
        .port_count = run->ports.count,
        .udp_checksum = ring->udp_checksum,
        .source = session->source,
        .first_turn = ring->first_turn,
        .turns = session->turns,
        .lock_step = ring->lock_step,
        .max_lag_s = ring->max_lag_s,
        .naps = ring->naps,
        .turn_rate_hz = session->turn_rate_hz,
        .joins = session->joined ? &session->joins : NULL,
    };
    run->duty.state = run;
    setup.hook = (struct rm_sender_hook){.begin = begin_turns, .state = &run->duty};
    if (has_chains(run)) {
        setup.hook.poll = rm_chain_duty_poll;
        setup.hook.has = rm_chain_duty_has;
        setup.hook.forget = rm_chain_duty_forget;
        setup.hook.elsewhere = !shares_ports(run);
    }
    tell_of_waiting(&run->ports, ring);
    struct rm_sender_result result;
    enum rm_code const code = rm_sender_run(&setup, run->tsc_hz, &run->signals.stop, &result, error);
    if (code == RM_OK)
        sum_up(run, &result);
    return code;
}

static void serve_until(struct rm_event_schedule *schedule, rm_turn turn) {
    if (rm_event_schedule_waits(schedule, turn))
        rm_event_schedule_serve(schedule, turn);
}

/** Without instruments turns are time: what is due by now happens. */
static void reach_time(void *state, double time) {
    struct session_run *run = state;
    struct rm_ring_config const *ring = run->session->ring;
    if (time > 0)
        serve_until(run->session->schedule, ring->first_turn + (rm_turn)(time * ring->beam.turn_rate_hz));
}

static void apply_to_chains(void *state, struct rm_ring_event const *event, rm_turn turn, bool begins) {
    struct session_run *run = state;
    struct rm_ring_config const *ring = run->session->ring;
    double const time = (double)(turn - ring->first_turn) / ring->beam.turn_rate_hz;
    rm_event_targets_apply_supplies(&run->duty.chains, event, time, begins);
}

/** A run without instruments. */
static void answer_all(struct session_run *run) {
    struct rm_session const *session = run->session;
    struct rm_sender_result const nothing = {0};
    session->schedule->apply = apply_to_chains;
    session->schedule->state = run;
    run->duty.reach = reach_time;
    bool const ends = session->turns != UINT64_MAX && session->turn_rate_hz > 0;
    rm_chain_duty_run(&run->duty, ends ? (double)session->turns / session->turn_rate_hz : 0, &run->signals.stop);
    sum_up(run, &nothing);
}

static enum rm_code run_chains(struct session_run *run, struct rm_error *error) {
    enum rm_code const code = open_chains(run, error);
    if (code != RM_OK)
        return code;
    answer_all(run);
    rm_chain_duty_close(&run->duty);
    return RM_OK;
}

static enum rm_code run_with_ports(struct session_run *run, struct rm_error *error) {
    enum rm_code code = rm_sender_ports_open(run->session->ring, &run->ports, error);
    if (code != RM_OK)
        return code;
    code = make_members(run, error);
    if (code == RM_OK)
        code = open_chains(run, error);
    if (code == RM_OK)
        code = session_send_all(run, error);
    if (has_chains(run))
        rm_chain_duty_close(&run->duty);
    rm_members_free(&run->members);
    rm_sender_ports_close(&run->ports);
    return code;
}

static enum rm_code run_with_net(struct session_run *run, struct rm_error *error) {
    struct rm_ring_config const *ring = run->session->ring;
    enum rm_code code = RM_OK;
    if (ring->core != RM_RING_ANY_CORE && rm_pin((uint32_t)ring->core, error) != RM_OK)
        code = error->code = RM_E_CONFIG; /* the file or the option says which */
    if (code == RM_OK)
        code = start_session_net(ring, error);
    if (code != RM_OK)
        return code;
    run->tsc_hz = rm_tsc_hz_measure();
    code = ring->instrument_count == 0 ? run_chains(run, error) : run_with_ports(run, error);
    if (needs_net(ring))
        rm_net_stop();
    return code;
}

/** The background begins before this thread keeps to its core, where it would be in the way. In lock-step time stands
 * while this thread looks, so a look has no need of another one. */
static enum rm_code run_with_machine(struct session_run *run, struct rm_error *error) {
    struct rm_machine *machine = run->session->machine;
    double const refresh_s = run->session->ring->machine.refresh_s;
    enum rm_code code = RM_OK;
    if (machine != NULL && run->session->ring->lock_step.period_turns != 0)
        rm_machine_lanes_look_by_turns(run->session->lanes, fmax(refresh_s, LEAST_LOOK_S));
    else if (machine != NULL)
        code = rm_machine_start(machine, refresh_s, error);
    if (code == RM_OK)
        code = run_with_net(run, error);
    if (machine != NULL)
        rm_machine_stop(machine);
    return code;
}

enum rm_code rm_session_run(struct rm_session const *session, struct rm_error *error) {
    struct session_run run = {.session = session};
    rm_signals_block();
    struct rm_machine_lanes *lanes = session->lanes;
    enum rm_code code = rm_publication_open(session->ring, session->fellows, session->turn_rate_hz, session->simulated,
                                            session->machine, session->schedule, &run.publication, error);
    if (code != RM_OK)
        return code;
    if (run.publication.tunes.open)
        lanes->listener = (struct rm_machine_tune_listener){rm_tune_stream_put, &run.publication.tunes};
    code = rm_signals_start(&run.signals, session->seconds, session->simulated ? post_kick : NULL, &run, error);
    if (code == RM_OK) {
        code = run_with_machine(&run, error);
        rm_signals_finish(&run.signals);
    }
    if (lanes != NULL)
        lanes->listener = (struct rm_machine_tune_listener){0};
    rm_publication_close(&run.publication);
    return code;
}
