// SPDX-License-Identifier: Apache-2.0
/** Whatever the bytes: refused with errors that name the file, or a program whose numbers keep their bounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compile.h"
#include "evaluate.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static double const NUMBERS[SEQUENCE_INPUTS_MAX];

/** The stack neither overflows nor runs empty: sanitizers see that. */
static void check_value(struct sequence_program const *program, struct sequence_value value) {
    struct sequence_values const values = {
        .variable = NUMBERS, .parameter = NUMBERS, .counter = NUMBERS, .input = NUMBERS};
    if (value.first + value.ops > program->ops)
        abort();
    if (value.ops > 0)
        sequence_evaluate(program->op + value.first, value.ops, &values);
}

static void check_act(struct sequence_program const *program, struct sequence_act const *act) {
    if (act->kind >= SEQUENCE_ACT_KINDS || (sequence_act_moves(act) && act->group >= program->file->groups) ||
        (act->call != SEQUENCE_NONE && act->call >= program->charts) ||
        (act->ask != SEQUENCE_NONE && act->ask >= program->asks))
        abort();
    check_value(program, act->to);
    check_value(program, act->in_s);
    check_value(program, act->amplitude);
    check_value(program, act->hz);
    check_value(program, act->phase);
}

static void check_chart(struct sequence_program const *program, struct sequence_chart const *chart) {
    uint32_t const end = chart->node + chart->nodes;
    if (end > program->nodes || chart->begin < chart->node || chart->begin >= end || chart->depth == 0 ||
        chart->depth > SEQUENCE_DEPTH_MAX || (chart->abort != SEQUENCE_NONE && chart->abort >= end))
        abort();
    check_value(program, chart->enable);
    for (uint32_t n = chart->node; n < end; ++n) {
        struct sequence_node const *const node = &program->node[n];
        for (uint32_t a = node->act; a < node->act + node->acts; ++a)
            check_act(program, &program->act[a]);
        for (uint32_t a = node->arc; a < node->arc + node->arcs; ++a) {
            check_value(program, program->arc[a].when);
            if (program->arc[a].to < chart->node || program->arc[a].to >= end)
                abort();
        }
    }
}

/** Each error names the file; its words are one line. */
static void check_errors(struct rm_errors const *errors, char const *path) {
    if (errors->count == 0)
        abort();
    for (uint32_t e = 0; e < errors->count && e < RM_ERRORS_MAX; ++e)
        if (strncmp(errors->first[e].text, path, strlen(path)) != 0 || strchr(errors->first[e].text, '\n') != NULL)
            abort();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct sequence_file file;
    struct sequence_program program;
    struct rm_errors errors = {.count = 0}, remarks = {.count = 0};
    char path[32];
    int const memory = memfd_create("sequence", MFD_CLOEXEC);
    if (memory < 0 || write(memory, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    if (sequence_load(path, &file, &program, &remarks, &errors) == RM_OK)
        for (uint32_t c = 0; c < program.charts; ++c)
            check_chart(&program, &program.chart[c]);
    else
        check_errors(&errors, path);
    sequence_program_free(&program);
    rm_configuration_free(sequence_keys, &file);
    close(memory);
    return 0;
}
