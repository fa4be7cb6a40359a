// SPDX-License-Identifier: Apache-2.0
#include "ring_config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/pattern.h>

#include "base/fail.h"
#include "base/yaml_document.h"
#include "config/servers.h"
#include "ring_file.h"
#include "ring_resolve.h"

static double const MACHINE_MAX_LAG_MS = 5.0, MAX_LAG_MOST_MS = 1e6;

void rm_ring_flow_default(struct rm_flow *flow) {
    /* The MAC is locally administered: a kernel that sees the frames leaves them alone. */
    *flow = (struct rm_flow){
        .destination_mac = {0x02, 'R', 'M', 0, 0, 1},
        .destination_ipv4 = 0x0A14FF01,
        .source_port = 4660,
        .destination_port = 4660,
    };
}

static enum rm_code resolve_core(struct rm_resolve *resolve) {
    uint32_t const *core = resolve->file->core;
    resolve->config->core = core == NULL ? RM_RING_ANY_CORE : (int32_t)*core;
    if (core != NULL && *core > INT32_MAX)
        return rm_resolve_fail_at(resolve, "core", "found %u, expected the number of a CPU", *core);
    return RM_OK;
}

/** A machine that loops are closed around does not wait; one that only shows itself may send what it is behind with. */
static enum rm_code resolve_max_lag(struct rm_resolve *resolve) {
    double const *written = resolve->file->max_lag_ms;
    double const otherwise = resolve->file->machine == NULL ? 0.0 : MACHINE_MAX_LAG_MS;
    double const max_lag_ms = written == NULL ? otherwise : *written;
    if (!(max_lag_ms >= 0 && max_lag_ms <= MAX_LAG_MOST_MS))
        return rm_resolve_fail_at(resolve, "max_lag_ms", "found %g, expected 0 (for ever) to %g", max_lag_ms,
                                  MAX_LAG_MOST_MS);
    resolve->config->max_lag_s = max_lag_ms * 1e-3;
    return RM_OK;
}

/** In simulated time the ring waits for setpoints, `answer_turns` after the turn of their cycle: where the overlay does
 * not say, as long as the server waits for its leader. */
static enum rm_code resolve_lock_step(struct rm_resolve *resolve) {
    struct rm_config_setpoints const *setpoints = &resolve->machine->setpoints;
    uint32_t const *written = resolve->file->answer_turns;
    bool const waits = resolve->machine->simulated_time && resolve->machine->chain_count != 0;
    if (!waits && written != NULL)
        return rm_resolve_fail_at(
            resolve, "answer_turns",
            "the ring waits for no setpoints, expected `simulated_time: true` and chains in %s, or "
            "take it out",
            resolve->machine->source_path);
    if (!waits)
        return RM_OK;
    uint32_t const otherwise = setpoints->phase_turns == 0 ? setpoints->period_turns : setpoints->phase_turns;
    uint32_t const answer_turns = written == NULL ? otherwise : *written;
    if (answer_turns == 0 || answer_turns > setpoints->period_turns)
        return rm_resolve_fail_at(resolve, "answer_turns", "found %u, expected 1 to %u, the period of setpoints",
                                  answer_turns, setpoints->period_turns);
    resolve->config->lock_step = (struct rm_lock_step_config){setpoints->period_turns, answer_turns};
    return RM_OK;
}

static enum rm_code resolve_head(struct rm_resolve *resolve) {
    struct rm_ring_file const *file = resolve->file;
    struct rm_ring_config *config = resolve->config;
    config->first_turn = *file->first_turn;
    config->naps = resolve->machine->polling.naps;
    config->udp_checksum = *file->udp_checksum;
    config->beam.turn_rate_hz = resolve->machine->turn_rate_hz;
    config->beam.seed = *file->seed;
    snprintf(config->workspace, sizeof config->workspace, "%s", resolve->machine->workspace);
    if (config->first_turn > RM_RING_FIRST_TURN_MAX)
        return rm_resolve_fail_at(resolve, "first_turn", "found %llu, expected at most 2^62",
                                  (unsigned long long)config->first_turn);
    return RM_OK;
}

typedef enum rm_code resolve_part(struct rm_resolve *resolve);

/** Resolves parts up to a NULL, of which none stands on another. */
static enum rm_code resolve_each(struct rm_resolve *resolve, resolve_part *const *part) {
    enum rm_code first = RM_OK;
    for (; *part != NULL; ++part)
        first = rm_code_first(first, (*part)(resolve));
    return first;
}

