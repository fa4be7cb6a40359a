// SPDX-License-Identifier: Apache-2.0
#include "engine/server.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "engine/core.h"
#include "engine/housekeeping.h"
#include "engine/receive.h"
#include "engine/store.h"

enum { INSTRUMENT_IDS = 65536 };

static double const FOLLOW_SECONDS = 0.01;
static double const HOUSEKEEPING_SECONDS = 0.1;

struct rm_server {
    struct rm_config const *config;
    double tsc_hz;
    struct rm_store store;
    bool store_open;
    bool net_started;
    struct rm_port **port;             /**< as config->port; NULL until opened */
    rm_counter **port_counters;        /**< as config->port */
    struct rm_instrument ***by_id;     /**< as config->port: 65536 pointers each */
    struct rm_instrument **instrument; /**< as config->instrument */
    struct rm_receive **receive;       /**< as config->role; NULL for other roles */
    struct rm_housekeeping housekeeping;
    struct rm_core *core; /**< as store.core */
    uint32_t cores_started;
    atomic_bool stop;
};

static void *zeroed(size_t bytes) {
    size_t const whole = (bytes + RM_CACHE_LINE - 1) / RM_CACHE_LINE * RM_CACHE_LINE;
    void *memory = aligned_alloc(RM_CACHE_LINE, whole);
    return memory != NULL ? memset(memory, 0, whole) : NULL;
}

static enum rm_code no_memory(struct rm_error *error) {
    return rm_fail(error, RM_E_NO_SPACE, "no memory for the server's own state");
}

static bool allocate(struct rm_server *server, struct rm_config const *config) {
    server->port = calloc(config->port_count, sizeof(void *));
    server->port_counters = calloc(config->port_count, sizeof(void *));
    server->by_id = calloc(config->port_count, sizeof(void *));
    server->instrument = calloc(config->instrument_count, sizeof(void *));
    server->receive = calloc(config->role_count, sizeof(void *));
    if (!server->port || !server->port_counters || !server->by_id || !server->instrument || !server->receive)
        return false;
    for (uint32_t i = 0; i < config->port_count; ++i)
        if ((server->by_id[i] = calloc(INSTRUMENT_IDS, sizeof(void *))) == NULL)
            return false;
    return true;
}

static enum rm_code open_ports(struct rm_server *server, struct rm_error *error) {
    struct rm_config const *config = server->config;
    struct rm_net_config net = {0};
    /* The workspace tells servers on one machine apart, so it does for DPDK too. */
    strcpy(net.prefix, "rm-");
    strncat(net.prefix, config->workspace, sizeof net.prefix - 4);
    enum rm_code code = rm_net_start(&net, error);
    if (code != RM_OK)
        return code;
    server->net_started = true;
    for (uint32_t i = 0; i < config->port_count; ++i) {
        struct rm_error reason = {0};
        code = rm_port_open(&config->port[i].port, &server->port[i], &reason);
        if (code != RM_OK)
            return rm_config_fail_entry(config, error, "ports", i, NULL, "%s", reason.text);
        server->port_counters[i] = rm_store_memory(&server->store, server->store.port_counters[i]);
    }
    return RM_OK;
}

static uint16_t float_lanes(struct rm_config_instrument const *instrument) {
    uint16_t lanes = 0;
    for (uint32_t i = 0; i < instrument->lane_count; ++i)
        if (instrument->lane[i].type == RM_LANE_F32)
            lanes |= (uint16_t)(1u << i);
    return lanes;
}

static enum rm_code make_instrument(struct rm_server *server, uint32_t index, struct rm_error *error) {
    struct rm_config_instrument const *wanted = &server->config->instrument[index];
    struct rm_config_turn_window const *window = &server->config->turn_window;
    struct rm_store_instrument const *places = &server->store.instrument[index];
    struct rm_instrument *made = zeroed(sizeof *made);
    if (made == NULL)
        return no_memory(error);
    server->instrument[index] = made;
    made->counters = rm_store_memory(&server->store, places->counters);
    made->source_ipv4 = wanted->source_ipv4;
    made->id = wanted->id;
    made->kind = (uint8_t)wanted->kind;
    made->lane_count = (uint8_t)wanted->lane_count;
    made->turn_offset = wanted->turn_offset;
    made->next_decimated = RM_TURN_NONE;
    made->gap_turns = window->gap_turns;
    if (!rm_stream_writer_open(&made->writer, rm_store_memory(&server->store, places->turn), window->late_turns))
        return no_memory(error);
    for (unsigned i = 0; i < RM_CHAINS; ++i) {
        struct rm_chain *chain = &made->chain[i];
        rm_decimator_init(&chain->decimator, rm_store_chain_design(i), rm_simd_best(), float_lanes(wanted));
        if (!rm_stream_writer_open(&chain->writer, rm_store_memory(&server->store, places->chain[i]),
                                   window->late_turns))
            return no_memory(error);
    }
    rm_receive_index(server->by_id[wanted->port], made);
    return RM_OK;
}

