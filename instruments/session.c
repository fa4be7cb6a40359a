// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "ending.h"
#include "noise.h"
#include "port_sinks.h"
#include "publish.h"
#include "summary.h"

/** What a run holds; parts are opened in this order and closed in the reverse. */
struct run {
    struct rm_session const *session;
    struct rm_ending ending;
    struct rm_publication publication;
    struct rm_port_sinks sinks;
    struct rm_sender_member *members;
};

static enum rm_code pin(int32_t core, struct rm_error *error) {
    if (core == RM_RING_ANY_CORE)
        return RM_OK;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (core < CPU_SETSIZE)
        CPU_SET((size_t)core, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        return rm_fail(error, RM_E_CONFIG, "cannot run on core %d: %s; `nproc` and `taskset -p $$` say which there are",
                       core, strerror(errno));
    return RM_OK;
}

static enum rm_code start_net(struct rm_port_config const *port, struct rm_error *error) {
    if (port->kind == RM_PORT_UDP)
        return RM_OK;
    struct rm_net_config config = {0};
    snprintf(config.prefix, sizeof config.prefix, "ringmaster-ring-%d", (int)getpid());
    return rm_net_start(&config, error);
}

/** The faults that befall one instrument. */
static enum rm_code make_faults(struct rm_ring_config const *ring, int32_t instrument, rm_counter *counters,
                                struct rm_faults **made, struct rm_error *error) {
    struct rm_fault *faults = calloc(ring->fault_count + 1, sizeof *faults);
    if (faults == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u faults", ring->fault_count);
    uint32_t count = 0;
    for (uint32_t f = 0; f < ring->fault_count; ++f)
        if (ring->faults[f].instrument == RM_RING_ALL || ring->faults[f].instrument == instrument)
            faults[count++] = ring->faults[f].fault;
    uint64_t const key = rm_noise_u64(ring->beam.seed ^ rm_noise_u64((uint64_t)instrument + 1));
    enum rm_code const code = count == 0 ? RM_OK : rm_faults_make(faults, count, key, counters, made, error);
    free(faults);
    return code;
}

static enum rm_code make_members(struct run *run, struct rm_error *error) {
    struct rm_ring_config const *ring = run->session->ring;
    run->members = calloc(ring->instrument_count, sizeof *run->members);
    if (run->members == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u instruments", ring->instrument_count);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < ring->instrument_count && code == RM_OK; ++i) {
        struct rm_sender_member *member = &run->members[i];
        member->instrument = ring->instruments[i];
        member->sink = rm_port_sinks_find(&run->sinks, ring->instruments[i].source_ipv4);
        member->counters = run->publication.counters[i];
        code = make_faults(ring, (int32_t)i, member->counters, &member->faults, error);
    }
    return code;
}

static void free_members(struct run *run) {
    for (uint32_t i = 0; run->members != NULL && i < run->session->ring->instrument_count; ++i)
        rm_faults_free(run->members[i].faults);
    free(run->members);
}

static void tell_of_waiting(struct rm_port_sinks const *sinks, struct rm_port_config const *port) {
    for (uint32_t s = 0; s < sinks->count; ++s)
        if (!sinks->sink[s].link_up(sinks->sink[s].state)) {
            fprintf(stderr, "ringmaster-instruments: waiting for the other end of %s\n",
                    port->kind == RM_PORT_MEMIF ? port->socket_path : port->interface);
            return;
        }
}

static enum rm_code send_all(struct run *run, struct rm_error *error) {
    struct rm_session const *session = run->session;
    struct rm_ring_config const *ring = session->ring;
    struct rm_sender_setup const setup = {
        .members = run->members,
        .member_count = ring->instrument_count,
        .sinks = run->sinks.sink,
        .sink_count = run->sinks.count,
        .flow = ring->flow,
        .udp_checksum = ring->udp_checksum,
        .source = session->source,
        .first_turn = ring->first_turn,
        .turns = session->turns,
        .turn_rate_hz = session->turn_rate_hz,
    };
    struct rm_summary summary = {
        .counters = run->publication.counters,
        .instruments = ring->instrument_count,
        .tsc_hz = rm_tsc_hz_measure(),
        .beam = session->simulated ? &ring->beam : NULL,
    };
    tell_of_waiting(&run->sinks, &ring->port);
    enum rm_code const code = rm_sender_run(&setup, summary.tsc_hz, &run->ending.stop, &summary.result, error);
    if (code != RM_OK)
        return code;
    summary.unsent = rm_port_sinks_unsent(&run->sinks);
    if (session->json)
        rm_summary_print_json(&summary, stdout);
    else
        rm_summary_print(&summary, stdout);
    return RM_OK;
}

static enum rm_code run_with_ports(struct run *run, struct rm_error *error) {
    struct rm_ring_config const *ring = run->session->ring;
    enum rm_code code = rm_port_sinks_open(&ring->port, ring->instruments, ring->instrument_count, &run->sinks, error);
    if (code != RM_OK)
        return code;
    code = make_members(run, error);
    if (code == RM_OK)
        code = send_all(run, error);
    free_members(run);
    rm_port_sinks_close(&run->sinks);
    return code;
}

static enum rm_code run_published(struct run *run, struct rm_error *error) {
    struct rm_session const *session = run->session;
    struct rm_ring_config const *ring = session->ring;
    enum rm_code code =
        rm_publication_open(ring->workspace, ring->instruments, ring->instrument_count, session->turn_rate_hz,
                            session->simulated ? &ring->beam : NULL, &run->publication, error);
    if (code != RM_OK)
        return code;
    code = start_net(&ring->port, error);
    if (code == RM_OK) {
        code = run_with_ports(run, error);
        if (ring->port.kind != RM_PORT_UDP)
            rm_net_stop();
    }
    rm_publication_close(&run->publication);
    return code;
}

enum rm_code rm_session_run(struct rm_session const *session, struct rm_error *error) {
    struct run run = {.session = session};
    enum rm_code code = rm_ending_start(&run.ending, session->seconds, error);
    if (code != RM_OK)
        return code;
    code = pin(session->ring->core, error);
    if (code == RM_OK)
        code = run_published(&run, error);
    rm_ending_finish(&run.ending);
    return code;
}