/** Resolves parts up to a NULL, each of which stands on those before. */
static enum rm_code resolve_in_turn(struct rm_resolve *resolve, resolve_part *const *part) {
    enum rm_code code = RM_OK;
    for (; *part != NULL && code == RM_OK; ++part)
        code = (*part)(resolve);
    return code;
}

static enum rm_code resolve_chains(struct rm_resolve *resolve) {
    static resolve_part *const of_chains[] = {rm_resolve_chain_keys, rm_resolve_supplies, rm_resolve_chain_faults,
                                              NULL};
    enum rm_code const code = rm_resolve_chains(resolve);
    return code == RM_OK ? resolve_each(resolve, of_chains) : code;
}

static enum rm_code resolve_senders(struct rm_resolve *resolve) {
    static resolve_part *const senders[] = {rm_resolve_instruments, rm_resolve_groups, rm_resolve_faults, NULL};
    return resolve_in_turn(resolve, senders);
}

/** What stands on parts that are wrong themselves is not judged: it would be refused for their sake. */
static enum rm_code resolve_ring(struct rm_resolve *resolve) {
    static resolve_part *const alone[] = {
        resolve_head, resolve_core, resolve_max_lag, resolve_lock_step, rm_resolve_frames, rm_resolve_beam, NULL};
    static resolve_part *const at_ports[] = {resolve_senders, resolve_chains, NULL};
    static resolve_part *const whole[] = {rm_resolve_responses, rm_resolve_machine, rm_resolve_bpms, rm_resolve_events,
                                          NULL};
    enum rm_code const code = resolve_each(resolve, alone);
    enum rm_code ends = rm_resolve_ports(resolve);
    if (ends == RM_OK && resolve->second != NULL)
        ends = rm_resolve_second(resolve);
    if (ends == RM_OK)
        ends = resolve_each(resolve, at_ports);
    if (ends == RM_OK)
        ends = resolve_each(resolve, whole);
    return rm_code_first(code, ends);
}

enum rm_code rm_resolve_fail(struct rm_resolve const *resolve, char const *list, uint32_t index, char const *key,
                             char const *format, ...) {
    char place[64];
    struct rm_error error;
    if (key == NULL)
        snprintf(place, sizeof place, "%s[%u]", list, index);
    else
        snprintf(place, sizeof place, "%s[%u].%s", list, index, key);
    va_list arguments;
    va_start(arguments, format);
    enum rm_code const code = rm_yaml_vfail(&error, resolve->path, place, format, arguments);
    va_end(arguments);
    rm_errors_add(resolve->errors, &error);
    return code;
}

enum rm_code rm_resolve_fail_at(struct rm_resolve const *resolve, char const *key, char const *format, ...) {
    struct rm_error error;
    va_list arguments;
    va_start(arguments, format);
    enum rm_code const code = rm_yaml_vfail(&error, resolve->path, key, format, arguments);
    va_end(arguments);
    rm_errors_add(resolve->errors, &error);
    return code;
}

enum rm_code rm_resolve_fail_plain(struct rm_resolve const *resolve, enum rm_code code, char const *format, ...) {
    char text[RM_ERROR_TEXT_BYTES];
    struct rm_error error;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rm_fail(&error, code, "%s", text);
    rm_errors_add(resolve->errors, &error);
    return code;
}

bool rm_resolve_means(char const *name, char const *own, char const *entry) {
    return strcmp(name, "all") == 0 || strcmp(name, entry) == 0 || rm_pattern_matches(name, own);
}

/** The files as they are for one server, or each for its own of a pair. */
struct ring_reading {
    struct rm_config *machine[RM_CONFIG_SERVERS];
    struct rm_ring_file *overlay[RM_CONFIG_SERVERS];
    /** 1, or 2. */
    uint32_t count;
};

/** {server} and {number} are in an overlay what they are in the server's file. */
static enum rm_code read_overlay(char const *path, struct rm_config_standby const *standby, void **data,
                                 struct rm_errors *errors) {
    struct rm_yaml_document document;
    struct rm_error error;
    enum rm_code code = rm_yaml_document_open(path, &document, &error);
    if (code != RM_OK) {
        rm_errors_add(errors, &error);
        return code;
    }
    if (standby->present)
        code = rm_config_put_server(&document, standby->server[standby->own].name, standby->own, errors);
    if (code == RM_OK)
        code = rm_yaml_take(&document, &rm_ring_schema, data, errors);
    rm_yaml_document_close(&document);
    return code;
}

