// SPDX-License-Identifier: Apache-2.0
#include "engine/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "config/instrument_rates.h"
#include "engine/store_setpoints.h"
#include "engine/version.h"
#include <ringmaster/parameter.h>

enum { OBJECT_NAME_BYTES = 96, PARAMETER_TEXT_BYTES = 32, STEERING_LINE_BYTES = 128, ROLE_LINE_BYTES = 80 };

static struct rm_stream stream_of(struct rm_config const *config, struct rm_config_instrument const *instrument) {
    struct rm_stream stream = {
        .capacity = rm_instrument_records(config, instrument->period_turns),
        .period = instrument->period_turns,
        .instrument_kind = instrument->kind,
        .instrument_id = instrument->id,
        .source_ipv4 = instrument->source_ipv4,
        .lane_count = instrument->lane_count,
        .gain = 1.0,
        .filter = "none",
    };
    memcpy(stream.lane, instrument->lane, sizeof stream.lane);
    return stream;
}

/** What a rate makes of the records of `source`: the same lanes, those that are filtered as f32; delays and gains of
 * all filters on the way. */
static struct rm_stream decimated_of(struct rm_stream const *source, struct rm_config_rate const *rate) {
    struct rm_stream stream = *source;
    stream.capacity = rate->records;
    for (uint32_t i = 0; i < rate->stage_count; ++i) {
        struct rm_fir_design const *design = rate->stage[i];
        stream.group_delay_turns += (double)(design->centre * stream.period);
        stream.closing_delay_turns = stream.group_delay_turns;
        stream.gain *= design->gain;
        stream.period *= design->decimation;
    }
    snprintf(stream.filter, sizeof stream.filter, "%s", rate->stage[0]->name);
    for (uint32_t i = 0; i < stream.lane_count; ++i)
        if (stream.lane[i].reduction == RM_REDUCE_FIR)
            stream.lane[i].type = RM_LANE_F32;
    return stream;
}

static void plan_rates(struct rm_store *store, struct rm_config const *config, uint32_t index,
                       struct rm_stream const *own) {
    struct rm_config_instrument const *instrument = &config->instrument[index];
    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    struct rm_stream stream[RM_CONFIG_RATES_MAX];
    uint32_t const count = rm_instrument_rates(config, instrument->period_turns, rate);
    char name[OBJECT_NAME_BYTES], about[RM_DESCRIPTION_BYTES];
    for (uint32_t i = 0; i < count; ++i) {
        stream[i] = decimated_of(rate[i].from == RM_CONFIG_FROM_TURN ? own : &stream[rate[i].from], &rate[i]);
        snprintf(name, sizeof name, "%s/%.*s", instrument->name, RM_CONFIG_NAME_BYTES - 1, rate[i].name);
        snprintf(about, sizeof about, "%s %u, one record per %u turns, %s filter",
                 rm_config_instrument_kind_name(instrument->kind), instrument->id, rate[i].period, stream[i].filter);
        store->instrument[index].rate[i] = rm_plan_stream(&store->plan, name, about, &stream[i]);
    }
}

static void plan_instrument(struct rm_store *store, struct rm_config const *config, uint32_t index) {
    struct rm_config_instrument const *instrument = &config->instrument[index];
    struct rm_store_instrument *places = &store->instrument[index];
    char const *kind = rm_config_instrument_kind_name(instrument->kind);
    char name[OBJECT_NAME_BYTES], about[RM_DESCRIPTION_BYTES];
    struct rm_stream own = stream_of(config, instrument);
    rm_calibrations_state(store->calibrations, index, &own);
    snprintf(name, sizeof name, "%s/%s", instrument->name, rm_instrument_own_rate(instrument->period_turns));
    snprintf(about, sizeof about, "%s %u, %s as it came", kind, instrument->id,
             instrument->period_turns == 1 ? "every turn" : "every record");
    places->own = rm_plan_stream(&store->plan, name, about, &own);
    plan_rates(store, config, index, &own);
    snprintf(name, sizeof name, "counters/stream/%s", instrument->name);
    snprintf(about, sizeof about, "what became of the datagrams of %s", instrument->name);
    places->counters = rm_plan_counters(&store->plan, name, about, RM_COUNTER_SET_STREAM, RM_STREAM_COUNTERS);
}

