// SPDX-License-Identifier: Apache-2.0
/* The receive role: its queues, instruments and turn gate, as the configuration has them. What it does is receive.h. */
#include <stdlib.h>

#include "base/zeroed.h"
#include "engine/role.h"
#include "engine/server_state.h"

static double const FOLLOW_SECONDS = 0.01;
static double const FRAGMENT_SECONDS = 0.05; /**< a fragment is waited for so long: a 10 kHz group is 500 groups on */

/** A server that sends setpoints by the clock knows the machine's turn rate; a clock that learned another from a queue
 * of old turns would have them sent for turns that have not been. Wider than what the transmit role goes by
 * (transmit_clock.c), so that a nominal rate that is wrong shows there. */
static double const RATE_RANGE_WITH_CHAINS = 1.03;

enum { FRAGMENTED_AT_ONCE = 64 }; /**< datagrams in pieces, of one port: each holds RM_LAYOUT_PAYLOAD_MAX bytes */

/** An instrument that is not heard about the clock, for good: one that is sent a turn before its time answers before
 * its time, and a clock that believed it would run away. */
static void role_receive_exclude(struct rm_instrument *instrument) {
    instrument->counting.tells = false;
    instrument->vote.outlier = instrument->vote.suspect = true;
    rm_fast_path_pause(&instrument->fast_path, true);
}

/** An instrument that comes to the role; NULL where it comes to another one. */
static struct rm_instrument *instrument_of_role(struct rm_server *server, uint32_t role, uint32_t index) {
    struct rm_config_instrument const *wanted = &server->config->instrument[index];
    uint16_t queue;
    return rm_server_role_of(server, wanted->port, wanted->source_ipv4, &queue) == role ? server->instrument[index]
                                                                                        : NULL;
}

/** Readbacks of chains have the turns that we sent them: where any other instrument comes to the role, they are asked
 * nothing about the clock, nor shown to it. They take the general path, as all do that are not shown. */
static void exclude_followers(struct rm_server *server, uint32_t role) {
    struct rm_config const *const config = server->config;
    bool others = false;
    for (uint32_t i = 0; i < config->instrument_count; ++i)
        others |= !config->instrument[i].follows && instrument_of_role(server, role, i) != NULL;
    for (uint32_t i = 0; others && i < config->instrument_count; ++i) {
        struct rm_instrument *const instrument = instrument_of_role(server, role, i);
        if (instrument != NULL && config->instrument[i].follows)
            role_receive_exclude(instrument);
    }
}

/** The instruments that come to a role, and which of them may vote. */
static void collect_instruments(struct rm_server *server, uint32_t role, struct rm_receive *receive) {
    uint64_t longest_lap = 0;
    exclude_followers(server, role);
    for (uint32_t i = 0; i < server->config->instrument_count; ++i) {
        struct rm_instrument *const instrument = instrument_of_role(server, role, i);
        if (instrument == NULL)
            continue;
        receive->instrument[receive->instrument_count++] = instrument;
        if (instrument->counting.tells)
            receive->vote[receive->vote_count++] = &instrument->vote;
        else if (instrument->counting.lap_turns > longest_lap)
            longest_lap = instrument->counting.lap_turns;
    }
    if (receive->vote_count > 0)
        return;
    receive->anchor_lap_turns = longest_lap;
    for (uint32_t i = 0; i < server->config->instrument_count; ++i) {
        struct rm_instrument *const instrument = instrument_of_role(server, role, i);
        if (instrument != NULL && instrument->counting.lap_turns == longest_lap)
            receive->vote[receive->vote_count++] = &instrument->vote;
    }
}

/** The reassembly that a queue before this one has for the same port, or NULL. */
static struct rm_reassembly *shared_reassembly(struct rm_receive const *receive, uint32_t index) {
    for (uint32_t i = 0; i < index; ++i)
        if (receive->queue[i].port == receive->queue[index].port)
            return receive->queue[i].reassembly;
    return NULL;
}

/** The fragments of a port, shared by its queues. */
static struct rm_reassembly *reassembly_of(struct rm_server const *server, struct rm_receive const *receive,
                                           uint32_t index) {
    struct rm_reassembly *shared = shared_reassembly(receive, index);
    if (shared != NULL)
        return shared;
    return rm_reassembly_new(FRAGMENTED_AT_ONCE, RM_LAYOUT_PAYLOAD_MAX + 8,
                             (uint64_t)(FRAGMENT_SECONDS * server->tsc_hz));
}