static enum rm_code make_instruments(struct rm_server *server, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < server->config->instrument_count; ++i)
        code = make_instrument(server, i, error);
    return code;
}

static bool polls(struct rm_config_role const *role, uint32_t port) {
    for (uint32_t i = 0; i < role->queue_count; ++i)
        if (role->queue[i].port == port)
            return true;
    return false;
}

/** The instruments that a role's queues deliver, with their votes. */
static void collect_instruments(struct rm_server *server, struct rm_config_role const *role,
                                struct rm_receive *receive) {
    for (uint32_t i = 0; i < server->config->instrument_count; ++i) {
        if (!polls(role, server->config->instrument[i].port))
            continue;
        receive->instrument[receive->instrument_count] = server->instrument[i];
        receive->vote[receive->instrument_count] = &server->instrument[i]->vote;
        ++receive->instrument_count;
    }
}

static void fill_queues(struct rm_server *server, struct rm_config_role const *role, struct rm_receive *receive) {
    receive->queue_count = role->queue_count;
    for (uint32_t i = 0; i < role->queue_count; ++i) {
        uint32_t const port = role->queue[i].port;
        receive->queue[i] = (struct rm_receive_queue){
            .port = server->port[port],
            .queue = role->queue[i].queue,
            .udp_port = server->config->port[port].udp_port,
            .framing = rm_port_framing(server->port[port]),
            .counters = server->port_counters[port],
            .by_id = server->by_id[port],
        };
    }
}

/** Counters of the core that a role runs on. */
static rm_counter *core_counters(struct rm_server const *server, uint32_t core) {
    uint32_t i = 0;
    while (server->store.core[i] != core)
        ++i;
    return rm_store_memory(&server->store, server->store.core_counters[i]);
}

static enum rm_code make_receive(struct rm_server *server, uint32_t index, bool first, struct rm_error *error) {
    struct rm_config const *config = server->config;
    struct rm_config_role const *role = &config->role[index];
    struct rm_receive *receive = zeroed(sizeof *receive);
    if (receive == NULL)
        return no_memory(error);
    server->receive[index] = receive;
    receive->queue = calloc(role->queue_count, sizeof *receive->queue);
    receive->instrument = calloc(config->instrument_count, sizeof *receive->instrument);
    receive->vote = calloc(config->instrument_count, sizeof *receive->vote);
    receive->touched = calloc(config->instrument_count, sizeof *receive->touched);
    if (!receive->queue || !receive->instrument || !receive->vote || !receive->touched)
        return no_memory(error);
    fill_queues(server, role, receive);
    collect_instruments(server, role, receive);
    struct rm_gate_config const gate = {
        .turn_rate_hz = config->turn_rate_hz,
        .tsc_hz = server->tsc_hz,
        .ahead_turns = config->turn_window.ahead_turns,
        .silence_turns = config->turn_window.silence_turns,
        .quorum = config->turn_window.quorum,
    };
    rm_turn_gate_init(&receive->gate, &gate, rm_store_memory(&server->store, server->store.gate_counters[index]));
    receive->follow_ticks = (uint64_t)(FOLLOW_SECONDS * server->tsc_hz);
    receive->clock = first ? rm_store_memory(&server->store, server->store.clock) : NULL;
    receive->latency = rm_store_memory(&server->store, server->store.latency[index]);
    receive->core_counters = core_counters(server, role->core);
    return RM_OK;
}

static enum rm_code make_roles(struct rm_server *server, struct rm_error *error) {
    bool first = true;
    for (uint32_t i = 0; i < server->config->role_count; ++i) {
        if (server->config->role[i].kind != RM_ROLE_RECEIVE)
            continue;
        enum rm_code const code = make_receive(server, i, first, error);
        if (code != RM_OK)
            return code;
        first = false;
    }
    server->housekeeping = (struct rm_housekeeping){
        .port = server->port,
        .counters = server->port_counters,
        .port_count = server->config->port_count,
        .period_ticks = (uint64_t)(HOUSEKEEPING_SECONDS * server->tsc_hz),
    };
    return RM_OK;
}

