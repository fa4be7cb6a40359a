// SPDX-License-Identifier: Apache-2.0
#include "configuration_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml_key.h"
#include "fail.h"

/** Of a line's frequency, and of the width: law.h says why. */
static double const WIDTH_SHARE = 0.0125;
static double const LEAK_SHARE = 0.004;

struct resolve {
    char const *path;
    struct feedback_file const *file;
    struct feedback_configuration *to;
    struct rm_errors *errors;
    /** Of the first error. */
    enum rm_code code;
};

/** Adds an error at a key of the file, and goes on. */
#define REFUSE(resolve, key, ...)                                                                                      \
    ((resolve)->code =                                                                                                 \
         rm_code_first((resolve)->code, feedback_refuse((resolve)->errors, (resolve)->path, key, __VA_ARGS__)))

static void refuse_memory(struct resolve *resolve) {
    struct rm_error error;
    resolve->code = rm_code_first(resolve->code, feedback_fail(&error, RM_E_NO_SPACE, "%s: no memory", resolve->path));
    rm_errors_add(resolve->errors, &error);
}

/** Whether a number is within the range that the schema gives the key. */
static bool check_range(struct resolve *resolve, char const *key, double value) {
    struct rm_yaml_key const *known = rm_yaml_key_at(&feedback_schema, key);
    if (rm_yaml_in_range(known, value))
        return true;
    REFUSE(resolve, key, "found %.10g, expected %.10g to %.10g", value, known->min, known->max);
    return false;
}

static double check_number(struct resolve *resolve, char const *key, double value) {
    check_range(resolve, key, value);
    return value;
}

static double resolve_double(struct resolve *resolve, char const *key, double const *given) {
    return check_number(resolve, key, given == NULL ? rm_yaml_default(&feedback_schema, key) : *given);
}

static uint32_t resolve_whole_number(struct resolve *resolve, char const *key, uint32_t const *given) {
    return (uint32_t)check_number(resolve, key, *given);
}

static char *resolve_text(struct resolve *resolve, char const *text) {
    char *made = strdup(text);
    if (made == NULL)
        refuse_memory(resolve);
    return made;
}

/** A key of a family, for errors. */
struct family_key {
    char text[64];
};

static struct family_key family_key_of(uint32_t family, char const *key) {
    struct family_key made;
    snprintf(made.text, sizeof made.text, "families[%u].%s", family, key);
    return made;
}

static struct feedback_file_resonator const *find_resonator(struct feedback_file const *file, double hz) {
    for (uint32_t r = 0; r < file->resonators_count; ++r)
        if (fabs(*file->resonators[r].hz - hz) <= 1e-6 * fabs(hz))
            return &file->resonators[r];
    return NULL;
}

static double width_of(struct feedback_file_resonator const *of) {
    return of->width_hz == NULL ? WIDTH_SHARE * *of->hz : *of->width_hz;
}

static double leak_of(struct feedback_file_resonator const *of) {
    return of->leak_hz == NULL ? LEAK_SHARE * width_of(of) : *of->leak_hz;
}

/** What follows from a wrong number is not called wrong for that. */
static void check_resonator(struct resolve *resolve, uint32_t index) {
    struct feedback_file_resonator const *of = &resolve->file->resonators[index];
    char key[64];
    snprintf(key, sizeof key, "resonators[%u].hz", index);
    bool good = check_range(resolve, key, *of->hz);
    if (good && find_resonator(resolve->file, *of->hz) != of)
        REFUSE(resolve, key, "%g Hz is there twice, expected it once", *of->hz);
    snprintf(key, sizeof key, "resonators[%u].width_hz", index);
    good = (of->width_hz != NULL || good) && check_range(resolve, key, width_of(of));
    snprintf(key, sizeof key, "resonators[%u].leak_hz", index);
    if (of->leak_hz != NULL || good)
        check_range(resolve, key, leak_of(of));
}

static void check_resonators(struct resolve *resolve) {
    for (uint32_t r = 0; r < resolve->file->resonators_count; ++r)
        check_resonator(resolve, r);
}

