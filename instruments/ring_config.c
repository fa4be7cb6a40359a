// SPDX-License-Identifier: Apache-2.0
#include "ring_config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/pattern.h"
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
        return rm_yaml_fail(resolve->error, resolve->path, "core", "found %u, expected the number of a CPU", *core);
    return RM_OK;
}

/** A machine that loops are closed around does not wait; one that only shows itself may send what it is behind with. */
static enum rm_code resolve_max_lag(struct rm_resolve *resolve) {
    double const *written = resolve->file->max_lag_ms;
    double const otherwise = resolve->file->machine == NULL ? 0.0 : MACHINE_MAX_LAG_MS;
    double const max_lag_ms = written == NULL ? otherwise : *written;
    if (!(max_lag_ms >= 0 && max_lag_ms <= MAX_LAG_MOST_MS))
        return rm_yaml_fail(resolve->error, resolve->path, "max_lag_ms", "found %g, expected 0 (for ever) to %g",
                            max_lag_ms, MAX_LAG_MOST_MS);
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
        return rm_yaml_fail(resolve->error, resolve->path, "answer_turns",
                            "the ring waits for no setpoints, expected `simulated_time: true` and chains in %s, or "
                            "take it out",
                            resolve->machine->source_path);
    if (!waits)
        return RM_OK;
    uint32_t const otherwise = setpoints->phase_turns == 0 ? setpoints->period_turns : setpoints->phase_turns;
    uint32_t const answer_turns = written == NULL ? otherwise : *written;
    if (answer_turns == 0 || answer_turns > setpoints->period_turns)
        return rm_yaml_fail(resolve->error, resolve->path, "answer_turns",
                            "found %u, expected 1 to %u, the period of setpoints", answer_turns,
                            setpoints->period_turns);
    resolve->config->lock_step = (struct rm_lock_step_config){setpoints->period_turns, answer_turns};
    return RM_OK;
}

static enum rm_code resolve_head(struct rm_resolve *resolve) {
    struct rm_ring_file const *file = resolve->file;
    struct rm_ring_config *config = resolve->config;
    config->first_turn = *file->first_turn;
    config->udp_checksum = *file->udp_checksum;
    config->beam.turn_rate_hz = resolve->machine->turn_rate_hz;
    config->beam.seed = *file->seed;
    snprintf(config->workspace, sizeof config->workspace, "%s", resolve->machine->workspace);
    if (config->first_turn > RM_RING_FIRST_TURN_MAX)
        return rm_yaml_fail(resolve->error, resolve->path, "first_turn", "found %llu, expected at most 2^62",
                            (unsigned long long)config->first_turn);
    return RM_OK;
}

typedef enum rm_code resolve_part(struct rm_resolve *resolve);

/** Resolves parts in their order up to a NULL. Of those that stand on each other the first that is wrong ends it. */
static enum rm_code resolve_parts(struct rm_resolve *resolve, resolve_part *const *part, bool each_alone,
                                  struct rm_errors *errors) {
    enum rm_code first = RM_OK;
    for (; *part != NULL && (first == RM_OK || each_alone); ++part) {
        enum rm_code const code = (*part)(resolve);
        if (code != RM_OK)
            rm_errors_add(errors, resolve->error);
        first = rm_code_first(first, code);
    }
    return first;
}

/** What stands on parts that are wrong themselves is not judged: it would be refused for their sake. */
static enum rm_code resolve_ring(struct rm_resolve *resolve, struct rm_errors *errors) {
    static resolve_part *const alone[] = {
        resolve_head, resolve_core, resolve_max_lag, resolve_lock_step, rm_resolve_ports, rm_resolve_beam, NULL};
    static resolve_part *const senders[] = {rm_resolve_instruments, rm_resolve_groups, rm_resolve_faults, NULL};
    static resolve_part *const chains[] = {rm_resolve_chains, rm_resolve_supplies, rm_resolve_chain_faults, NULL};
    static resolve_part *const whole[] = {rm_resolve_responses, rm_resolve_machine, NULL};
    enum rm_code code = resolve_parts(resolve, alone, true, errors);
    if (code == RM_OK) {
        code = resolve_parts(resolve, senders, false, errors);
        code = rm_code_first(code, resolve_parts(resolve, chains, false, errors));
    }
    return code == RM_OK ? resolve_parts(resolve, whole, false, errors) : code;
}

enum rm_code rm_resolve_fail(struct rm_resolve const *resolve, char const *list, uint32_t index, char const *key,
                             char const *format, ...) {
    char place[64];
    if (key == NULL)
        snprintf(place, sizeof place, "%s[%u]", list, index);
    else
        snprintf(place, sizeof place, "%s[%u].%s", list, index, key);
    va_list arguments;
    va_start(arguments, format);
    enum rm_code const code = rm_yaml_vfail(resolve->error, resolve->path, place, format, arguments);
    va_end(arguments);
    return code;
}

bool rm_resolve_means(char const *name, char const *own, char const *entry) {
    return strcmp(name, "all") == 0 || strcmp(name, entry) == 0 || rm_pattern_matches(name, own);
}

/** Without an overlay all is as its schema has it. */
static enum rm_code load_overlay(char const *path, struct rm_ring_file **file, struct rm_errors *errors) {
    void *data = NULL;
    enum rm_code const code = path == NULL ? rm_yaml_load_nothing(&rm_ring_schema, &data, errors)
                                           : rm_yaml_load_all(path, &rm_ring_schema, &data, errors);
    *file = data;
    return code;
}

static enum rm_code resolve_files(struct rm_ring_files const *files, struct rm_ring_file const *file,
                                  struct rm_ring_config *config, struct rm_errors *errors) {
    struct rm_error error;
    struct rm_resolve part = {.path = files->overlay != NULL ? files->overlay : files->config,
                              .ports_wanted = files->ports,
                              .file = file,
                              .machine = config->description,
                              .config = config,
                              .error = &error};
    enum rm_code code;
    part.described = calloc(RM_CONFIG_INSTRUMENTS_MAX, sizeof *part.described);
    part.described_supply = calloc(RM_CONFIG_SUPPLIES_MAX, sizeof *part.described_supply);
    if (part.described == NULL || part.described_supply == NULL) {
        code = rm_fail(&error, RM_E_NO_SPACE, "%s: no memory for the instruments", part.path);
        rm_errors_add(errors, &error);
    } else {
        code = resolve_ring(&part, errors);
    }
    free(part.described);
    free(part.described_supply);
    return code;
}

enum rm_code rm_ring_config_load_all(struct rm_ring_files const *files, struct rm_ring_config *config,
                                     struct rm_errors *errors) {
    struct rm_ring_file *file = NULL;
    *config = (struct rm_ring_config){0};
    enum rm_code const described = rm_config_load_machine(files->config, &config->description, errors);
    enum rm_code code = rm_code_first(described, load_overlay(files->overlay, &file, errors));
    if (code == RM_OK)
        code = resolve_files(files, file, config, errors);
    if (file != NULL)
        rm_yaml_free(&rm_ring_schema, file);
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
    free(config->supplies.chains);
    free(config->supplies.supplies);
    free(config->supplies.faults);
    free(config->supplies.responses);
    rm_ring_machine_free(&config->machine);
    *config = (struct rm_ring_config){0};
}
