// SPDX-License-Identifier: Apache-2.0
#include "engine/server.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "base/zeroed.h"
#include "commands/command_server.h"
#include "config/instrument_rates.h"
#include "engine/server_state.h"
#include "fabric/workspace_leave.h"

enum { NATIVE_COUNTER_BITS = 64 };

enum rm_code rm_server_no_memory(struct rm_error *error) {
    return rm_fail(error, RM_E_NO_SPACE, "no memory for the server's own state");
}

static bool server_allocate(struct rm_server *server, struct rm_config const *config) {
    server->port = calloc(config->port_count, sizeof *server->port);
    server->instrument = calloc(config->instrument_count + 1, sizeof(void *)); // there may be none
    server->role = calloc(config->role_count, sizeof(void *));
    server->place = calloc(config->role_count, sizeof *server->place);
    rm_config_place(config, &server->placement);
    return server->port && server->instrument && server->role && server->place;
}

static struct rm_decimator_input decimator_input(struct rm_config_instrument const *instrument) {
    struct rm_decimator_input input = {.period = instrument->period_turns};
    for (uint32_t i = 0; i < instrument->lane_count; ++i) {
        input.reduction[i] = (uint8_t)instrument->lane[i].reduction;
        if (instrument->lane[i].type == RM_LANE_F32)
            input.float_lanes |= (uint16_t)(1u << i);
    }
    return input;
}

static enum rm_code make_rates(struct rm_server *server, uint32_t index, struct rm_error *error) {
    struct rm_config_instrument const *wanted = &server->config->instrument[index];
    struct rm_store_instrument const *places = &server->store.instrument[index];
    struct rm_rates *rates = &server->instrument[index]->rates;
    struct rm_calibration_compiled const *calibration = server->instrument[index]->calibration;
    struct rm_decimator_input input = decimator_input(wanted);
    if (calibration != NULL)
        input.float_lanes |= calibration->calibrated;
    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    uint32_t const count = rm_instrument_rates(server->config, wanted->period_turns, rate);
    if (!rm_rates_make(rates, rate, count, server->simd, &input, &server->arena))
        return rm_server_no_memory(error);
    for (uint32_t i = 0; i < count; ++i)
        if (!rm_stream_writer_open(&rates->writer[i], rm_store_memory(&server->store, places->rate[i]), UINT64_MAX))
            return rm_server_no_memory(error);
    return RM_OK;
}

static void init_counting(struct rm_counting *counting, struct rm_config_instrument const *wanted,
                          struct rm_layout const *layout) {
    uint32_t const bits = layout == NULL ? NATIVE_COUNTER_BITS : rm_layout_counter_bits(layout);
    rm_counting_init(counting, bits, layout != NULL, wanted->period_turns, wanted->turn_offset);
}

/** The account of each network of a mirrored instrument. */
static enum rm_code make_paths(struct rm_server *server, uint32_t index, struct rm_error *error) {
    struct rm_instrument *made = server->instrument[index];
    for (uint32_t i = 0; server->config->instrument[index].mirror.present && i < RM_NETWORKS; ++i) {
        made->path[i] = rm_zeroed(1, sizeof *made->path[i]);
        if (made->path[i] == NULL ||
            !rm_mirror_path_init(made->path[i],
                                 rm_store_memory(&server->store, server->store.instrument[index].path[i])))
            return rm_server_no_memory(error);
    }
    return RM_OK;
}

static enum rm_code make_instrument(struct rm_server *server, uint32_t index, struct rm_error *error) {
    struct rm_config_instrument const *wanted = &server->config->instrument[index];
    struct rm_config_turn_window const *window = &server->config->turn_window;
    struct rm_store_instrument const *places = &server->store.instrument[index];
    struct rm_instrument *made = rm_arena_take(&server->arena, sizeof *made);
    if (made == NULL)
        return rm_server_no_memory(error);
    server->instrument[index] = made;
    made->counters = rm_store_memory(&server->store, places->counters);
    made->layout = server->config->format[wanted->format].layout;
    made->kind = (uint8_t)wanted->kind;
    made->lane_count = (uint8_t)wanted->lane_count;
    made->calibration = rm_calibrations_compiled(server->store.calibrations, index);
    init_counting(&made->counting, wanted, made->layout);
    made->next_decimated = RM_TURN_NONE;
    made->gap_records = window->gap_turns;
    if (!rm_stream_writer_open(&made->writer, rm_store_memory(&server->store, places->own),
                               (uint64_t)window->late_turns * wanted->period_turns))
        return rm_server_no_memory(error);
    enum rm_code const code = make_rates(server, index, error);
    return code == RM_OK ? make_paths(server, index, error) : code;
}

static enum rm_code make_instruments(struct rm_server *server, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < server->config->instrument_count; ++i)
        code = make_instrument(server, i, error);
    for (uint32_t i = 0; code == RM_OK && i < server->config->instrument_count; ++i)
        rm_server_announce(server, i);
    return code;
}