static bool is_named_before(struct resolve const *resolve, uint32_t family, uint32_t index) {
    struct feedback_file_family const *from = &resolve->file->families[family];
    for (uint32_t other = 0; other < index; ++other)
        if (find_resonator(resolve->file, from->resonators[other]) ==
            find_resonator(resolve->file, from->resonators[index]))
            return true;
    return false;
}

static void take_resonators(struct resolve *resolve, uint32_t family) {
    struct feedback_file_family const *from = &resolve->file->families[family];
    struct feedback_tuning *to = &resolve->to->family[family].tuning;
    for (uint32_t r = 0; r < from->resonators_count; ++r) {
        char key[64];
        snprintf(key, sizeof key, "families[%u].resonators[%u]", family, r);
        struct feedback_file_resonator const *of = find_resonator(resolve->file, from->resonators[r]);
        if (of == NULL) {
            REFUSE(resolve, key, "found %g, expected the hz of one of the file's `resonators`", from->resonators[r]);
            continue;
        }
        if (is_named_before(resolve, family, r))
            REFUSE(resolve, key, "%g Hz is there twice", *of->hz);
        to->resonator[to->resonator_count].hz = *of->hz;
        to->resonator[to->resonator_count].width_hz = width_of(of);
        to->resonator[to->resonator_count++].leak_hz = leak_of(of);
    }
}

static void take_law(struct resolve *resolve, uint32_t family) {
    struct feedback_file_family const *from = &resolve->file->families[family];
    struct feedback_family *to = &resolve->to->family[family];
    to->acts = from->proportional != NULL || from->integral_hz != NULL;
    to->tuning.proportional = resolve_double(resolve, family_key_of(family, "proportional").text, from->proportional);
    to->tuning.integral_hz = resolve_double(resolve, family_key_of(family, "integral_hz").text, from->integral_hz);
    to->tuning.predicts = *from->predictor;
    take_resonators(resolve, family);
    if (!to->acts && to->tuning.resonator_count > 0)
        REFUSE(resolve, family_key_of(family, "resonators").text,
               "the family has no law, expected `proportional` or `integral_hz` beside");
}

static void take_plant(struct resolve *resolve, uint32_t family) {
    struct feedback_file_plant const *from = &resolve->file->families[family].plant;
    struct feedback_family *to = &resolve->to->family[family];
    to->bandwidth_hz = resolve_double(resolve, family_key_of(family, "plant.bandwidth_hz").text, from->bandwidth_hz);
    to->second_hz = resolve_double(resolve, family_key_of(family, "plant.second_hz").text, from->second_hz);
    to->delay_s = 1e-6 * resolve_double(resolve, family_key_of(family, "plant.delay_us").text, from->delay_us);
}

/** The first of that name. */
static uint32_t find_family(struct feedback_file const *file, char const *name) {
    uint32_t family = 0;
    while (strcmp(file->families[family].name, name) != 0)
        ++family;
    return family;
}

static void take_family(struct resolve *resolve, uint32_t family) {
    struct feedback_file_family const *from = &resolve->file->families[family];
    struct feedback_family *to = &resolve->to->family[family];
    snprintf(to->name, sizeof to->name, "%s", from->name);
    uint32_t const other = find_family(resolve->file, from->name);
    if (other < family)
        REFUSE(resolve, family_key_of(family, "name").text, "families[%u] has that name already", other);
    to->unload_to = -1;
    for (uint32_t p = 0; p < from->actuators_count; ++p) {
        to->patterns[p] = resolve_text(resolve, from->actuators[p]);
        to->pattern_count = p + 1;
    }
    take_plant(resolve, family);
    take_law(resolve, family);
}

static void take_unloading(struct resolve *resolve, uint32_t family) {
    struct feedback_file_family const *from = &resolve->file->families[family];
    struct feedback_family *to = &resolve->to->family[family];
    struct family_key const key = family_key_of(family, "unload_to");
    if (from->unload_to == NULL)
        return;
    for (uint32_t other = 0; other < resolve->to->family_count; ++other)
        if (other != family && strcmp(from->unload_to, resolve->to->family[other].name) == 0)
            to->unload_to = (int32_t)other;
    if (to->unload_to < 0)
        REFUSE(resolve, key.text, "found \"%s\", expected the name of another family", from->unload_to);
    if (from->crossover_hz == NULL)
        REFUSE(resolve, key.text, "expected `crossover_hz` beside it");
    else
        to->crossover_hz = resolve_double(resolve, family_key_of(family, "crossover_hz").text, from->crossover_hz);
}

