// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include <math.h>

#include "base/json.h"

static char const *const shapes[] = {"s_curve", "linear"};
static char const *const feedbacks[] = {"none", "off", "on", "hold"};
static char const *const ends[] = {"none", "done", "failed"};

static void write_text(FILE *out, char const *key, char const *text) {
    fprintf(out, ", \"%s\": ", key);
    if (text == NULL)
        fputs("null", out);
    else
        rm_json_text(out, text);
}

/** A key of an action, which only some kinds have. */
static void write_key(FILE *out, char const *key, char const *text) {
    if (text != NULL)
        write_text(out, key, text);
}

static void write_number(FILE *out, char const *key, double number) {
    if (isfinite(number))
        fprintf(out, ", \"%s\": %.17g", key, number);
    else
        fprintf(out, ", \"%s\": null", key);
}

static void begin_entry(FILE *out, uint32_t index, char const *name) {
    fprintf(out, "%s{\"name\": ", index > 0 ? ", " : "");
    rm_json_text(out, name);
}

static void write_list(FILE *out, char const *key, struct rm_errors const *list) {
    fprintf(out, ", \"%s\": [", key);
    for (uint32_t e = 0; e < list->count && e < RM_ERRORS_MAX; ++e) {
        fputs(e > 0 ? ", " : "", out);
        rm_json_text(out, list->first[e].text);
    }
    fputs("]", out);
}

static void describe_names(FILE *out, struct sequence_file const *file) {
    fputs(", \"inputs\": [", out);
    for (uint32_t i = 0; i < file->inputs; ++i) {
        begin_entry(out, i, file->input[i].name);
        write_key(out, "lane", file->input[i].lane);
        write_key(out, "supply", file->input[i].supply);
        fputs("}", out);
    }
    fputs("], \"parameters\": [", out);
    for (uint32_t i = 0; i < file->parameters; ++i) {
        begin_entry(out, i, file->parameter[i].name);
        write_text(out, "parameter", file->parameter[i].parameter);
        fputs("}", out);
    }
    fputs("], \"variables\": [", out);
    for (uint32_t i = 0; i < file->variables; ++i) {
        begin_entry(out, i, file->variable[i].name);
        write_number(out, "value", file->variable[i].value);
        write_number(out, "low", file->variable[i].low);
        write_number(out, "high", file->variable[i].high);
        write_text(out, "unit", file->variable[i].unit);
        write_text(out, "description", file->variable[i].description);
        fputs("}", out);
    }
}

static void describe_groups(FILE *out, struct sequence_file const *file) {
    fputs("], \"counters\": [", out);
    for (uint32_t i = 0; i < file->counters; ++i) {
        begin_entry(out, i, file->counter[i].name);
        write_number(out, "value", file->counter[i].value);
        write_number(out, "low", file->counter[i].low);
        write_number(out, "high", file->counter[i].high);
        fputs("}", out);
    }
    fputs("], \"supplies\": [", out);
    for (uint32_t i = 0; i < file->groups; ++i) {
        begin_entry(out, i, file->group[i].name);
        fputs(", \"supplies\": [", out);
        for (uint32_t s = 0; s < file->group[i].supplies; ++s) {
            fputs(s > 0 ? ", " : "", out);
            rm_json_text(out, file->group[i].supply[s]);
        }
        fputs("]", out);
        write_number(out, "low", file->group[i].low);
        write_number(out, "high", file->group[i].high);
        fputs("}", out);
    }
    fputs("], \"tables\": [", out);
    for (uint32_t i = 0; i < file->tables; ++i) {
        begin_entry(out, i, file->table[i].name);
        fputs(", \"points\": [", out);
        for (uint32_t p = 0; p < file->table[i].points; ++p)
            fprintf(out, "%s%.17g", p > 0 ? ", " : "", file->table[i].point[p]);
        fputs("]}", out);
    }
    fputs("]", out);
}