static enum rm_code add_duty(struct rm_server *server, struct rm_core *core, uint32_t role, struct rm_error *error) {
    if (core->duty_count == RM_CORE_DUTIES_MAX)
        return rm_config_fail_entry(server->config, error, "roles", role, "core", "core %u has more than %d roles",
                                    core->cpu, RM_CORE_DUTIES_MAX);
    core->duty[core->duty_count++] = server->config->role[role].kind == RM_ROLE_RECEIVE
                                         ? (struct rm_duty){rm_receive_duty, server->receive[role]}
                                         : (struct rm_duty){rm_housekeeping_duty, &server->housekeeping};
    return RM_OK;
}

static enum rm_code start_cores(struct rm_server *server, struct rm_error *error) {
    server->core = calloc(server->store.core_count, sizeof *server->core);
    if (server->core == NULL)
        return no_memory(error);
    for (uint32_t i = 0; i < server->store.core_count; ++i) {
        struct rm_core *core = &server->core[i];
        core->cpu = server->store.core[i];
        core->counters = rm_store_memory(&server->store, server->store.core_counters[i]);
        for (uint32_t role = 0; role < server->config->role_count; ++role) {
            if (server->config->role[role].core != core->cpu)
                continue;
            enum rm_code const code = add_duty(server, core, role, error);
            if (code != RM_OK)
                return code;
        }
    }
    for (; server->cores_started < server->store.core_count; ++server->cores_started) {
        enum rm_code const code = rm_core_start(&server->core[server->cores_started], &server->stop, error);
        if (code != RM_OK)
            return code;
    }
    return RM_OK;
}

static enum rm_code start(struct rm_server *server, struct rm_error *error) {
    if (!allocate(server, server->config))
        return no_memory(error);
    server->tsc_hz = rm_tsc_hz_measure();
    enum rm_code code = rm_store_open(&server->store, server->config, error);
    server->store_open = true;
    if (code == RM_OK)
        code = open_ports(server, error);
    if (code == RM_OK)
        code = make_instruments(server, error);
    if (code == RM_OK)
        code = make_roles(server, error);
    if (code != RM_OK)
        return code;
    rm_store_write_parameters(&server->store, server->config, rm_net_hugepages());
    rm_segment_finish(&server->store.segment);
    return start_cores(server, error);
}

enum rm_code rm_server_start(struct rm_config const *config, struct rm_server **server, struct rm_error *error) {
    struct rm_server *made = zeroed(sizeof *made);
    if (made == NULL)
        return no_memory(error);
    made->config = config;
    enum rm_code const code = start(made, error);
    if (code == RM_OK)
        *server = made;
    else
        rm_server_stop(made);
    return code;
}

static void free_receive(struct rm_receive *receive) {
    if (receive == NULL)
        return;
    free(receive->queue);
    free(receive->instrument);
    free(receive->vote);
    free(receive->touched);
    free(receive);
}

static void free_instrument(struct rm_instrument *instrument) {
    if (instrument == NULL)
        return;
    rm_stream_writer_close(&instrument->writer);
    for (unsigned i = 0; i < RM_CHAINS; ++i)
        rm_stream_writer_close(&instrument->chain[i].writer);
    free(instrument);
}

void rm_server_stop(struct rm_server *server) {
    if (server == NULL)
        return;
    struct rm_config const *config = server->config;
    atomic_store(&server->stop, true);
    for (uint32_t i = 0; i < server->cores_started; ++i)
        rm_core_join(&server->core[i]);
    for (uint32_t i = 0; server->port != NULL && i < config->port_count; ++i)
        if (server->port[i] != NULL)
            rm_port_close(server->port[i]);
    for (uint32_t i = 0; server->receive != NULL && i < config->role_count; ++i)
        free_receive(server->receive[i]);
    for (uint32_t i = 0; server->instrument != NULL && i < config->instrument_count; ++i)
        free_instrument(server->instrument[i]);
    for (uint32_t i = 0; server->by_id != NULL && i < config->port_count; ++i)
        free(server->by_id[i]);
    if (server->net_started)
        rm_net_stop();
    if (server->store_open)
        rm_store_close(&server->store);
    free(server->port);
    free(server->port_counters);
    free(server->by_id);
    free(server->instrument);
    free(server->receive);
    free(server->core);
    free(server);
}

bool rm_server_huge_pages(struct rm_server const *server) { return server->net_started && rm_net_hugepages(); }

bool rm_server_adopted(struct rm_server const *server) { return server->store.segment.adopted; }