/* What is handed over must come to rest somewhere. */
static bool unloads_in_a_circle(struct feedback_configuration const *to, uint32_t family) {
    uint32_t steps = 0;
    for (int32_t at = to->family[family].unload_to; at >= 0; at = to->family[at].unload_to)
        if (++steps >= to->family_count)
            return true;
    return false;
}

/* A family without a law must be given something. */
static void check_use(struct resolve *resolve, uint32_t family) {
    struct feedback_configuration const *to = resolve->to;
    bool takes = false;
    for (uint32_t other = 0; other < to->family_count; ++other)
        takes = takes || to->family[other].unload_to == (int32_t)family;
    if (!to->family[family].acts && !takes)
        REFUSE(resolve, family_key_of(family, "name").text,
               "the family \"%s\" has nothing to do, expected `integral_hz` or `proportional`, or another family that "
               "unloads to it",
               to->family[family].name);
}

/* Where one unloads to a family that is not there, another may lack it. */
static bool all_takers_are_known(struct resolve const *resolve) {
    for (uint32_t f = 0; f < resolve->to->family_count; ++f)
        if (resolve->file->families[f].unload_to != NULL && resolve->to->family[f].unload_to < 0)
            return false;
    return true;
}

static void check_unloading(struct resolve *resolve) {
    uint32_t const count = resolve->to->family_count;
    uint32_t f = 0;
    while (f < count && !unloads_in_a_circle(resolve->to, f))
        ++f;
    if (f < count)
        REFUSE(resolve, family_key_of(f, "unload_to").text, "families unload to each other in a circle");
    if (all_takers_are_known(resolve))
        for (f = 0; f < count; ++f)
            check_use(resolve, f);
}

static void take_families(struct resolve *resolve) {
    resolve->to->family_count = resolve->file->families_count;
    for (uint32_t f = 0; f < resolve->file->families_count; ++f)
        take_family(resolve, f);
    for (uint32_t f = 0; f < resolve->file->families_count; ++f)
        take_unloading(resolve, f);
    check_unloading(resolve);
}

static void take_mains(struct resolve *resolve) {
    struct feedback_file const *file = resolve->file;
    if (file->mains_hz == NULL) {
        resolve->to->mains_hz = file->resonators_count == 0 ? 50 : *file->resonators[0].hz;
        return;
    }
    double const hz = resolve->to->mains_hz = *file->mains_hz;
    if (check_range(resolve, "mains_hz", hz) && file->resonators_count > 0 && find_resonator(file, hz) == NULL)
        REFUSE(resolve, "mains_hz", "found %g, expected the hz of one of the file's `resonators`", hz);
}

static void take_rf(struct resolve *resolve) {
    static struct feedback_file_rf const absent;
    struct feedback_file_rf const *from = resolve->file->rf == NULL ? &absent : resolve->file->rf;
    resolve->to->rf.column = -1; /* until there is a matrix */
    resolve->to->rf.hz = resolve_double(resolve, "rf.hz", from->hz);
    resolve->to->rf.gain = resolve_double(resolve, "rf.gain", from->gain);
    resolve->to->rf.slew = resolve_double(resolve, "rf.slew", from->slew);
}

static void take_beam(struct resolve *resolve, struct feedback_file_beam const *from) {
    static struct feedback_file_beam const absent;
    from = from == NULL ? &absent : from;
    for (uint32_t l = 0; l < from->lanes_count; ++l)
        snprintf(resolve->to->enable_conditions.beam_lane[l], sizeof resolve->to->enable_conditions.beam_lane[l], "%s",
                 from->lanes[l]);
    resolve->to->enable_conditions.beam_lanes = from->lanes_count;
    resolve->to->enable_conditions.beam_least = resolve_double(resolve, "enable_conditions.beam.least", from->least);
    resolve->to->enable_conditions.beam_drop = resolve_double(resolve, "enable_conditions.beam.drop", from->drop);
    resolve->to->enable_conditions.beam_rearm_s =
        resolve_double(resolve, "enable_conditions.beam.rearm_s", from->rearm_s);
}

