// SPDX-License-Identifier: Apache-2.0
#include "expression.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "evaluate.h"

enum { NEST_MAX = 24, WORD_BYTES = 32 };

/** A text while it is compiled. */
struct parsing {
    char const *text, *at;
    struct sequence_symbol const *symbol;
    uint32_t symbols;
    /** Values that lie on the stack, and parentheses that are open. */
    uint32_t stack, nest;
    struct sequence_expression *made;
    struct sequence_fault *fault;
    bool has_failed;
};

/** What an operator is called, and what it takes and makes. */
static struct {
    char const *name;
    bool takes_truth, makes_truth;
} const CODES[SEQUENCE_CODES] = {
    [SEQUENCE_CONSTANT] = {"a number", false, false},
    [SEQUENCE_VARIABLE] = {"a variable", false, false},
    [SEQUENCE_PARAMETER] = {"a parameter", false, false},
    [SEQUENCE_COUNTER] = {"a counter", false, false},
    [SEQUENCE_INPUT] = {"an input", false, false},
    [SEQUENCE_SECONDS] = {"seconds", false, false},
    [SEQUENCE_TURNS] = {"turns", false, false},
    [SEQUENCE_BASE] = {"base", false, false},
    [SEQUENCE_HERE] = {"here", false, false},
    [SEQUENCE_DONE] = {"done", false, true},
    [SEQUENCE_NEGATE] = {"-", false, false},
    [SEQUENCE_ABS] = {"abs", false, false},
    [SEQUENCE_SQRT] = {"sqrt", false, false},
    [SEQUENCE_SIN] = {"sin", false, false},
    [SEQUENCE_COS] = {"cos", false, false},
    [SEQUENCE_ADD] = {"+", false, false},
    [SEQUENCE_SUBTRACT] = {"-", false, false},
    [SEQUENCE_MULTIPLY] = {"*", false, false},
    [SEQUENCE_DIVIDE] = {"/", false, false},
    [SEQUENCE_MIN] = {"min", false, false},
    [SEQUENCE_MAX] = {"max", false, false},
    [SEQUENCE_LESS] = {"<", false, true},
    [SEQUENCE_LESS_EQUAL] = {"<=", false, true},
    [SEQUENCE_MORE] = {">", false, true},
    [SEQUENCE_MORE_EQUAL] = {">=", false, true},
    [SEQUENCE_EQUAL] = {"==", false, true},
    [SEQUENCE_NOT_EQUAL] = {"!=", false, true},
    [SEQUENCE_AND] = {"and", true, true},
    [SEQUENCE_OR] = {"or", true, true},
    [SEQUENCE_NOT] = {"not", true, true},
};

/** Operands that belong to every expression. */
static struct sequence_symbol const OWN[] = {
    {"seconds", SEQUENCE_SECONDS, 0}, {"turns", SEQUENCE_TURNS, 0}, {"done", SEQUENCE_DONE, 0},
    {"base", SEQUENCE_BASE, 0},       {"here", SEQUENCE_HERE, 0},
};

static enum sequence_code const FUNCTIONS[] = {SEQUENCE_ABS, SEQUENCE_SQRT, SEQUENCE_SIN,
                                               SEQUENCE_COS, SEQUENCE_MIN,  SEQUENCE_MAX};

char const *sequence_code_name(enum sequence_code code) { return CODES[code].name; }

/** Only the first fault of a text is told, in ASCII: what is quoted may end within a character. Returns false: of an
 * expression, that it is a number. */
__attribute__((format(printf, 3, 4))) static bool parse_fail(struct parsing *it, char const *at, char const *format,
                                                             ...) {
    if (it->has_failed)
        return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(it->fault->text, sizeof it->fault->text, format, arguments);
    va_end(arguments);
    for (char *byte = it->fault->text; *byte != '\0'; ++byte)
        if ((unsigned char)*byte >= 128)
            *byte = '?';
    it->fault->at = (uint32_t)(at - it->text) + 1;
    it->has_failed = true;
    return false;
}

