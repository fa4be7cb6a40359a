// SPDX-License-Identifier: Apache-2.0
#include "engine/server_state.h"

#include <stdlib.h>
#include <string.h>

#include "engine/spread.h"

static double const FOLLOW_SECONDS = 0.01;
static double const SPIN_SECONDS = 200e-6; /**< in simulated time: a ring with a core of its own goes on by then */
static double const HOUSEKEEPING_SECONDS = 0.1;
static double const FRAGMENT_SECONDS = 0.05; /**< a fragment is waited for so long: a 10 kHz group is 500 groups on */

/** Who sends setpoints by the clock knows the machine's turn rate; a clock that learned another from a queue of old
 * turns would have them sent for turns that have not been. Wider than what the transmit role goes by
 * (transmit_clock.c), so that a nominal rate that is wrong shows there. */
static double const RATE_RANGE_WITH_CHAINS = 1.03;

enum { FRAGMENTED_AT_ONCE = 64 }; /**< datagrams in pieces, of one port: each holds RM_LAYOUT_PAYLOAD_MAX bytes */

/** An instrument that is not heard about the clock, for good: one that is sent a turn before its time answers before
 * its time, and a clock that believed it would run away. */
static void exclude(struct rm_instrument *instrument) {
    instrument->counting.tells = false;
    instrument->vote.outlier = instrument->vote.suspect = true;
    rm_fast_path_pause(&instrument->fast_path, true);
}

/** Readbacks of chains have the turns that we sent them: where any other instrument comes to the role, they are asked
 * nothing about the clock, nor shown to it. They take the general path, as all do that are not shown. */
static void exclude_followers(struct rm_server *server, uint32_t role) {
    uint32_t const count = server->config->instrument_count;
    uint16_t queue;
    bool others = false;
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_config_instrument const *wanted = &server->config->instrument[i];
        others |= !wanted->follows && rm_server_role_of(server, wanted->port, wanted->source_ipv4, &queue) == role;
    }
    for (uint32_t i = 0; others && i < count; ++i) {
        struct rm_config_instrument const *wanted = &server->config->instrument[i];
        if (wanted->follows && rm_server_role_of(server, wanted->port, wanted->source_ipv4, &queue) == role)
            exclude(server->instrument[i]);
    }
}