static enum rm_code open_server_parts(struct rm_server *server, struct rm_error *error) {
    if (!server_allocate(server, server->config))
        return rm_server_no_memory(error);
    server->tsc_hz = rm_tsc_hz_measure();
    server->generation = rm_tai_ns();
    enum rm_code code = rm_store_open(&server->store, server->config, error);
    server->store_open = true;
    if (code == RM_OK)
        code = rm_server_open_ports(server, error);
    if (code == RM_OK)
        code = make_instruments(server, error);
    if (code == RM_OK)
        code = rm_server_steer(server, error);
    if (code == RM_OK)
        code = rm_server_make_router(server, error);
    if (code == RM_OK)
        code = rm_server_make_roles(server, error);
    if (code == RM_OK)
        rm_store_write_parameters(&server->store, server->config, server->simd, rm_net_hugepages());
    return code == RM_OK ? rm_server_publish_roles(server, error) : code;
}

enum rm_code rm_server_open(struct rm_config const *config, enum rm_simd simd, struct rm_server **server,
                            struct rm_error *error) {
    struct rm_server *made = rm_zeroed(1, sizeof *made);
    if (made == NULL) {
        rm_server_no_memory(error);
        return RM_E_NO_SPACE;
    }
    made->config = config;
    made->simd = simd;
    enum rm_code const code = open_server_parts(made, error);
    if (code == RM_OK)
        *server = made;
    else
        rm_server_stop(made);
    return code;
}

static enum rm_code open_telemetry(struct rm_server *server, struct rm_error *error) {
    if (!server->config->dpdk_telemetry)
        return RM_OK;
    server->telemetry = (struct rm_telemetry_view){.config = server->config,
                                                   .store = &server->store,
                                                   .place = server->place,
                                                   .simd = server->simd,
                                                   .huge_pages = rm_net_hugepages(),
                                                   .tsc_hz = server->tsc_hz,
                                                   .started_tsc = rm_tsc()};
    return rm_telemetry_open(rm_telemetry_commands, RM_TELEMETRY_COMMANDS, &server->telemetry, error);
}

enum rm_code rm_server_start(struct rm_config const *config, enum rm_simd simd, struct rm_server **server,
                             struct rm_error *error) {
    struct rm_server *made;
    enum rm_code code = rm_server_open(config, simd, &made, error);
    if (code != RM_OK)
        return code;
    rm_segment_finish(&made->store.segment);
    code = rm_server_start_cores(made, error);
    if (code == RM_OK)
        code = rm_server_start_router(made, error);
    if (code == RM_OK)
        code = rm_server_start_control_thread(made, error);
    if (code == RM_OK)
        code = rm_server_open_applications(made, error);
    if (code == RM_OK)
        code = rm_server_start_commands(made, error);
    if (code == RM_OK)
        code = open_telemetry(made, error);
    if (code == RM_OK)
        *server = made;
    else
        rm_server_stop(made);
    return code;
}

static void free_instrument(struct rm_instrument *instrument) {
    if (instrument == NULL)
        return;
    rm_stream_writer_close(&instrument->writer);
    for (uint32_t i = 0; i < instrument->rates.count; ++i)
        rm_stream_writer_close(&instrument->rates.writer[i]);
    for (unsigned i = 0; i < RM_NETWORKS && instrument->path[i] != NULL; ++i) {
        rm_mirror_path_free(instrument->path[i]);
        free(instrument->path[i]);
    }
}

/** A start that failed touches nothing that the last server left. */
static void leave_workspace(struct rm_server *server) {
    struct rm_segment *const segment = &server->store.segment;
    bool const live = segment->header != NULL &&
                      atomic_load_explicit(&segment->header->state, memory_order_relaxed) == RM_SEGMENT_LIVE;
    if (live && !server->config->keep_after_stop)
        rm_segment_remove(segment);
    rm_store_close(&server->store);
    rm_workspace_leave(server->config->workspace);
}

void rm_server_stop(struct rm_server *server) {
    if (server == NULL)
        return;
    rm_command_server_stop(server->commands);
    rm_telemetry_close();
    rm_server_stop_cores(server);
    rm_server_close_applications(server);
    rm_control_thread_stop(server->control_thread);
    rm_server_free_router(server);
    rm_server_free_roles(server);
    rm_server_free_setpoints(server);
    rm_server_close_ports(server);
    for (uint32_t i = 0; server->instrument != NULL && i < server->config->instrument_count; ++i)
        free_instrument(server->instrument[i]);
    free(server->instrument);
    rm_arena_free(&server->arena);
    if (server->net_started)
        rm_net_stop();
    if (server->store_open)
        leave_workspace(server);
    free(server);
}

bool rm_server_huge_pages(struct rm_server const *server) { return server->net_started && rm_net_hugepages(); }

bool rm_server_adopted(struct rm_server const *server) { return server->store.segment.adopted; }

bool rm_server_turned(struct rm_server *server, unsigned *stuck) {
    return rm_cores_turned(server->core, server->cores_started, stuck);
}
