// SPDX-License-Identifier: Apache-2.0
/** Sums of products of powers of what stands by itself, as in MATLAB; arithmetic only of single numbers, and of a
 * matrix with a single number. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "m.h"

bool rm_m_number(struct rm_m_parser *parser, double number, struct rm_value *value) {
    double *const numbers = rm_reading_take(parser->reading, 1, sizeof *numbers);
    if (numbers == NULL)
        return false;
    *numbers = number;
    *value = (struct rm_value){
        .kind = RM_VALUE_NUMBERS, .rows = 1, .columns = 1, .count = 1, .numbers = numbers, .line = parser->line};
    return true;
}

/** A text in quotes, of which a doubled one stands for itself. */
static bool read_m_text(struct rm_m_parser *parser, struct rm_value *value) {
    char const quote = *parser->at++;
    char const *const begin = parser->at;
    size_t length = 0;
    while (parser->at < parser->end && *parser->at != '\n' && (*parser->at != quote || parser->at[1] == quote)) {
        parser->at += *parser->at == quote ? 2 : 1;
        ++length;
    }
    if (parser->at >= parser->end || *parser->at != quote) {
        rm_m_here(parser);
        return rm_reading_fail(parser->reading, "a text has no closing quote: %.20s", begin);
    }
    char *const text = rm_reading_take(parser->reading, length + 1, 1);
    if (text == NULL)
        return false;
    char const *from = begin;
    for (size_t i = 0; i < length; ++i) {
        text[i] = *from;
        from += *from == quote ? 2 : 1;
    }
    ++parser->at;
    *value =
        (struct rm_value){.kind = RM_VALUE_TEXT, .count = (uint32_t)strlen(text), .text = text, .line = parser->line};
    return true;
}

static struct rm_value const *find_m_variable(struct rm_m_parser const *parser, char const *name) {
    struct rm_value const all = {.kind = RM_VALUE_FIELDS, .count = parser->variable_count, .fields = parser->variables};
    return rm_value_find(&all, name);
}

/** Arguments up to the closing parenthesis, then the call. */
static bool read_call(struct rm_m_parser *parser, char const *name, uint32_t line, struct rm_value *value) {
    struct rm_value arguments[RM_M_MOST_ARGUMENTS];
    uint32_t count = 0;
    bool const in_matrix = parser->in_matrix;
    parser->in_matrix = false;
    bool held = true;
    bool more = !rm_m_accept(parser, ')');
    while (held && more) {
        held = count < RM_M_MOST_ARGUMENTS
                   ? rm_m_expression(parser, &arguments[count++])
                   : rm_reading_fail(parser->reading, "%s has more than %d arguments", name, RM_M_MOST_ARGUMENTS);
        more = held && rm_m_accept(parser, ',');
        if (held && !more)
            held = rm_m_expect(parser, ')', "behind the arguments of a function");
    }
    parser->in_matrix = in_matrix;
    if (!held)
        return false;
    rm_reading_at(parser->reading, "line %u", line);
    if (!rm_m_call(parser, name, arguments, count, value))
        return false;
    value->line = line;
    return true;
}

static bool read_named(struct rm_m_parser *parser, struct rm_value *value) {
    char name[RM_M_NAME_BYTES];
    uint32_t const line = parser->line;
    rm_m_name(parser, name);
    struct rm_value const *const known = find_m_variable(parser, name);
    if (known != NULL) {
        *value = *known;
        return *parser->at != '(' ? true
                                  : rm_reading_fail(parser->reading,
                                                    "parts of a variable (%s(...)) are not read; "
                                                    "write their values",
                                                    name);
    }
    if (!parser->in_matrix)
        rm_m_skip(parser, false);
    if (*parser->at != '(')
        return rm_m_call(parser, name, NULL, 0, value);
    ++parser->at;
    return read_call(parser, name, line, value);
}

/** Within brackets that stand in a matrix, spaces separate no more. */
static bool read_parenthesis(struct rm_m_parser *parser, struct rm_value *value) {
    bool const in_matrix = parser->in_matrix;
    parser->in_matrix = false;
    bool const held = rm_m_expression(parser, value) && rm_m_expect(parser, ')', "behind what stands in parentheses");
    parser->in_matrix = in_matrix;
    return held;
}

static bool read_primary(struct rm_m_parser *parser, struct rm_value *value) {
    *value = (struct rm_value){0};
    rm_m_skip(parser, !parser->in_matrix);
    char const *behind;
    double const number = rm_reading_number(parser->reading, parser->at, &behind);
    if (behind != parser->at) {
        parser->at = behind;
        return rm_m_number(parser, number, value);
    }
    if (*parser->at == '\'' || *parser->at == '"')
        return read_m_text(parser, value);
    if (rm_m_accept(parser, '['))
        return rm_m_matrix(parser, value);
    if (rm_m_accept(parser, '{'))
        return rm_m_cells(parser, value);
    if (rm_m_accept(parser, '('))
        return read_parenthesis(parser, value);
    char const *const begin = parser->at;
    char name[RM_M_NAME_BYTES];
    rm_m_name(parser, name);
    if (name[0] != '\0') {
        parser->at = begin;
        return read_named(parser, value);
    }
    rm_m_here(parser);
    return rm_reading_fail(parser->reading, "expected a number, a text or an element, found \"%.20s\"", begin);
}

