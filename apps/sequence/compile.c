// SPDX-License-Identifier: Apache-2.0
#include "compile.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "check.h"

enum { WORDS_BYTES = 400 };

/** Adds to a list, and returns the code of an error. */
__attribute__((format(printf, 4, 0))) static enum rm_code tell(struct sequence_compiling *it, struct rm_errors *list,
                                                               char const *key, char const *format, va_list arguments) {
    char place[2 * SEQUENCE_PLACE_BYTES], words[WORDS_BYTES];
    vsnprintf(words, sizeof words, format, arguments);
    snprintf(place, sizeof place, "%s%s%s", it->place, it->place[0] != '\0' && key != NULL ? "." : "",
             key != NULL ? key : "");
    return rm_configuration_refuse(list, it->path, place, "%s", words);
}

void sequence_refuse(struct sequence_compiling *it, char const *key, char const *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    it->code = rm_code_first(it->code, tell(it, it->errors, key, format, arguments));
    va_end(arguments);
}

void sequence_remark(struct sequence_compiling *it, char const *key, char const *format, ...) {
    if (it->remarks == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    tell(it, it->remarks, key, format, arguments);
    va_end(arguments);
}

static char const *name_at(void const *list, uint32_t index, size_t bytes) {
    return *(char *const *)(void const *)((char const *)list + index * bytes);
}

uint32_t sequence_find(struct sequence_compiling *it, char const *key, char const *what, char const *name,
                       void const *list, uint32_t count, size_t bytes) {
    if (name == NULL)
        return SEQUENCE_NONE;
    struct rm_nearest nearest = {.wanted = name};
    for (uint32_t i = 0; i < count; ++i) {
        if (strcmp(name_at(list, i, bytes), name) == 0)
            return i;
        rm_nearest_offer(&nearest, name_at(list, i, bytes));
    }
    if (nearest.name != NULL)
        sequence_refuse(it, key, "there is no %s \"%s\" (did you mean \"%s\"?)", what, name, nearest.name);
    else
        sequence_refuse(it, key, "there is no %s \"%s\", expected one of the %u that the file has", what, name, count);
    return SEQUENCE_NONE;
}

/* ── expressions ── */

static bool make_room(struct sequence_program *program, uint32_t more) {
    if (program->ops + more <= program->op_room)
        return true;
    uint32_t const room = 2 * program->op_room + more;
    struct sequence_op *const op = realloc(program->op, room * sizeof *op);
    program->op = op != NULL ? op : program->op;
    struct sequence_instruction *const instruction = realloc(program->instruction, room * sizeof *instruction);
    program->instruction = instruction != NULL ? instruction : program->instruction;
    if (op == NULL || instruction == NULL)
        return false;
    program->op_room = room;
    return true;
}

/** Adds an expression to the program; with an error where there is no room for it. */
static struct sequence_value add_value(struct sequence_compiling *it, char const *key,
                                       struct sequence_expression const *made) {
    struct sequence_program *const program = it->program;
    struct sequence_value value = {.first = program->ops, .ops = made->ops, .instruction = program->instructions};
    struct sequence_lowered lowered;
    if (!make_room(program, made->ops)) {
        sequence_refuse(it, key, "no memory");
        return (struct sequence_value){.ops = 0};
    }
    if (!sequence_lower(made, program->number, &program->numbers, &lowered)) {
        sequence_refuse(it, key, "the file has more than %u different numbers, expected fewer", program->numbers);
        return (struct sequence_value){.ops = 0};
    }
    memcpy(program->op + program->ops, made->op, made->ops * sizeof made->op[0]);
    memcpy(program->instruction + program->instructions, lowered.instruction,
           lowered.instructions * sizeof lowered.instruction[0]);
    value.instructions = (uint16_t)lowered.instructions;
    value.cell = (uint16_t)lowered.cell;
    program->ops += made->ops;
    program->instructions += lowered.instructions;
    return value;
}

struct sequence_value sequence_compile_value(struct sequence_compiling *it, char const *key, char const *text,
                                             bool is_condition, uint32_t allowed) {
    static enum sequence_code const limited[] = {SEQUENCE_BASE, SEQUENCE_HERE, SEQUENCE_DONE, SEQUENCE_SECONDS,
                                                 SEQUENCE_TURNS};
    struct sequence_expression made;
    struct sequence_fault fault;
    struct sequence_value value = {.ops = 0};
    if (text == NULL)
        return value;
    if (!sequence_expression_compile(text, it->symbol, it->symbols, &made, &fault)) {
        sequence_refuse(it, key, "character %u: %s", fault.at, fault.text);
        return value;
    }
    for (unsigned i = 0; i < sizeof limited / sizeof *limited; ++i)
        if (sequence_expression_has(made.uses, limited[i]) && !sequence_expression_has(allowed, limited[i]))
            sequence_refuse(it, key, "\"%s\" has no meaning here", sequence_code_name(limited[i]));
    if (made.is_truth != is_condition)
        sequence_refuse(it, key,
                        is_condition ? "found a number, expected a condition, such as x > 1"
                                     : "found a condition, expected a number");
    return add_value(it, key, &made);
}

/* ── names ── */

static bool is_a_name(char const *name) {
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    for (; *name != '\0'; ++name)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

/** Words of expressions, which no name may be. */
static bool is_taken(char const *name) {
    static char const *const words[] = {"and",  "or",  "not", "seconds", "turns", "done", "base",
                                        "here", "abs", "min", "max",     "sqrt",  "sin",  "cos"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; ++i)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

static void add_symbol(struct sequence_compiling *it, char const *name, enum sequence_code code, uint32_t index) {
    if (!is_a_name(name))
        sequence_refuse(it, "name", "found \"%s\", expected letters, digits and _, a letter first", name);
    else if (is_taken(name))
        sequence_refuse(it, "name", "\"%s\" is a word of expressions, expected another name", name);
    for (uint32_t i = 0; i < it->symbols; ++i)
        if (strcmp(it->symbol[i].name, name) == 0)
            sequence_refuse(it, "name", "\"%s\" is the name of another input, parameter, variable or counter", name);
    it->symbol[it->symbols++] = (struct sequence_symbol){.name = name, .code = code, .index = index};
}

static void refuse_twins(struct sequence_compiling *it, char const *what, void const *list, uint32_t count,
                         size_t bytes) {
    char const *const outer = it->place;
    size_t const length = strlen(outer);
    for (uint32_t i = 1; i < count; ++i)
        for (uint32_t k = 0; k < i; ++k)
            if (strcmp(name_at(list, i, bytes), name_at(list, k, bytes)) == 0) {
                snprintf(it->place + length, sizeof it->place - length, "%s%s[%u]", length > 0 ? "." : "", what, i);
                sequence_refuse(it, "name", "%s[%u] has that name", what, k);
                it->place[length] = '\0';
            }
}

static void name_inputs(struct sequence_compiling *it, struct sequence_file const *file) {
    for (uint32_t i = 0; i < file->inputs; ++i) {
        struct sequence_input const *input = &file->input[i];
        snprintf(it->place, sizeof it->place, "inputs[%u]", i);
        add_symbol(it, input->name, SEQUENCE_INPUT, i);
        if ((input->lane != NULL) == (input->supply != NULL))
            sequence_refuse(it, NULL, "%s of lane and supply, expected one", input->lane != NULL ? "both" : "none");
        else if (input->lane != NULL && strrchr(input->lane, '.') == NULL)
            sequence_refuse(it, "lane", "found \"%s\", expected INPUT.LANE, such as bpm01/raw.x1", input->lane);
    }
}

static void name_variables(struct sequence_compiling *it, struct sequence_file const *file) {
    for (uint32_t i = 0; i < file->variables; ++i) {
        struct sequence_variable const *variable = &file->variable[i];
        snprintf(it->place, sizeof it->place, "variables[%u]", i);
        add_symbol(it, variable->name, SEQUENCE_VARIABLE, i);
        if (!(variable->low <= variable->high))
            sequence_refuse(it, "high", "found %g, expected at least low, %g", variable->high, variable->low);
        else if (variable->value < variable->low || variable->value > variable->high)
            sequence_refuse(it, "value", "found %g, expected %g to %g", variable->value, variable->low, variable->high);
    }
}

static void name_all(struct sequence_compiling *it) {
    struct sequence_file const *file = it->file;
    name_inputs(it, file);
    for (uint32_t i = 0; i < file->parameters; ++i) {
        snprintf(it->place, sizeof it->place, "parameters[%u]", i);
        add_symbol(it, file->parameter[i].name, SEQUENCE_PARAMETER, i);
    }
    name_variables(it, file);
    for (uint32_t i = 0; i < file->counters; ++i) {
        snprintf(it->place, sizeof it->place, "counters[%u]", i);
        add_symbol(it, file->counter[i].name, SEQUENCE_COUNTER, i);
        if (file->counter[i].value < file->counter[i].low || file->counter[i].value > file->counter[i].high)
            sequence_refuse(it, "value", "found %g, expected %g to %g", file->counter[i].value, file->counter[i].low,
                            file->counter[i].high);
    }
    it->place[0] = '\0';
    refuse_twins(it, "supplies", file->group, file->groups, sizeof file->group[0]);
    refuse_twins(it, "tables", file->table, file->tables, sizeof file->table[0]);
    refuse_twins(it, "sequences", file->sequence, file->sequences, sizeof file->sequence[0]);
    for (uint32_t i = 0; i < file->groups; ++i)
        if (file->group[i].low > file->group[i].high) {
            snprintf(it->place, sizeof it->place, "supplies[%u]", i);
            sequence_refuse(it, "high", "found %g, expected at least low, %g", file->group[i].high, file->group[i].low);
        }
    for (uint32_t s = 0; s < file->sequences; ++s) {
        snprintf(it->place, sizeof it->place, "sequences[%u]", s);
        refuse_twins(it, "states", file->sequence[s].state, file->sequence[s].states,
                     sizeof file->sequence[s].state[0]);
    }
    it->place[0] = '\0';
}

/* ── the whole ── */

static bool allocate(struct sequence_program *program, struct sequence_file const *file) {
    uint32_t nodes = 0, acts = 0, arcs = 0;
    for (uint32_t s = 0; s < file->sequences; ++s) {
        nodes += file->sequence[s].states;
        for (uint32_t n = 0; n < file->sequence[s].states; ++n) {
            acts += file->sequence[s].state[n].actions;
            arcs += file->sequence[s].state[n].ways;
        }
    }
    program->chart = calloc(file->sequences + 1, sizeof *program->chart);
    program->node = calloc(nodes + 1, sizeof *program->node);
    program->act = calloc(acts + 1, sizeof *program->act);
    program->arc = calloc(arcs + 1, sizeof *program->arc);
    return program->chart != NULL && program->node != NULL && program->act != NULL && program->arc != NULL &&
           make_room(program, 64);
}

void sequence_program_free(struct sequence_program *program) {
    free(program->op);
    free(program->instruction);
    free(program->chart);
    free(program->node);
    free(program->act);
    free(program->arc);
    free(program->group);
    free(program->member);
    free(program->low);
    free(program->high);
    *program = (struct sequence_program){.file = NULL};
}

/** Where a name is missing the keys have told so. */
static enum rm_code compile_file(char const *path, void *values, struct rm_errors *errors) {
    struct sequence_file *const file = values;
    struct sequence_program program = {.file = file};
    struct sequence_compiling *it = calloc(1, sizeof *it);
    if (it == NULL || !allocate(&program, file)) {
        free(it);
        sequence_program_free(&program);
        return rm_configuration_refuse(errors, path, "sequences", "no memory");
    }
    *it = (struct sequence_compiling){
        .path = path, .file = file, .program = &program, .errors = errors, .remarks = file->remarks};
    name_all(it);
    program.beam_lost = sequence_compile_value(it, "beam_lost", file->beam_lost, true, 0);
    sequence_compile_states(it);
    if (it->code == RM_OK)
        sequence_check(it);
    enum rm_code const code = it->code;
    free(it);
    if (code == RM_OK)
        *file->made = program;
    else
        sequence_program_free(&program);
    return code;
}

enum rm_code sequence_load(char const *path, struct sequence_file *file, struct sequence_program *program,
                           struct rm_errors *remarks, struct rm_errors *errors) {
    *file = (struct sequence_file){.made = program, .remarks = remarks};
    *program = (struct sequence_program){.file = file};
    enum rm_code const code = rm_configuration_load(path, sequence_keys, file, compile_file, errors);
    if (code != RM_OK)
        sequence_program_free(program);
    return code;
}