static void skip_blanks(struct parsing *it) {
    while (*it->at == ' ' || *it->at == '\t' || *it->at == '\n')
        ++it->at;
}

static bool takes_one(enum sequence_code code) {
    return (code >= SEQUENCE_NEGATE && code <= SEQUENCE_COS) || code == SEQUENCE_NOT;
}

uint32_t sequence_code_operands(uint32_t code) { return code <= SEQUENCE_DONE ? 0 : takes_one(code) ? 1 : 2; }

/** Operations on constants alone are done at once. */
static void fold(struct parsing *it, uint32_t operands) {
    struct sequence_expression *const made = it->made;
    struct sequence_values const none = {.variable = NULL};
    uint32_t const first = made->ops - operands - 1;
    for (uint32_t i = first; i < made->ops - 1; ++i)
        if (made->op[i].code != SEQUENCE_CONSTANT)
            return;
    double const value = sequence_evaluate(made->op + first, operands + 1, &none);
    made->op[first] = (struct sequence_op){.code = SEQUENCE_CONSTANT, .value = value};
    made->ops = first + 1;
}

static void emit(struct parsing *it, struct sequence_op op) {
    struct sequence_expression *const made = it->made;
    uint32_t const operands = sequence_code_operands(op.code);
    if (it->has_failed)
        return;
    if (made->ops == SEQUENCE_OPS_MAX) {
        parse_fail(it, it->at, "it has more than %d operations, expected fewer: split it", SEQUENCE_OPS_MAX);
        return;
    }
    it->stack = it->stack + 1 - operands;
    if (it->stack > SEQUENCE_STACK_MAX) {
        parse_fail(it, it->at, "more than %d values wait for each other, expected fewer: split it", SEQUENCE_STACK_MAX);
        return;
    }
    made->op[made->ops++] = op;
    made->uses |= 1u << op.code;
    if (operands > 0)
        fold(it, operands);
}

/** Emits an operator behind its operands, if they are of the type that it takes. Returns whether it makes a truth. */
static bool apply(struct parsing *it, enum sequence_code code, char const *at, bool left_is_truth,
                  bool right_is_truth) {
    bool const wanted = CODES[code].takes_truth;
    if (left_is_truth != wanted || right_is_truth != wanted)
        return parse_fail(it, at, "\"%s\" takes %s, and is given %s", CODES[code].name,
                          wanted ? "conditions, such as x > 1" : "numbers", wanted ? "a number" : "a condition");
    emit(it, (struct sequence_op){.code = code});
    return CODES[code].makes_truth;
}

static bool parse_or(struct parsing *it);

static bool parse_number(struct parsing *it) {
    char *end;
    char const *at = it->at;
    size_t const digits = strspn(at, "0123456789.");
    bool const has_exponent = (at[digits] == 'e' || at[digits] == 'E') &&
                              isdigit((unsigned char)at[digits + 1 + strspn(at + digits + 1, "+-")]);
    double const value = strtod(at, &end);
    if (digits == 1 && *at == '.')
        return parse_fail(it, at, "found \".\", expected a number");
    if (end == at || (!has_exponent && end != at + digits) || isalpha((unsigned char)*end) || *end == '_' ||
        *end == '.')
        return parse_fail(it, at, "found \"%.20s\", expected a number such as 12, 0.5 or 1e-3", at);
    it->at = end;
    emit(it, (struct sequence_op){.code = SEQUENCE_CONSTANT, .value = value});
    return false;
}

static bool expect_sign(struct parsing *it, char sign, char const *why) {
    skip_blanks(it);
    if (*it->at != sign)
        return parse_fail(it, it->at, "found %s%.1s%s, expected \"%c\"%s", *it->at == '\0' ? "the end" : "\"", it->at,
                          *it->at == '\0' ? "" : "\"", sign, why);
    ++it->at;
    return true;
}

