// SPDX-License-Identifier: Apache-2.0
#include "bind.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/pattern.h>

#include "base/nearest.h"
#include "check.h"
#include "motion.h"

/* ── groups ── */

static bool is_in(struct sequence_group const *group, char const *supply) {
    for (uint32_t p = 0; p < group->supplies; ++p)
        if (rm_pattern_matches(group->supply[p], supply))
            return true;
    return false;
}

/** Each name and pattern of a group must fit a supply. */
static void judge_patterns(struct sequence_compiling *it, struct rm_application_setup const *setup,
                           struct sequence_group const *group) {
    for (uint32_t p = 0; p < group->supplies; ++p) {
        struct rm_nearest nearest = {.wanted = group->supply[p]};
        bool fits = false;
        for (uint32_t a = 0; a < setup->actuator_count && !fits; ++a) {
            fits = rm_pattern_matches(group->supply[p], setup->actuator_name[a]);
            rm_nearest_offer(&nearest, setup->actuator_name[a]);
        }
        if (!fits)
            sequence_refuse(it, "supplies", "\"%s\" is none of the application's %u supplies%s%s%s", group->supply[p],
                            setup->actuator_count, nearest.name != NULL ? " (did you mean \"" : "",
                            nearest.name != NULL ? nearest.name : "", nearest.name != NULL ? "\"?)" : "");
    }
}

static void bind_group(struct sequence_compiling *it, struct rm_application_setup const *setup, uint32_t index) {
    struct sequence_program *const program = it->program;
    struct sequence_group const *const group = &it->file->group[index];
    snprintf(it->place, sizeof it->place, "supplies[%u]", index);
    program->group[index].first = program->members;
    judge_patterns(it, setup, group);
    for (uint32_t a = 0; a < setup->actuator_count; ++a) {
        if (!is_in(group, setup->actuator_name[a]))
            continue;
        double const low = setup->actuator_low[a], high = setup->actuator_high[a];
        if (!isfinite(low) || !isfinite(high))
            sequence_refuse(it, "supplies", "%s has no limits, expected them in the server's configuration",
                            setup->actuator_name[a]);
        program->member[program->members] = a;
        program->low[program->members] = isnan(group->low) ? low : fmax(low, group->low);
        program->high[program->members] = isnan(group->high) ? high : fmin(high, group->high);
        ++program->members;
        ++program->group[index].count;
    }
    it->place[0] = '\0';
}

static bool allocate(struct sequence_program *program, struct sequence_binding *binding, uint32_t actuators) {
    size_t const most = (size_t)program->file->groups * actuators + 1;
    program->group = calloc(program->file->groups + 1, sizeof *program->group);
    program->member = malloc(most * sizeof *program->member);
    program->low = malloc(most * sizeof *program->low);
    program->high = malloc(most * sizeof *program->high);
    binding->uses = calloc((size_t)program->charts * actuators + 1, sizeof *binding->uses);
    return program->group != NULL && program->member != NULL && program->low != NULL && program->high != NULL &&
           binding->uses != NULL;
}

/** Which supplies each sequence moves, those that are called first. */
static void note_uses(struct sequence_program const *program, struct sequence_binding *binding, uint32_t actuators) {
    for (uint32_t i = 0; i < SEQUENCE_DEPTH_MAX * program->charts; ++i) {
        uint32_t const c = i % program->charts;
        struct sequence_chart const *const chart = &program->chart[c];
        bool *const uses = binding->uses + (size_t)c * actuators;
        for (uint32_t n = chart->node; chart->depth == i / program->charts + 1 && n < chart->node + chart->nodes; ++n) {
            struct sequence_node const *const node = &program->node[n];
            for (uint32_t a = node->act; a < node->act + node->acts; ++a) {
                uint32_t const group = program->act[a].group;
                for (uint32_t m = 0; group != SEQUENCE_NONE && m < program->group[group].count; ++m)
                    uses[program->member[program->group[group].first + m]] = true;
            }
            for (uint32_t a = 0; node->call != SEQUENCE_NONE && a < actuators; ++a)
                uses[a] |= binding->uses[(size_t)node->call * actuators + a];
        }
    }
}

/* ── inputs ── */

static void note_inputs(struct sequence_program const *program, struct sequence_binding *binding) {
    bool is_used[SEQUENCE_INPUTS_MAX] = {false};
    for (uint32_t i = 0; i < program->ops; ++i)
        if (program->op[i].code == SEQUENCE_INPUT)
            is_used[program->op[i].index] = true;
    for (uint32_t i = 0; i < program->file->inputs; ++i)
        if (is_used[i])
            binding->used[binding->used_count++] = i;
}

/** "bpm01/raw" of "bpm01/raw.x1" is that input. */
static bool is_input_of(char const *lane, char const *input) {
    size_t const length = strlen(input);
    return strncmp(lane, input, length) == 0 && lane[length] == '.' && strchr(lane + length + 1, '.') == NULL;
}