static void take_enable_conditions(struct resolve *resolve) {
    struct feedback_file_enable_conditions const *from = resolve->file->enable_conditions;
    take_beam(resolve, from->beam);
    resolve->to->enable_conditions.bpms = resolve_double(resolve, "enable_conditions.bpms", from->bpms);
    resolve->to->enable_conditions.actuators = resolve_double(resolve, "enable_conditions.actuators", from->actuators);
    resolve->to->enable_conditions.saturated =
        resolve_whole_number(resolve, "enable_conditions.saturated", from->saturated);
    resolve->to->enable_conditions.saturated_s =
        resolve_double(resolve, "enable_conditions.saturated_s", from->saturated_s);
    resolve->to->enable_conditions.initial_error_um =
        resolve_double(resolve, "enable_conditions.initial_error_um", from->initial_error_um);
    resolve->to->enable_conditions.missing = resolve_double(resolve, "enable_conditions.missing", from->missing);
}

static void take_watch(struct resolve *resolve) {
    struct feedback_file_watch const *from = resolve->file->watch;
    resolve->to->watch.missing_cycles = resolve_whole_number(resolve, "watch.missing_cycles", from->missing_cycles);
    resolve->to->watch.frozen_cycles = resolve_whole_number(resolve, "watch.frozen_cycles", from->frozen_cycles);
    resolve->to->watch.jump_um = resolve_double(resolve, "watch.jump_um", from->jump_um);
    resolve->to->watch.invalid_status = resolve_whole_number(resolve, "watch.invalid_status", from->invalid_status);
    resolve->to->watch.return_s = resolve_double(resolve, "watch.return_s", from->return_s);
}

static void take_gate(struct resolve *resolve) {
    struct feedback_file_gate const *from = resolve->file->gate;
    if (from == NULL)
        return;
    snprintf(resolve->to->gate.input, sizeof resolve->to->gate.input, "%s", from->input);
    snprintf(resolve->to->gate.lane, sizeof resolve->to->gate.lane, "%s", from->lane);
    resolve->to->gate.bit = resolve_whole_number(resolve, "gate.bit", from->bit);
    resolve->to->gate.cycles = resolve_whole_number(resolve, "gate.cycles", from->cycles);
}

static void take_tables(struct resolve *resolve) {
    for (uint32_t t = 0; t < resolve->file->feed_forward_count; ++t) {
        struct feedback_file_table const *from = &resolve->file->feed_forward[t];
        struct feedback_table *to = &resolve->to->table[t];
        snprintf(to->input, sizeof to->input, "%s", from->input);
        snprintf(to->lane, sizeof to->lane, "%s", from->lane);
        to->path = feedback_beside(resolve->path, from->table);
        resolve->to->table_count = t + 1;
        if (to->path == NULL)
            refuse_memory(resolve);
    }
}

static void take_shadow(struct resolve *resolve) {
    struct feedback_file_shadow const *from = resolve->file->shadow;
    for (uint32_t s = 0; from != NULL && s < from->inputs_count; ++s) {
        resolve->to->shadow_input[s] = resolve_text(resolve, from->inputs[s]);
        resolve->to->shadow_inputs = s + 1;
    }
}

enum rm_code feedback_configuration_resolve(char const *path, struct feedback_file const *file,
                                            struct feedback_configuration *configuration, struct rm_errors *errors) {
    struct resolve resolve = {path, file, configuration, errors, RM_OK};
    configuration->golden_speed_um_s = resolve_double(&resolve, "golden_speed", file->golden_speed);
    configuration->coupled = *file->coupled;
    configuration->per_corrector = *file->per == FEEDBACK_PER_CORRECTOR;
    configuration->modes = resolve_whole_number(&resolve, "modes", file->modes);
    configuration->tikhonov = resolve_double(&resolve, "tikhonov", file->tikhonov);
    configuration->soft_start_s = resolve_double(&resolve, "soft_start_s", file->soft_start_s);
    check_resonators(&resolve);
    take_families(&resolve);
    take_mains(&resolve);
    take_rf(&resolve);
    take_enable_conditions(&resolve);
    take_watch(&resolve);
    take_gate(&resolve);
    take_tables(&resolve);
    take_shadow(&resolve);
    return resolve.code;
}