static bool parse_function(struct parsing *it, enum sequence_code code, char const *at) {
    expect_sign(it, '(', " behind the name of a function");
    bool const left = it->has_failed ? false : parse_or(it);
    bool right = left;
    if (!takes_one(code)) {
        expect_sign(it, ',', ": it takes two");
        right = it->has_failed ? false : parse_or(it);
    }
    expect_sign(it, ')', "");
    return apply(it, code, at, left, right);
}

static bool fail_unknown(struct parsing *it, char const *at, char const *word) {
    struct rm_nearest nearest = {.wanted = word};
    for (uint32_t i = 0; i < it->symbols; ++i)
        rm_nearest_offer(&nearest, it->symbol[i].name);
    for (unsigned i = 0; i < sizeof OWN / sizeof *OWN; ++i)
        rm_nearest_offer(&nearest, OWN[i].name);
    for (unsigned i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; ++i)
        rm_nearest_offer(&nearest, CODES[FUNCTIONS[i]].name);
    if (nearest.name != NULL)
        return parse_fail(it, at, "unknown name \"%s\" (did you mean \"%s\"?)", word, nearest.name);
    return parse_fail(it, at, "unknown name \"%s\", expected one of inputs, parameters or variables", word);
}

static bool parse_name(struct parsing *it) {
    char word[WORD_BYTES];
    char const *const at = it->at;
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        ++length;
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    it->at += length;
    for (unsigned i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; ++i)
        if (strcmp(CODES[FUNCTIONS[i]].name, word) == 0)
            return parse_function(it, FUNCTIONS[i], at);
    for (unsigned i = 0; i < it->symbols + sizeof OWN / sizeof *OWN; ++i) {
        struct sequence_symbol const *symbol = i < it->symbols ? &it->symbol[i] : &OWN[i - it->symbols];
        if (length >= WORD_BYTES || strcmp(symbol->name, word) != 0)
            continue;
        emit(it, (struct sequence_op){.code = symbol->code, .index = symbol->index});
        return CODES[symbol->code].makes_truth;
    }
    return fail_unknown(it, at, word);
}

static bool parse_operand(struct parsing *it) {
    skip_blanks(it);
    char const *const at = it->at;
    if (*at == '(') {
        ++it->at;
        bool const is_truth = parse_or(it);
        expect_sign(it, ')', "");
        return is_truth;
    }
    if (isdigit((unsigned char)*at) || *at == '.')
        return parse_number(it);
    if (isalpha((unsigned char)*at) || *at == '_')
        return parse_name(it);
    if (*at == '\0')
        return parse_fail(it, at, "it ends here, expected a number or a name");
    return parse_fail(it, at, "found \"%.1s\", expected a number or a name", at);
}

static bool parse_sign(struct parsing *it) {
    skip_blanks(it);
    char const *const at = it->at;
    if (*at != '-' && *at != '+')
        return parse_operand(it);
    if (++it->nest > NEST_MAX)
        return parse_fail(it, at, "more than %d parentheses and signs are within each other", NEST_MAX);
    ++it->at;
    bool const is_truth = parse_sign(it);
    --it->nest;
    if (*at == '+' && !is_truth)
        return false;
    return apply(it, SEQUENCE_NEGATE, at, is_truth, is_truth);
}

static bool parse_product(struct parsing *it) {
    bool is_truth = parse_sign(it);
    for (;;) {
        skip_blanks(it);
        char const *const at = it->at;
        if (it->has_failed || (*at != '*' && *at != '/'))
            return is_truth;
        ++it->at;
        bool const right = parse_sign(it);
        is_truth = apply(it, *at == '*' ? SEQUENCE_MULTIPLY : SEQUENCE_DIVIDE, at, is_truth, right);
    }
}