/** The counters of each network of a mirrored instrument. */
static void plan_paths(struct rm_store *store, struct rm_config const *config, uint32_t index) {
    struct rm_config_instrument const *instrument = &config->instrument[index];
    uint32_t const port[RM_NETWORKS] = {instrument->port, instrument->mirror.port};
    for (uint32_t i = 0; instrument->mirror.present && i < RM_NETWORKS; ++i) {
        char name[OBJECT_NAME_BYTES];
        snprintf(name, sizeof name, "counters/path/%s/%s", instrument->name, config->port[port[i]].port.name);
        store->instrument[index].path[i] = rm_plan_counters(&store->plan, name, "what one of two networks brought",
                                                            RM_COUNTER_SET_PATH, RM_PATH_COUNTERS);
    }
}

static void plan_roles(struct rm_store *store, struct rm_config const *config) {
    char name[OBJECT_NAME_BYTES];
    for (uint32_t i = 0; i < config->role_count; ++i) {
        if (config->role[i].kind != RM_ROLE_RECEIVE)
            continue;
        snprintf(name, sizeof name, "counters/clock/%u", i);
        store->gate_counters[i] = rm_plan_counters(&store->plan, name, "the turn clock of a receive role",
                                                   RM_COUNTER_SET_CLOCK, RM_CLOCK_COUNTERS);
        snprintf(name, sizeof name, "latency/receive/%u", i);
        store->latency[i] =
            rm_plan_histogram(&store->plan, name, "from the arrival of a burst to its records being visible", "ticks");
    }
    for (uint32_t i = 0; i < store->core_count; ++i) {
        snprintf(name, sizeof name, "counters/core/%u", store->core[i]);
        store->core_counters[i] =
            rm_plan_counters(&store->plan, name, "the duty cycle of one core", RM_COUNTER_SET_CORE, RM_CORE_COUNTERS);
    }
}

static void plan_ports(struct rm_store *store, struct rm_config const *config) {
    for (uint32_t i = 0; i < config->port_count; ++i) {
        char name[OBJECT_NAME_BYTES];
        if (config->port[i].cameras)
            continue; /* their receiver counts */
        snprintf(name, sizeof name, "counters/port/%s", config->port[i].port.name);
        store->port_counters[i] = rm_plan_counters(&store->plan, name, "what happened to every datagram of the port",
                                                   RM_COUNTER_SET_PORT, RM_PORT_COUNTERS);
    }
}

static void plan_generator(struct rm_store *store, char const *port, struct rm_store_generator *generator) {
    char name[OBJECT_NAME_BYTES];
    snprintf(name, sizeof name, "latency/generator/%s", port);
    generator->latency = rm_plan_histogram(&store->plan, name, "from a frame's stamp to its arrival here", "ticks");
    snprintf(name, sizeof name, "jitter/generator/%s", port);
    generator->jitter = rm_plan_histogram(
        &store->plan, name, "by how much the time between two sends was longer or shorter than the pace", "ticks");
}

/** What a role that generates or forwards counts of each of its ports. */
static void plan_traffic(struct rm_store *store, struct rm_config const *config, uint32_t role, uint32_t port) {
    char name[OBJECT_NAME_BYTES];
    rm_planned_index *const counters = &store->traffic_counters[role * config->port_count + port];
    char const *const port_name = config->port[port].port.name;
    if (config->role[role].kind == RM_ROLE_GENERATE) {
        snprintf(name, sizeof name, "counters/generator/%s", port_name);
        *counters = rm_plan_counters(&store->plan, name, "what a generator sent by the port and took there",
                                     RM_COUNTER_SET_GENERATOR, RM_GENERATOR_COUNTERS);
        plan_generator(store, port_name, &store->generator[role * config->port_count + port]);
    } else {
        snprintf(name, sizeof name, "counters/forward/%s/%u", port_name, role);
        *counters = rm_plan_counters(&store->plan, name, "what became of the frames of the port in one role",
                                     RM_COUNTER_SET_FORWARD, RM_FORWARD_COUNTERS);
    }
}

