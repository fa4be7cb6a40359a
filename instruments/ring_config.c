// SPDX-License-Identifier: Apache-2.0
#include "ring_config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "ring_file.h"
#include "ring_resolve.h"

static double const MACHINE_PATIENCE_MS = 5.0, PATIENCE_MOST_MS = 1e6;
static uint64_t const DEFAULT_FIRST_TURN = 1000000;
static double const DEFAULT_TURN_RATE_HZ = 1157000;

void rm_ring_flow_default(struct rm_flow *flow) {
    /* The MAC is locally administered: a kernel that sees the frames leaves them alone. */
    *flow = (struct rm_flow){
        .destination_mac = {0x02, 'R', 'M', 0, 0, 1},
        .destination_ipv4 = 0x0A14FF01,
        .source_port = 4660,
        .destination_port = 4660,
    };
}

static enum rm_code resolve_core(struct rm_resolve const *resolve) {
    uint32_t const *core = resolve->file->core;
    resolve->config->core = core == NULL ? RM_RING_ANY_CORE : (int32_t)*core;
    if (core != NULL && *core > INT32_MAX)
        return rm_yaml_fail(resolve->error, resolve->path, "core", "found %u, expected the number of a CPU", *core);
    return RM_OK;
}

/** A machine that loops are closed around does not wait; one that only shows itself may send what it is behind with. */
static enum rm_code resolve_patience(struct rm_resolve const *resolve) {
    double const *written = resolve->file->patience_ms;
    double const otherwise = resolve->file->machine == NULL ? 0.0 : MACHINE_PATIENCE_MS;
    double const patience_ms = written == NULL ? otherwise : *written;
    if (!(patience_ms >= 0 && patience_ms <= PATIENCE_MOST_MS))
        return rm_yaml_fail(resolve->error, resolve->path, "patience_ms", "found %g, expected 0 (for ever) to %g",
                            patience_ms, PATIENCE_MOST_MS);
    resolve->config->patience_s = patience_ms * 1e-3;
    return RM_OK;
}

/** The ring waits for chains: it needs some, and an answer within the cycle that it belongs to. */
static enum rm_code resolve_lock_step(struct rm_resolve const *resolve) {
    struct rm_ring_file_lock_step const *file = resolve->file->lock_step;
    if (file == NULL)
        return RM_OK;
    if (resolve->file->supplies == NULL)
        return rm_yaml_fail(resolve->error, resolve->path, "lock_step",
                            "the ring has no \"supplies\", expected chains whose setpoints it can wait for");
    if (file->period_turns == 0 || file->period_turns > RM_LOCK_STEP_PERIOD_MAX)
        return rm_yaml_fail(resolve->error, resolve->path, "lock_step.period_turns", "found %u, expected 1 to %d turns",
                            file->period_turns, RM_LOCK_STEP_PERIOD_MAX);
    if (file->answer_turns == 0 || file->answer_turns > file->period_turns)
        return rm_yaml_fail(resolve->error, resolve->path, "lock_step.answer_turns",
                            "found %u, expected 1 to %u, its period", file->answer_turns, file->period_turns);
    resolve->config->lock_step = (struct rm_lock_step_config){file->period_turns, file->answer_turns};
    return RM_OK;
}

static enum rm_code resolve_head(struct rm_resolve const *resolve) {
    struct rm_ring_file const *file = resolve->file;
    struct rm_ring_config *config = resolve->config;
    config->first_turn = file->first_turn == NULL ? DEFAULT_FIRST_TURN : *file->first_turn;
    config->udp_checksum = file->udp_checksum != NULL && *file->udp_checksum;
    config->beam.turn_rate_hz = file->turn_rate_hz == NULL ? DEFAULT_TURN_RATE_HZ : *file->turn_rate_hz;
    config->beam.seed = file->seed == NULL ? 1 : *file->seed;
    if (file->workspace != NULL)
        snprintf(config->workspace, sizeof config->workspace, "%s", file->workspace);
    if (config->first_turn > RM_RING_FIRST_TURN_MAX)
        return rm_yaml_fail(resolve->error, resolve->path, "first_turn", "found %llu, expected at most 2^62",
                            (unsigned long long)config->first_turn);
    if (!(config->beam.turn_rate_hz >= RM_RING_TURN_RATE_MIN && config->beam.turn_rate_hz <= RM_RING_TURN_RATE_MAX))
        return rm_yaml_fail(resolve->error, resolve->path, "turn_rate_hz", "found %g, expected %g to %g",
                            config->beam.turn_rate_hz, RM_RING_TURN_RATE_MIN, RM_RING_TURN_RATE_MAX);
    if (file->instruments_count == 0 && file->supplies == NULL)
        return rm_yaml_fail(resolve->error, resolve->path, "instruments",
                            "the key is missing, expected a list of them, or the key \"supplies\"");
    return RM_OK;
}

typedef enum rm_code resolve_part(struct rm_resolve const *resolve);

/** Resolves parts in their order up to a NULL. Of those that stand on each other the first that is wrong ends it. */
static enum rm_code resolve_parts(struct rm_resolve const *resolve, resolve_part *const *part, bool each_alone,
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
static enum rm_code resolve(struct rm_resolve const *resolve, struct rm_errors *errors) {
    static resolve_part *const alone[] = {resolve_head,     resolve_core,    resolve_patience,   resolve_lock_step,
                                          rm_resolve_ports, rm_resolve_beam, rm_resolve_formats, NULL};
    static resolve_part *const senders[] = {rm_resolve_instruments, rm_resolve_groups, rm_resolve_faults, NULL};
    static resolve_part *const supplies[] = {rm_resolve_supplies, NULL};
    static resolve_part *const whole[] = {rm_resolve_machine, rm_resolve_ports_used, NULL};
    enum rm_code code = resolve_parts(resolve, alone, true, errors);
    if (code == RM_OK) {
        code = resolve_parts(resolve, senders, false, errors); /* first: responses of supplies name instruments */
        code = rm_code_first(code, resolve_parts(resolve, supplies, false, errors));
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

enum rm_code rm_ring_config_load_all(char const *path, struct rm_ring_config *config, struct rm_errors *errors) {
    struct rm_ring_file *file = NULL;
    struct rm_error error;
    *config = (struct rm_ring_config){0};
    enum rm_code code = rm_yaml_load_all(path, &rm_ring_schema, (void **)&file, errors);
    if (code != RM_OK)
        return code;
    uint32_t *entry = calloc(RM_RING_INSTRUMENTS_MAX, sizeof *entry);
    if (entry == NULL) {
        code = rm_fail(&error, RM_E_NO_SPACE, "%s: no memory for the instruments", path);
        rm_errors_add(errors, &error);
    } else {
        code = resolve(&(struct rm_resolve){path, file, config, entry, &error}, errors);
    }
    free(entry);
    rm_yaml_free(&rm_ring_schema, file);
    if (code != RM_OK)
        rm_ring_config_free(config);
    return code;
}

enum rm_code rm_ring_config_load(char const *path, struct rm_ring_config *config, struct rm_error *error) {
    struct rm_errors errors = {.count = 0};
    enum rm_code const code = rm_ring_config_load_all(path, config, &errors);
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
    for (uint32_t f = 0; f < config->format_count; ++f)
        rm_format_free(&config->formats[f]);
    free(config->formats);
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