static void find_stream(struct sequence_compiling *it, struct rm_application_setup const *setup, uint32_t index,
                        struct sequence_source *source) {
    char const *const lane = it->file->input[index].lane;
    char stream[128];
    snprintf(stream, sizeof stream, "%.*s", (int)(strrchr(lane, '.') - lane), lane);
    struct rm_nearest nearest = {.wanted = stream};
    for (uint32_t i = 0; i < setup->input_count; ++i) {
        source->index = i;
        if (is_input_of(lane, setup->input_name[i]))
            return;
        rm_nearest_offer(&nearest, setup->input_name[i]);
    }
    sequence_refuse(it, "lane", "%s is none of the application's %u inputs%s%s%s", stream, setup->input_count,
                    nearest.name != NULL ? " (did you mean \"" : "", nearest.name != NULL ? nearest.name : "",
                    nearest.name != NULL ? "\"?)" : "");
}

static void find_supply(struct sequence_compiling *it, struct rm_application_setup const *setup, uint32_t index,
                        struct sequence_source *source) {
    char const *const supply = it->file->input[index].supply;
    source->lane = SEQUENCE_NONE;
    struct rm_nearest nearest = {.wanted = supply};
    for (source->index = 0; source->index < setup->actuator_count; ++source->index) {
        if (strcmp(setup->actuator_name[source->index], supply) == 0)
            return;
        rm_nearest_offer(&nearest, setup->actuator_name[source->index]);
    }
    sequence_refuse(it, "supply", "%s is none of the application's %u supplies%s%s%s", supply, setup->actuator_count,
                    nearest.name != NULL ? " (did you mean \"" : "", nearest.name != NULL ? nearest.name : "",
                    nearest.name != NULL ? "\"?)" : "");
}

enum rm_code sequence_bind(struct rm_application_setup const *setup, struct sequence_program *program,
                           struct sequence_binding *binding, struct rm_errors *errors) {
    double const steps_hz = setup->turn_rate_hz / (double)setup->period_turns;
    double slew_per_s[SEQUENCE_CHANNELS_MAX];
    struct sequence_compiling *it = calloc(1, sizeof *it);
    if (it == NULL || !allocate(program, binding, setup->actuator_count)) {
        free(it);
        return rm_configuration_refuse(errors, setup->configuration, "sequences", "no memory");
    }
    *it = (struct sequence_compiling){.path = setup->configuration,
                                      .file = program->file,
                                      .program = program,
                                      .errors = errors,
                                      .supplies = setup->actuator_count,
                                      .supply_name = setup->actuator_name,
                                      .slew_per_s = slew_per_s,
                                      .steps_hz = steps_hz};
    if (setup->actuator_count > SEQUENCE_CHANNELS_MAX)
        sequence_refuse(it, "supplies", "the application has %u supplies, expected at most %d", setup->actuator_count,
                        SEQUENCE_CHANNELS_MAX);
    for (uint32_t a = 0; a < setup->actuator_count && a < SEQUENCE_CHANNELS_MAX; ++a)
        slew_per_s[a] = setup->actuator_slew_per_step[a] * steps_hz;
    for (uint32_t g = 0; g < it->file->groups; ++g)
        bind_group(it, setup, g);
    for (uint32_t i = 0; i < it->file->inputs; ++i) {
        snprintf(it->place, sizeof it->place, "inputs[%u]", i);
        if (it->file->input[i].lane != NULL)
            find_stream(it, setup, i, &binding->source[i]);
        else
            find_supply(it, setup, i, &binding->source[i]);
    }
    it->place[0] = '\0';
    if (it->code == RM_OK) {
        sequence_check_writers(it);
        sequence_check_limits(it);
        sequence_count_costs(program);
        note_uses(program, binding, setup->actuator_count);
        note_inputs(program, binding);
    }
    enum rm_code const code = it->code;
    free(it);
    return code;
}

/** Names the lanes that there are. */
static enum rm_code refuse_lane(struct rm_application_setup const *setup, struct sequence_input const *input,
                                struct rm_stream const *stream, uint32_t index, struct rm_error *error) {
    char names[256] = "";
    for (uint32_t lane = 0; lane < RM_LANES; ++lane)
        if (stream->lane[lane].type != RM_LANE_UNUSED)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] == '\0' ? "" : ", ",
                     stream->lane[lane].name);
    struct rm_errors errors = {.count = 0};
    char place[32];
    snprintf(place, sizeof place, "inputs[%u].lane", index);
    rm_configuration_refuse(&errors, setup->configuration, place, "found the lane \"%s\", expected one of %s",
                            strrchr(input->lane, '.') + 1, names);
    return rm_errors_report(&errors, setup->name, setup->configuration, error);
}

enum rm_code sequence_bind_lanes(struct rm_application_setup const *setup, struct sequence_program const *program,
                                 struct sequence_binding *binding, struct rm_error *error) {
    for (uint32_t i = 0; i < program->file->inputs; ++i) {
        struct sequence_input const *const input = &program->file->input[i];
        struct sequence_source *const source = &binding->source[i];
        if (input->lane == NULL)
            continue;
        struct rm_stream const *const stream = setup->input[source->index];
        for (source->lane = 0; source->lane < RM_LANES; ++source->lane)
            if (stream->lane[source->lane].type != RM_LANE_UNUSED &&
                strcmp(stream->lane[source->lane].name, strrchr(input->lane, '.') + 1) == 0)
                break;
        if (source->lane == RM_LANES)
            return refuse_lane(setup, input, stream, i, error);
    }
    return RM_OK;
}