static void plan_traffic_roles(struct rm_store *store, struct rm_config const *config) {
    for (uint32_t i = 0; i < config->role_count; ++i)
        for (uint32_t port = 0; port < config->port_count; ++port)
            if ((config->role[i].kind == RM_ROLE_GENERATE && rm_config_role_polls(&config->role[i], port)) ||
                (config->role[i].kind == RM_ROLE_FORWARD && rm_config_is_forwarded(config, port))) // it sends there
                plan_traffic(store, config, i, port);
    if (config->router != NULL)
        store->router_counters = rm_plan_counters(&store->plan, "counters/router", "the control side of the router",
                                                  RM_COUNTER_SET_ROUTER, RM_ROUTER_COUNTERS);
}

static void plan_parameters(struct rm_store *store, struct rm_config const *config) {
    struct rm_segment_plan *plan = &store->plan;
    store->version = rm_plan_parameter(plan, "server/version", "utf-8", "version of the server", RM_ELEMENT_U8,
                                       PARAMETER_TEXT_BYTES, NULL);
    store->turn_rate_hz =
        rm_plan_parameter(plan, "server/turn_rate_hz", "Hz", "nominal revolution frequency", RM_ELEMENT_F64, 1, NULL);
    store->simulated_time = rm_plan_parameter(
        plan, "server/simulated_time", "", "1 when a virtual ring's time waits for the loop", RM_ELEMENT_U32, 1, NULL);
    store->huge_pages = rm_plan_parameter(plan, "server/huge_pages", "", "1 when packet buffers are on huge pages",
                                          RM_ELEMENT_U32, 1, NULL);
    store->simd = rm_plan_parameter(plan, "server/simd", "utf-8", "instruction set of the filters", RM_ELEMENT_U8,
                                    PARAMETER_TEXT_BYTES, NULL);
    store->steering =
        rm_plan_parameter(plan, "server/steering", "utf-8", "lines of: instrument, port, queue, role, core, who steers",
                          RM_ELEMENT_U8, (size_t)RM_NETWORKS * STEERING_LINE_BYTES * config->instrument_count, NULL);
    store->roles = rm_plan_parameter(
        plan, "server/roles", "utf-8",
        "lines of: role, kind, core, how often it moved, ns for which it stood still when it moved last", RM_ELEMENT_U8,
        (size_t)ROLE_LINE_BYTES * config->role_count, NULL);
    store->replies =
        rm_plan_replies(plan, "server/replies", "what was answered to those who asked for a parameter to be set");
}

static void add_core(struct rm_store *store, uint32_t core) {
    uint32_t at = 0;
    while (at < store->core_count && store->core[at] < core)
        ++at;
    if (at < store->core_count && store->core[at] == core)
        return;
    memmove(&store->core[at + 1], &store->core[at], (store->core_count - at) * sizeof *store->core);
    store->core[at] = core;
    ++store->core_count;
}

static void collect_cores(struct rm_store *store, struct rm_config const *config) {
    for (uint32_t i = 0; i < config->role_count; ++i)
        add_core(store, config->role[i].core);
    for (uint32_t i = 0; i < config->spare_core_count; ++i)
        add_core(store, config->spare_core[i]);
}

static bool store_allocate(struct rm_store *store, struct rm_config const *config) {
    store->instrument = calloc(config->instrument_count + 1, sizeof *store->instrument); // there may be none
    store->port_counters = calloc(config->port_count, sizeof *store->port_counters);
    store->traffic_counters = calloc((size_t)config->role_count * config->port_count, sizeof *store->traffic_counters);
    store->generator = calloc((size_t)config->role_count * config->port_count, sizeof *store->generator);
    store->gate_counters = calloc(config->role_count, sizeof *store->gate_counters);
    store->latency = calloc(config->role_count, sizeof *store->latency);
    uint32_t const cores = config->role_count + config->spare_core_count;
    store->core_counters = calloc(cores, sizeof *store->core_counters);
    store->core = calloc(cores + 1, sizeof *store->core);
    return store->instrument && store->port_counters && store->traffic_counters && store->generator &&
           store->gate_counters && store->latency && store->core_counters && store->core;
}