static bool transpose_value(struct rm_m_parser *parser, struct rm_value *value) {
    if (value->kind != RM_VALUE_NUMBERS)
        return rm_reading_fail(parser->reading, "only numbers can be transposed");
    double *const turned = rm_reading_take(parser->reading, value->count, sizeof *turned);
    if (turned == NULL)
        return false;
    for (uint32_t i = 0; i < value->count; ++i)
        turned[i % value->columns * value->rows + i / value->columns] = value->numbers[i];
    uint32_t const rows = value->rows;
    value->rows = value->columns;
    value->columns = rows;
    value->numbers = turned;
    return true;
}

static bool read_postfix(struct rm_m_parser *parser, struct rm_value *value) {
    if (!read_primary(parser, value))
        return false;
    while (*parser->at == '\'') { /* a quote right behind a value; behind a space it would begin a text */
        ++parser->at;
        if (!transpose_value(parser, value))
            return false;
    }
    return true;
}

static double apply_operator(char operator, double a, double b) {
    switch (operator) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return a / b;
    default:
        return pow(a, b);
    }
}

/** `value` becomes value operator other; one of the two may be a matrix, or both of one shape for sums. */
static bool combine_values(struct rm_m_parser *parser, char operator, struct rm_value const * other,
                           struct rm_value *value) {
    bool const numbers = value->kind == RM_VALUE_NUMBERS && other->kind == RM_VALUE_NUMBERS;
    bool const same = numbers && value->rows == other->rows && value->columns == other->columns;
    bool const sum = operator== '+' || operator== '-';
    if (!numbers || !(value->count == 1 || other->count == 1 || (same && sum)))
        return rm_reading_fail(parser->reading,
                               "'%c' is read between single numbers, or a matrix and a number", operator);
    struct rm_value const *const shape = value->count == 1 ? other : value;
    double *const made = rm_reading_take(parser->reading, shape->count, sizeof *made);
    if (made == NULL)
        return false;
    for (uint32_t i = 0; i < shape->count; ++i)
        made[i] = apply_operator(operator, value->numbers[value->count == 1 ? 0 : i],
                                 other->numbers[other->count == 1 ? 0 : i]);
    value->rows = shape->rows;
    value->columns = shape->columns;
    value->count = shape->count;
    value->numbers = made;
    return true;
}

static bool is_space(char c) { return c == ' ' || c == '\t'; }

/** The operator that is next, of those given; 0: none. In a matrix [1 -2] are two numbers, [1 - 2] and [1-2] are one.
 */
static char next_operator(struct rm_m_parser *parser, char const *operators) {
    char const *const before = parser->at;
    rm_m_skip(parser, false);
    char const *at = parser->at;
    if (*at == '.' && (at[1] == '*' || at[1] == '/' || at[1] == '^'))
        ++at;
    bool const spaced = at > before && is_space(at[-1]);
    bool const separates = parser->in_matrix && spaced && (*at == '+' || *at == '-') && !is_space(at[1]);
    if (*at == '\0' || strchr(operators, *at) == NULL || separates) {
        if (parser->in_matrix)
            parser->at = before;
        return 0;
    }
    parser->at = at + 1;
    return *at;
}

static bool read_signed(struct rm_m_parser *parser, struct rm_value *value);

static bool read_power(struct rm_m_parser *parser, struct rm_value *value) {
    if (!read_postfix(parser, value))
        return false;
    struct rm_value exponent;
    while (next_operator(parser, "^") != 0)
        if (!(*parser->at == '-' || *parser->at == '+' ? read_signed(parser, &exponent)
                                                       : read_postfix(parser, &exponent)) ||
            !combine_values(parser, '^', &exponent, value))
            return false;
    return true;
}

static bool negate_value(struct rm_m_parser *parser, struct rm_value *value) {
    struct rm_value minus;
    return rm_m_number(parser, -1, &minus) && combine_values(parser, '*', &minus, value);
}

/** Signs, of which there may be many, and then a power. */
static bool read_signed(struct rm_m_parser *parser, struct rm_value *value) {
    bool negative = false;
    for (;;) {
        if (rm_m_accept(parser, '-'))
            negative = !negative;
        else if (!rm_m_accept(parser, '+'))
            break;
    }
    return read_power(parser, value) && (!negative || negate_value(parser, value));
}

static bool read_product(struct rm_m_parser *parser, struct rm_value *value) {
    if (!read_signed(parser, value))
        return false;
    struct rm_value other;
    for (char operator; (operator= next_operator(parser, "*/")) != 0;)
        if (!read_signed(parser, &other) || !combine_values(parser, operator, & other, value))
            return false;
    return true;
}

static bool read_sum(struct rm_m_parser *parser, struct rm_value *value) {
    if (!read_product(parser, value))
        return false;
    struct rm_value other;
    for (char operator; (operator= next_operator(parser, "+-")) != 0;)
        if (!read_product(parser, &other) || !combine_values(parser, operator, & other, value))
            return false;
    return true;
}

bool rm_m_expression(struct rm_m_parser *parser, struct rm_value *value) {
    rm_m_here(parser);
    if (parser->depth == RM_MOST_DEPTH)
        return rm_reading_fail(parser->reading, "brackets stand within each other more than %d deep", RM_MOST_DEPTH);
    ++parser->depth;
    bool const held = read_sum(parser, value);
    --parser->depth;
    return held;
}