/** The instruments that come to a role, and who of them may vote. */
static void collect_instruments(struct rm_server *server, uint32_t role, struct rm_receive *receive) {
    exclude_followers(server, role);
    for (uint32_t i = 0; i < server->config->instrument_count; ++i) {
        struct rm_config_instrument const *wanted = &server->config->instrument[i];
        uint16_t queue;
        if (rm_server_role_of(server, wanted->port, wanted->source_ipv4, &queue) != role)
            continue;
        struct rm_instrument *instrument = server->instrument[i];
        receive->instrument[receive->instrument_count++] = instrument;
        if (instrument->counting.tells)
            receive->vote[receive->vote_count++] = &instrument->vote;
    }
    if (receive->vote_count > 0)
        return;
    receive->short_counters = true;
    for (uint32_t i = 0; i < receive->instrument_count; ++i)
        receive->vote[receive->vote_count++] = &receive->instrument[i]->vote;
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

static bool allocate_receive(struct rm_receive *receive, uint32_t queues, uint32_t instruments) {
    receive->queue = calloc(queues, sizeof *receive->queue);
    receive->instrument = calloc(instruments, sizeof *receive->instrument);
    receive->vote = calloc(instruments, sizeof *receive->vote);
    receive->touched = calloc(instruments + 1ul, sizeof *receive->touched);
    return receive->queue && receive->instrument && receive->vote && receive->touched;
}

static enum rm_code make_receive(struct rm_server *server, uint32_t index, bool first, struct rm_error *error) {
    struct rm_config const *config = server->config;
    struct rm_config_role const *role = &config->role[index];
    struct rm_receive *receive = rm_server_zeroed(sizeof *receive);
    server->receive[index] = receive;
    if (receive == NULL || !allocate_receive(receive, role->queue_count, config->instrument_count))
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
    bool const tells = first && !rm_server_transmit_tells(server);
    receive->clock = tells ? rm_store_memory(&server->store, server->store.clock) : NULL;
    receive->latency = rm_store_memory(&server->store, server->store.latency[index]);
    receive->core_counters = core_counters(server, role->core);
    return RM_OK;
}

static enum rm_code make_spread(struct rm_server *server, uint32_t index, struct rm_error *error) {
    struct rm_config_role const *role = &server->config->role[index];
    struct rm_spread_role *spread = calloc(1, sizeof *spread + role->queue_count * sizeof spread->port[0]);
    server->spread[index] = spread;
    if (spread == NULL)
        return rm_server_no_memory(error);
    for (; spread->port_count < role->queue_count; ++spread->port_count) {
        struct rm_server_port const *port = &server->port[role->queue[spread->port_count].port];
        spread->port[spread->port_count].port = port->port;
        spread->port[spread->port_count].counters = port->counters;
    }
    return RM_OK;
}

static enum rm_code make_housekeeping(struct rm_server *server, struct rm_error *error) {
    uint32_t const ports = server->config->port_count;
    server->housekeeping = (struct rm_housekeeping){
        .port = calloc(ports, sizeof *server->housekeeping.port),
        .counters = calloc(ports, sizeof *server->housekeeping.counters),
        .port_count = ports,
        .period_ticks = (uint64_t)(HOUSEKEEPING_SECONDS * server->tsc_hz),
    };
    if (server->housekeeping.port == NULL || server->housekeeping.counters == NULL)
        return rm_server_no_memory(error);
    for (uint32_t i = 0; i < ports; ++i) {
        server->housekeeping.port[i] = server->port[i].port;
        server->housekeeping.counters[i] = server->port[i].counters;
    }
    return RM_OK;
}

/** True where the kernel knows the interface, and reports multicast groups itself. */
static bool kernel_reports(enum rm_port_kind kind) {
    return kind == RM_PORT_UDP || kind == RM_PORT_AF_PACKET || kind == RM_PORT_AF_XDP;
}

static struct rm_slow_port slow_port_of(struct rm_server_port const *port, struct rm_config_port const *wanted) {
    return (struct rm_slow_port){
        .port = port->port,
        .kernel = port->kernel,
        .counters = port->counters,
        .answer_ipv4 = wanted->answer_ipv4,
        .vlan = wanted->vlan == RM_CONFIG_ANY_VLAN ? 0 : wanted->vlan,
        .group_count = kernel_reports(wanted->port.kind) ? 0 : wanted->port.group_count,
        .group = wanted->port.group,
    };
}

static enum rm_code make_exception_path(struct rm_server *server, struct rm_error *error) {
    struct rm_config const *config = server->config;
    struct rm_exception_path *exception_path = &server->exception_path;
    exception_path->port = calloc(config->port_count, sizeof *exception_path->port);
    if (exception_path->port == NULL)
        return rm_server_no_memory(error);
    for (uint32_t i = 0; i < config->port_count; ++i)
        if (config->port[i].port.exception_path)
            exception_path->port[exception_path->port_count++] = slow_port_of(&server->port[i], &config->port[i]);
    exception_path->ticks_per_ms = (uint64_t)(server->tsc_hz / 1000);
    rm_exception_path_init(exception_path);
    return RM_OK;
}

static enum rm_code make_role(struct rm_server *server, uint32_t index, bool *first, struct rm_error *error) {
    switch (server->config->role[index].kind) {
    case RM_ROLE_RECEIVE: {
        bool const publishes_clock = *first;
        *first = false;
        return make_receive(server, index, publishes_clock, error);
    }
    case RM_ROLE_SPREAD:
        return make_spread(server, index, error);
    case RM_ROLE_HOUSEKEEPING:
        return make_housekeeping(server, error);
    case RM_ROLE_EXCEPTION_PATH:
        return make_exception_path(server, error);
    case RM_ROLE_TRANSMIT:
        return rm_server_make_transmit(server, error);
    case RM_ROLE_APPLICATION:
        return rm_server_make_application(server, index, error);
    }
    return RM_OK;
}

enum rm_code rm_server_make_roles(struct rm_server *server, struct rm_error *error) {
    bool first = true;
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < server->config->role_count; ++i)
        code = make_role(server, i, &first, error);
    return code;
}