/** Without an overlay all is as its schema has it. */
static enum rm_code load_overlay(char const *path, struct rm_config_standby const *standby, struct rm_ring_file **file,
                                 struct rm_errors *errors) {
    void *data = NULL;
    enum rm_code const code = path == NULL ? rm_yaml_load_nothing(&rm_ring_schema, &data, errors)
                                           : read_overlay(path, standby, &data, errors);
    *file = data;
    return code;
}

static enum rm_code read_files(struct rm_ring_files const *files, struct ring_reading *reading,
                               struct rm_errors *errors) {
    static struct rm_config_standby const unknown; /* of a file that is wrong */
    enum rm_code const described = rm_config_load_machines(files->config, reading->machine, &reading->count, errors);
    enum rm_code code = described;
    if (described != RM_OK)
        reading->machine[0] = reading->machine[1] = NULL;
    uint32_t const overlays = described == RM_OK ? reading->count : 1;
    for (uint32_t s = 0; s < overlays && (s == 0 || code == RM_OK); ++s)
        code = rm_code_first(code,
                             load_overlay(files->overlay, described == RM_OK ? &reading->machine[s]->standby : &unknown,
                                          &reading->overlay[s], errors));
    return code;
}

static enum rm_code resolve_files(struct rm_ring_files const *files, struct ring_reading const *reading,
                                  struct rm_ring_config *config, struct rm_errors *errors) {
    struct rm_resolve part = {.path = files->overlay != NULL ? files->overlay : config->description->source_path,
                              .ports_wanted = files->ports,
                              .file = reading->overlay[0],
                              .machine = config->description,
                              .second_file = reading->overlay[1],
                              .second = reading->machine[1],
                              .config = config,
                              .errors = errors};
    enum rm_code code;
    part.described = calloc(RM_CONFIG_INSTRUMENTS_MAX, sizeof *part.described);
    if (part.described == NULL)
        code = rm_resolve_fail_plain(&part, RM_E_NO_SPACE, "%s: no memory for the instruments", part.path);
    else
        code = resolve_ring(&part);
    free(part.described);
    return code;
}

enum rm_code rm_ring_config_load_all(struct rm_ring_files const *files, struct rm_ring_config *config,
                                     struct rm_errors *errors) {
    struct ring_reading reading = {.count = 0};
    *config = (struct rm_ring_config){0};
    enum rm_code code = read_files(files, &reading, errors);
    config->description = reading.machine[0];
    if (code == RM_OK)
        code = resolve_files(files, &reading, config, errors);
    for (uint32_t s = 0; s < RM_CONFIG_SERVERS; ++s)
        rm_yaml_free(&rm_ring_schema, reading.overlay[s]);
    rm_config_free(reading.machine[1]);
    if (code != RM_OK)
        rm_ring_config_free(config);
    return code;
}

enum rm_code rm_ring_config_load(struct rm_ring_files const *files, struct rm_ring_config *config,
                                 struct rm_error *error) {
    struct rm_errors errors = {.count = 0};
    enum rm_code const code = rm_ring_config_load_all(files, config, &errors);
    if (code != RM_OK && error != NULL)
        *error = errors.first[0];
    return code;
}

bool rm_ring_sends_through(struct rm_ring_config const *config, uint32_t port) {
    for (uint32_t g = 0; g < config->group_count; ++g)
        for (uint32_t n = 0; n < config->network_count; ++n)
            if (config->groups[g].port[n] == port)
                return true;
    return false;
}

void rm_ring_config_free(struct rm_ring_config *config) {
    if (config->native != NULL)
        rm_format_free(config->native);
    free(config->native);
    rm_config_free(config->description);
    free(config->instruments);
    free(config->groups);
    free(config->faults);
    free(config->readouts);
    free(config->supplies.chains);
    free(config->supplies.supplies);
    free(config->supplies.described);
    free(config->supplies.limits);
    free(config->supplies.faults);
    free(config->supplies.responses);
    rm_ring_machine_free(&config->machine);
    for (uint32_t e = 0; e < config->event_count; ++e)
        rm_ring_event_free(&config->events[e]);
    free(config->events);
    *config = (struct rm_ring_config){0};
}
