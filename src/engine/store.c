// SPDX-License-Identifier: Apache-2.0
#include "engine/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "engine/version.h"
#include "fabric/parameter_writer.h"

enum { OBJECT_NAME_BYTES = 64, PARAMETER_TEXT_BYTES = 32 };

static struct {
    char const *suffix;
    struct rm_fir_design const *design;
} const CHAIN[RM_CHAINS] = {{"prompt", &rm_fir_prompt}, {"fast", &rm_fir_sharp}};

struct rm_fir_design const *rm_store_chain_design(unsigned chain) {
    return CHAIN[chain].design;
}

static struct rm_stream stream_of(struct rm_config_instrument const *instrument, uint64_t capacity) {
    struct rm_stream stream = {
        .capacity = capacity,
        .period = 1,
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

/** A decimated stream: the same lanes, all as f32, behind a filter. */
static struct rm_stream decimated_of(struct rm_config_instrument const *instrument, uint64_t capacity,
                                     struct rm_fir_design const *design) {
    struct rm_stream stream = stream_of(instrument, capacity);
    stream.period = design->decimation;
    stream.group_delay_turns = design->centre;
    stream.closing_delay_turns = design->centre;
    stream.gain = design->gain;
    snprintf(stream.filter, sizeof stream.filter, "%s", design->name);
    for (uint32_t i = 0; i < stream.lane_count; ++i)
        stream.lane[i].type = RM_LANE_F32;
    return stream;
}

static void plan_instrument(struct rm_store *store, struct rm_config const *config, uint32_t index) {
    struct rm_config_instrument const *instrument = &config->instrument[index];
    struct rm_store_instrument *places = &store->instrument[index];
    char const *kind = rm_config_instrument_kind_name(instrument->kind);
    char name[OBJECT_NAME_BYTES], about[RM_DESCRIPTION_BYTES];
    struct rm_stream stream = stream_of(instrument, config->buffers.turn_records);
    snprintf(name, sizeof name, "%s/turn", instrument->name);
    snprintf(about, sizeof about, "%s %u, every turn as it came", kind, instrument->id);
    places->turn = rm_plan_stream(&store->plan, name, about, &stream);
    for (int i = 0; i < RM_CHAINS; ++i) {
        stream = decimated_of(instrument, config->buffers.fast_records, CHAIN[i].design);
        snprintf(name, sizeof name, "%s/%s", instrument->name, CHAIN[i].suffix);
        snprintf(about, sizeof about, "%s %u, one record per %u turns, %s filter", kind, instrument->id,
                 CHAIN[i].design->decimation, CHAIN[i].design->name);
        places->chain[i] = rm_plan_stream(&store->plan, name, about, &stream);
    }
    snprintf(name, sizeof name, "counters/stream/%s", instrument->name);
    snprintf(about, sizeof about, "what became of the datagrams of %s", instrument->name);
    places->counters = rm_plan_counters(&store->plan, name, about, RM_COUNTER_SET_STREAM, RM_STREAM_COUNTERS);
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
        snprintf(name, sizeof name, "counters/port/%s", config->port[i].port.name);
        store->port_counters[i] = rm_plan_counters(&store->plan, name, "what happened to every datagram of the port",
                                                   RM_COUNTER_SET_PORT, RM_PORT_COUNTERS);
    }
}

static void plan_parameters(struct rm_store *store) {
    struct rm_segment_plan *plan = &store->plan;
    store->version = rm_plan_parameter(plan, "server/version", "utf-8", "version of the server", RM_ELEMENT_U8,
                                       PARAMETER_TEXT_BYTES, NULL);
    store->turn_rate_hz =
        rm_plan_parameter(plan, "server/turn_rate_hz", "Hz", "nominal revolution frequency", RM_ELEMENT_F64, 1, NULL);
    store->huge_pages = rm_plan_parameter(plan, "server/huge_pages", "", "1 when packet buffers are on huge pages",
                                          RM_ELEMENT_U32, 1, NULL);
    store->simd = rm_plan_parameter(plan, "server/simd", "utf-8", "instruction set of the filters", RM_ELEMENT_U8,
                                    PARAMETER_TEXT_BYTES, NULL);
}

/** The distinct cores of the roles, ascending. */
static void collect_cores(struct rm_store *store, struct rm_config const *config) {
    for (uint32_t i = 0; i < config->role_count; ++i) {
        uint32_t const core = config->role[i].core;
        uint32_t at = 0;
        while (at < store->core_count && store->core[at] < core)
            ++at;
        if (at < store->core_count && store->core[at] == core)
            continue;
        memmove(&store->core[at + 1], &store->core[at], (store->core_count - at) * sizeof *store->core);
        store->core[at] = core;
        ++store->core_count;
    }
}

static bool allocate(struct rm_store *store, struct rm_config const *config) {
    store->instrument = calloc(config->instrument_count, sizeof *store->instrument);
    store->port_counters = calloc(config->port_count, sizeof *store->port_counters);
    store->gate_counters = calloc(config->role_count, sizeof *store->gate_counters);
    store->latency = calloc(config->role_count, sizeof *store->latency);
    store->core_counters = calloc(config->role_count, sizeof *store->core_counters);
    store->core = calloc(config->role_count + 1, sizeof *store->core);
    return store->instrument && store->port_counters && store->gate_counters && store->latency &&
           store->core_counters && store->core;
}

/** The configuration file's own text, so that a reader sees what the server runs on. */
static char *read_text(char const *path) {
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t length = 0;
    if (file == NULL)
        return NULL;
    if (getdelim(&text, &length, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

enum rm_code rm_store_open(struct rm_store *store, struct rm_config const *config, struct rm_error *error) {
    *store = (struct rm_store){.segment = {.lock_file = -1}};
    rm_plan_init(&store->plan);
    if (!allocate(store, config))
        return rm_fail(error, RM_E_NO_SPACE, "no memory to plan %u instruments", config->instrument_count);
    collect_cores(store, config);
    store->clock = rm_plan_clock(&store->plan, "clock", "turn, TSC and TAI");
    plan_parameters(store);
    plan_ports(store, config);
    plan_roles(store, config);
    for (uint32_t i = 0; i < config->instrument_count; ++i)
        plan_instrument(store, config, i);
    char *text = read_text(config->source_path);
    rm_plan_text(&store->plan, "server/config", "the configuration file", text != NULL ? text : "");
    free(text);
    return rm_segment_open(config->workspace, "server", &store->plan, &store->segment, error);
}

void rm_store_close(struct rm_store *store) {
    rm_segment_close(&store->segment);
    rm_plan_free(&store->plan);
    free(store->instrument);
    free(store->port_counters);
    free(store->gate_counters);
    free(store->latency);
    free(store->core_counters);
    free(store->core);
    *store = (struct rm_store){.segment = {.lock_file = -1}};
}

void *rm_store_memory(struct rm_store const *store, rm_planned_index index) {
    return rm_segment_memory(&store->segment, &store->plan, index);
}

static void write_text(struct rm_store *store, rm_planned_index index, char const *text) {
    char padded[PARAMETER_TEXT_BYTES] = "";
    snprintf(padded, sizeof padded, "%s", text);
    rm_parameter_write(rm_store_memory(store, index), padded, sizeof padded, RM_TURN_NONE);
}

void rm_store_write_parameters(struct rm_store *store, struct rm_config const *config, bool huge_pages) {
    uint32_t const huge = huge_pages;
    write_text(store, store->version, RM_VERSION);
    write_text(store, store->simd, rm_simd_name(rm_simd_best()));
    rm_parameter_write_f64(rm_store_memory(store, store->turn_rate_hz), config->turn_rate_hz, RM_TURN_NONE);
    rm_parameter_write(rm_store_memory(store, store->huge_pages), &huge, sizeof huge, RM_TURN_NONE);
}