static enum rm_code fill_queues(struct rm_server *server, struct rm_config_role const *role, struct rm_receive *receive,
                                struct rm_error *error) {
    for (uint32_t i = 0; i < role->queue_count; ++i) {
        struct rm_config_port const *wanted = &server->config->port[role->queue[i].port];
        struct rm_server_port *port = &server->port[role->queue[i].port];
        receive->queue[i] = (struct rm_receive_queue){
            .port = port->port,
            .queue = role->queue[i].queue,
            .framing = rm_port_framing(port->port),
            .vlan = wanted->vlan,
            .local_senders = wanted->local_senders,
            .exception_path = wanted->port.exception_path,
            .counters = port->counters,
            .format_count = port->format_count,
            .format = port->format,
            .identities = &port->identities,
        };
        receive->queue[i].reassembly = reassembly_of(server, receive, i);
        if (receive->queue[i].reassembly == NULL)
            return rm_server_no_memory(error);
        receive->queue_count = i + 1;
    }
    return RM_OK;
}

/** Counters of the core that a role runs on. */
static rm_counter *core_counters(struct rm_server const *server, uint32_t core) {
    uint32_t i = 0;
    while (server->store.core[i] != core)
        ++i;
    return rm_store_memory(&server->store, server->store.core_counters[i]);
}

static bool receive_allocate(struct rm_receive *receive, uint32_t queues, uint32_t instruments) {
    receive->queue = calloc(queues, sizeof *receive->queue);
    receive->instrument = calloc(instruments, sizeof *receive->instrument);
    receive->vote = calloc(instruments, sizeof *receive->vote);
    receive->touched = calloc(instruments + 1ul, sizeof *receive->touched);
    return receive->queue && receive->instrument && receive->vote && receive->touched;
}

/** The clock of the first receive role is the one that is published. */
static bool is_first(struct rm_config const *config, uint32_t role) {
    for (uint32_t i = 0; i < role; ++i)
        if (config->role[i].kind == RM_ROLE_RECEIVE)
            return false;
    return true;
}

static enum rm_code receive_make(struct rm_server *server, uint32_t index, void **made, struct rm_error *error) {
    struct rm_config const *config = server->config;
    struct rm_config_role const *role = &config->role[index];
    struct rm_receive *receive = rm_zeroed(1, sizeof *receive);
    *made = receive;
    if (receive == NULL || !receive_allocate(receive, role->queue_count, config->instrument_count))
        return rm_server_no_memory(error);
    enum rm_code const code = fill_queues(server, role, receive, error);
    if (code != RM_OK)
        return code;
    receive->first_count = role->first_count;
    collect_instruments(server, index, receive);
    receive->take_burst = rm_fast_path_burst_for(server->simd);
    struct rm_gate_config const gate = {
        .turn_rate_hz = config->turn_rate_hz,
        .tsc_hz = server->tsc_hz,
        .rate_range = config->chain_count > 0 ? RATE_RANGE_WITH_CHAINS : 0,
        .follows = config->simulated_time,
        .ahead_turns = config->turn_window.ahead_turns,
        .phase_turns = config->turn_window.phase_turns,
        .silence_turns = config->turn_window.silence_turns,
        .quorum = config->turn_window.quorum,
    };
    rm_turn_gate_init(&receive->gate, &gate, rm_store_memory(&server->store, server->store.gate_counters[index]));
    receive->follow_ticks = (uint64_t)(FOLLOW_SECONDS * server->tsc_hz);
    bool const tells = is_first(config, index) && !rm_server_transmit_tells(server);
    receive->clock = tells ? rm_store_memory(&server->store, server->store.clock) : NULL;
    receive->latency = rm_store_memory(&server->store, server->store.latency[index]);
    receive->core_counters = core_counters(server, role->core);
    return RM_OK;
}

static void receive_arrive(void *made, rm_counter *core_counters) {
    struct rm_receive *const receive = made;
    receive->core_counters = core_counters;
}

/** Of a role that has ended, or never began. */
static void receive_free(void *made) {
    struct rm_receive *const receive = made;
    if (receive == NULL)
        return;
    rm_receive_flush(receive, 0);
    for (uint32_t i = 0; i < receive->queue_count; ++i)
        if (shared_reassembly(receive, i) == NULL)
            rm_reassembly_free(receive->queue[i].reassembly);
    free(receive->queue);
    free(receive->instrument);
    free(receive->vote);
    free(receive->touched);
    free(receive);
}

struct rm_role const rm_role_receive = {
    .make = receive_make, .duty = rm_receive_duty, .arrive = receive_arrive, .free = receive_free};