enum rm_code rm_store_open(struct rm_store *store, struct rm_config const *config, struct rm_error *error) {
    *store = (struct rm_store){.segment = {.lock_file = -1}};
    rm_plan_init(&store->plan);
    if (!store_allocate(store, config))
        return rm_fail(error, RM_E_NO_SPACE, "no memory to plan %u instruments", config->instrument_count);
    enum rm_code const code = rm_calibrations_load(config, &store->calibrations, error);
    if (code != RM_OK)
        return code;
    collect_cores(store, config);
    rm_calibrations_plan(store->calibrations, &store->plan);
    store->clock = rm_plan_clock(&store->plan, "clock", "turn, TSC and TAI");
    plan_parameters(store, config);
    if (!rm_store_plan_setpoints(&store->plan, config))
        return rm_fail(error, RM_E_NO_SPACE, "no memory to plan %u supplies", config->supply_count);
    plan_ports(store, config);
    plan_traffic_roles(store, config);
    plan_roles(store, config);
    for (uint32_t i = 0; i < config->instrument_count; ++i) {
        plan_instrument(store, config, i);
        plan_paths(store, config, i);
    }
    rm_plan_text(&store->plan, "server/config", "the configuration file", config->text != NULL ? config->text : "");
    return rm_segment_open(config->workspace, "server", &store->plan, &store->segment, error);
}

void rm_store_close(struct rm_store *store) {
    rm_segment_close(&store->segment);
    rm_plan_free(&store->plan);
    rm_calibrations_free(store->calibrations);
    free(store->instrument);
    free(store->port_counters);
    free(store->traffic_counters);
    free(store->generator);
    free(store->gate_counters);
    free(store->latency);
    free(store->core_counters);
    free(store->core);
    *store = (struct rm_store){.segment = {.lock_file = -1}};
}

void *rm_store_memory(struct rm_store const *store, rm_planned_index index) {
    return rm_segment_memory(&store->segment, &store->plan, index);
}

static void write_store_text(struct rm_store *store, rm_planned_index index, char const *text) {
    char padded[PARAMETER_TEXT_BYTES] = "";
    snprintf(padded, sizeof padded, "%s", text);
    rm_parameter_write(rm_store_memory(store, index), padded, sizeof padded, rm_stamp_now());
}

void rm_store_write_parameters(struct rm_store *store, struct rm_config const *config, enum rm_simd simd,
                               bool huge_pages) {
    uint32_t const huge = huge_pages, simulated = config->simulated_time;
    write_store_text(store, store->version, RM_VERSION);
    write_store_text(store, store->simd, rm_simd_name(simd));
    rm_parameter_write_f64(rm_store_memory(store, store->turn_rate_hz), config->turn_rate_hz, rm_stamp_now());
    rm_parameter_write(rm_store_memory(store, store->simulated_time), &simulated, sizeof simulated, rm_stamp_now());
    rm_parameter_write(rm_store_memory(store, store->huge_pages), &huge, sizeof huge, rm_stamp_now());
    rm_calibrations_write(store->calibrations, &store->segment, &store->plan);
}

static bool write_lines(struct rm_store *store, rm_planned_index index, char const *text) {
    struct rm_parameter *parameter = rm_store_memory(store, index);
    char *padded = calloc(1, parameter->value_bytes + 1);
    if (padded == NULL)
        return false;
    snprintf(padded, parameter->value_bytes + 1, "%s", text);
    rm_parameter_write(parameter, padded, parameter->value_bytes, rm_stamp_now());
    free(padded);
    return true;
}

bool rm_store_write_steering(struct rm_store *store, char const *text) {
    return write_lines(store, store->steering, text);
}

bool rm_store_write_roles(struct rm_store *store, char const *text) { return write_lines(store, store->roles, text); }