static bool parse_sum(struct parsing *it) {
    bool is_truth = parse_product(it);
    for (;;) {
        skip_blanks(it);
        char const *const at = it->at;
        if (it->has_failed || (*at != '+' && *at != '-'))
            return is_truth;
        ++it->at;
        bool const right = parse_product(it);
        is_truth = apply(it, *at == '+' ? SEQUENCE_ADD : SEQUENCE_SUBTRACT, at, is_truth, right);
    }
}

/** The operator that stands here; SEQUENCE_CODES: none. */
static enum sequence_code take_comparison(struct parsing *it) {
    static enum sequence_code const longest_first[] = {SEQUENCE_LESS_EQUAL, SEQUENCE_MORE_EQUAL, SEQUENCE_EQUAL,
                                                       SEQUENCE_NOT_EQUAL,  SEQUENCE_LESS,       SEQUENCE_MORE};
    skip_blanks(it);
    for (unsigned i = 0; i < sizeof longest_first / sizeof *longest_first; ++i) {
        char const *const sign = CODES[longest_first[i]].name;
        if (strncmp(it->at, sign, strlen(sign)) != 0)
            continue;
        it->at += strlen(sign);
        return longest_first[i];
    }
    return SEQUENCE_CODES;
}

static bool parse_comparison(struct parsing *it) {
    bool const left = parse_sum(it);
    skip_blanks(it);
    char const *const at = it->at;
    enum sequence_code const code = it->has_failed ? SEQUENCE_CODES : take_comparison(it);
    if (code == SEQUENCE_CODES)
        return left;
    bool const right = parse_sum(it);
    bool const is_truth = apply(it, code, at, left, right);
    skip_blanks(it);
    char const *const next = it->at;
    if (!it->has_failed && take_comparison(it) != SEQUENCE_CODES)
        return parse_fail(it, next, "comparisons in a row, expected one: write a < b and b < c");
    return is_truth;
}

/** Takes a word such as `and`, if it stands here. */
static bool take_word(struct parsing *it, char const *word) {
    size_t const length = strlen(word);
    skip_blanks(it);
    if (it->has_failed || strncmp(it->at, word, length) != 0 || isalnum((unsigned char)it->at[length]) ||
        it->at[length] == '_')
        return false;
    it->at += length;
    return true;
}

static bool parse_not(struct parsing *it) {
    skip_blanks(it);
    char const *const at = it->at;
    if (!take_word(it, "not"))
        return parse_comparison(it);
    if (++it->nest > NEST_MAX)
        return parse_fail(it, at, "more than %d parentheses and signs are within each other", NEST_MAX);
    bool const is_truth = parse_not(it);
    --it->nest;
    return apply(it, SEQUENCE_NOT, at, is_truth, is_truth);
}

static bool parse_and(struct parsing *it) {
    bool is_truth = parse_not(it);
    while (take_word(it, "and")) {
        char const *const at = it->at - 3;
        bool const right = parse_not(it);
        is_truth = apply(it, SEQUENCE_AND, at, is_truth, right);
    }
    return is_truth;
}

static bool parse_or(struct parsing *it) {
    if (++it->nest > NEST_MAX)
        return parse_fail(it, it->at, "more than %d parentheses and signs are within each other", NEST_MAX);
    bool is_truth = parse_and(it);
    while (take_word(it, "or")) {
        char const *const at = it->at - 2;
        bool const right = parse_and(it);
        is_truth = apply(it, SEQUENCE_OR, at, is_truth, right);
    }
    --it->nest;
    return is_truth;
}

bool sequence_expression_compile(char const *text, struct sequence_symbol const *symbol, uint32_t symbols,
                                 struct sequence_expression *expression, struct sequence_fault *fault) {
    struct parsing it = {
        .text = text, .at = text, .symbol = symbol, .symbols = symbols, .made = expression, .fault = fault};
    *expression = (struct sequence_expression){.ops = 0};
    expression->is_truth = parse_or(&it);
    skip_blanks(&it);
    if (!it.has_failed && *it.at != '\0')
        parse_fail(&it, it.at, "found \"%.20s\", expected an operator or the end", it.at);
    return !it.has_failed;
}