static struct rm_duty duty_of(struct rm_server *server, uint32_t role) {
    switch (server->config->role[role].kind) {
    case RM_ROLE_RECEIVE:
        return (struct rm_duty){rm_receive_duty, server->receive[role]};
    case RM_ROLE_SPREAD:
        return (struct rm_duty){rm_spread_duty, server->spread[role]};
    case RM_ROLE_EXCEPTION_PATH:
        return (struct rm_duty){rm_exception_path_duty, &server->exception_path};
    case RM_ROLE_TRANSMIT:
        return (struct rm_duty){rm_transmit_duty, server->transmit};
    case RM_ROLE_APPLICATION:
        return rm_server_application_duty(server, role);
    case RM_ROLE_HOUSEKEEPING:
        break;
    }
    return (struct rm_duty){rm_housekeeping_duty, &server->housekeeping};
}

/** Roles that answer to one event and not to many: what waits on purpose comes late there. */
static bool hurries(enum rm_role_kind kind) { return kind == RM_ROLE_TRANSMIT || kind == RM_ROLE_APPLICATION; }

static enum rm_code fill_core(struct rm_server *server, uint32_t index, struct rm_error *error) {
    struct rm_config const *config = server->config;
    struct rm_core *core = &server->core[index];
    core->cpu = server->store.core[index];
    core->counters = rm_store_memory(&server->store, server->store.core_counters[index]);
    core->ns_per_tick = 1e9 / server->tsc_hz;
    core->spin_ticks = config->simulated_time ? (uint64_t)(SPIN_SECONDS * server->tsc_hz) : 0;
    core->polling = (struct rm_polling){
        .target_packets = config->polling.target_packets,
        .longest_wait_ticks = (uint64_t)(config->polling.longest_wait_ns * 1e-9 * server->tsc_hz),
    };
    for (uint32_t role = 0; role < config->role_count; ++role) {
        if (config->role[role].core != core->cpu)
            continue;
        if (core->duty_count == RM_CORE_DUTIES_MAX)
            return rm_config_fail_entry(config, error, "roles", role, "core", "core %u has more than %d roles",
                                        core->cpu, RM_CORE_DUTIES_MAX);
        core->duty[core->duty_count++] = duty_of(server, role);
        if (hurries(config->role[role].kind) || config->simulated_time)
            core->polling.target_packets = 0;
    }
    return RM_OK;
}

enum rm_code rm_server_start_cores(struct rm_server *server, struct rm_error *error) {
    server->core = calloc(server->store.core_count, sizeof *server->core);
    if (server->core == NULL)
        return rm_server_no_memory(error);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < server->store.core_count; ++i)
        code = fill_core(server, i, error);
    while (code == RM_OK && server->cores_started < server->store.core_count) {
        code = rm_core_start(&server->core[server->cores_started], &server->stop, error);
        server->cores_started += code == RM_OK;
    }
    return code;
}

void rm_server_stop_cores(struct rm_server *server) {
    atomic_store(&server->stop, true);
    for (uint32_t i = 0; i < server->cores_started; ++i)
        rm_core_join(&server->core[i]);
    free(server->core);
}

/** Of a role that has ended, or never began. */
static void free_receive(struct rm_receive *receive) {
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

void rm_server_free_roles(struct rm_server *server) {
    for (uint32_t i = 0; i < server->config->role_count; ++i) {
        if (server->receive != NULL)
            free_receive(server->receive[i]);
        if (server->spread != NULL)
            free(server->spread[i]);
    }
    free(server->receive);
    free(server->spread);
    free(server->housekeeping.port);
    free(server->housekeeping.counters);
    free(server->exception_path.port);
    rm_server_free_setpoints(server);
}