static void describe_act(FILE *out, uint32_t index, struct sequence_act const *act,
                         struct sequence_action const *action) {
    char const *const group = action->set != NULL     ? action->set
                              : action->ramp != NULL  ? action->ramp
                              : action->pulse != NULL ? action->pulse
                                                      : action->excite;
    fprintf(out, "%s{\"kind\": \"%s\"", index > 0 ? ", " : "", sequence_act_name(act->kind));
    write_key(out, "supplies", group);
    write_key(out, "to", action->to);
    write_key(out, "in_s", action->in_s);
    write_key(out, "table", action->table);
    write_key(out, "amplitude", action->amplitude);
    write_key(out, "hz", action->hz);
    write_key(out, "phase", action->phase);
    write_key(out, "wait", action->wait);
    write_key(out, "call", action->call);
    write_key(out, "let", action->let);
    write_key(out, "put", action->put);
    write_key(out, "value", action->value);
    write_key(out, "trigger", action->trigger);
    write_key(out, "record", action->record);
    if (act->kind == SEQUENCE_ACT_RAMP && action->table == NULL)
        write_text(out, "shape", shapes[action->shape]);
    if (act->kind == SEQUENCE_ACT_EXCITE)
        write_number(out, "ramp_s", action->ramp_s);
    if (act->kind == SEQUENCE_ACT_FEEDBACK)
        write_text(out, "feedback", feedbacks[action->feedback]);
    fputs("}", out);
}

static void describe_state(FILE *out, struct sequence_program const *program, struct sequence_state const *state,
                           uint32_t index) {
    struct sequence_node const *const node = &program->node[index];
    fprintf(out, "{\"number\": %u", index + 1);
    write_text(out, "name", state->name);
    write_text(out, "end", ends[state->end]);
    write_number(out, "timeout_s", node->timeout_s);
    write_text(out, "on_timeout", state->on_timeout);
    write_text(out, "call", node->call == SEQUENCE_NONE ? NULL : program->file->sequence[node->call].name);
    fprintf(out, ", \"cost_step\": %u, \"cost_enter\": %u, \"do\": [", node->cost_step, node->cost_enter);
    for (uint32_t a = 0; a < node->acts; ++a)
        describe_act(out, a, &program->act[node->act + a], &state->action[a]);
    fputs("], \"then\": [", out);
    for (uint32_t w = 0; w < state->ways; ++w) {
        fprintf(out, "%s{\"when\": ", w > 0 ? ", " : "");
        rm_json_text(out, state->way[w].when);
        write_text(out, "to", state->way[w].to);
        fputs("}", out);
    }
    fputs("]}", out);
}

static void describe_sequence(FILE *out, struct sequence_program const *program, uint32_t index) {
    struct sequence_sequence const *const sequence = &program->file->sequence[index];
    struct sequence_chart const *const chart = &program->chart[index];
    fprintf(out, "%s{\"number\": %u", index > 0 ? ", " : "", index + 1);
    write_text(out, "name", sequence->name);
    write_text(out, "description", sequence->description);
    write_text(out, "begin", sequence->state[chart->begin - chart->node].name);
    write_text(out, "abort", sequence->abort);
    write_text(out, "enable", sequence->enable);
    write_number(out, "timeout_s", sequence->timeout_s);
    fprintf(out, ", \"depth\": %u, \"cost\": %u, \"states\": [", chart->depth, chart->cost);
    for (uint32_t n = 0; n < sequence->states; ++n) {
        fputs(n > 0 ? ", " : "", out);
        describe_state(out, program, &sequence->state[n], chart->node + n);
    }
    fputs("]}", out);
}

void sequence_describe(FILE *out, char const *path, struct sequence_program const *program,
                       struct rm_errors const *errors, struct rm_errors const *remarks) {
    fputs("{\"file\": ", out);
    rm_json_text(out, path);
    write_list(out, "errors", errors);
    fprintf(out, ", \"error_count\": %u", errors->count);
    write_list(out, "remarks", remarks);
    if (errors->count == 0) {
        struct sequence_file const *const file = program->file;
        describe_names(out, file);
        describe_groups(out, file);
        write_text(out, "beam_lost", file->beam_lost);
        fprintf(out, ", \"missing_steps\": %u, \"follow_steps\": %u, \"sequences\": [", file->missing_steps,
                file->follow_steps);
        for (uint32_t s = 0; s < file->sequences; ++s)
            describe_sequence(out, program, s);
        fputs("]", out);
    }
    fputs("}\n", out);
}
