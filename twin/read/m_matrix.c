// SPDX-License-Identifier: Apache-2.0
/** Matrices and cell arrays. */
#include <string.h>

#include "m.h"

/** `value` becomes [value other] or, in the other direction, [value; other]. */
static bool join_matrices(struct rm_m_parser *parser, struct rm_value *value, struct rm_value const *other,
                          bool below) {
    if (other->kind != RM_VALUE_NUMBERS)
        return rm_reading_fail(parser->reading, "a matrix holds something that is no number");
    if (other->count == 0)
        return true;
    if (value->count == 0) {
        *value = *other;
        return true;
    }
    if (below ? value->columns != other->columns : value->rows != other->rows)
        return rm_reading_fail(parser->reading, "the rows of a matrix are not of one length");
    uint32_t const count = value->count + other->count;
    if (count > RM_M_MOST_NUMBERS)
        return rm_reading_fail(parser->reading, "a matrix has more than %d numbers", RM_M_MOST_NUMBERS);
    double *const made = rm_reading_take(parser->reading, count, sizeof *made);
    if (made == NULL)
        return false;
    uint32_t const rows = below ? 1 : value->rows; /* below each other they are just two parts */
    uint32_t const left = value->count / rows;
    uint32_t const right = other->count / rows;
    for (uint32_t r = 0; r < rows; ++r) {
        memcpy(made + (size_t)r * (left + right), value->numbers + (size_t)r * left, left * sizeof *made);
        memcpy(made + (size_t)r * (left + right) + left, other->numbers + (size_t)r * right, right * sizeof *made);
    }
    value->rows += below ? other->rows : 0;
    value->columns += below ? 0 : other->columns;
    value->count = count;
    value->numbers = made;
    return true;
}

/** Items of one row, up to what ends it. Collected in one piece as long as they are single numbers. */
static bool read_row(struct rm_m_parser *parser, struct rm_value *row) {
    *row = (struct rm_value){.kind = RM_VALUE_NUMBERS};
    for (;;) {
        (void)rm_m_accept(parser, ',');
        rm_m_skip(parser, false);
        if (parser->at == parser->end || strchr("];\n", *parser->at) != NULL)
            return true;
        struct rm_value item;
        if (!rm_m_expression(parser, &item) || !join_matrices(parser, row, &item, false))
            return false;
    }
}

bool rm_m_matrix(struct rm_m_parser *parser, struct rm_value *value) {
    bool const in_matrix = parser->in_matrix;
    bool held = true;
    *value = (struct rm_value){.kind = RM_VALUE_NUMBERS, .line = parser->line};
    parser->in_matrix = true;
    while (held) {
        struct rm_value row;
        held = read_row(parser, &row) && join_matrices(parser, value, &row, true);
        if (!held || *parser->at == ']' || parser->at == parser->end)
            break;
        parser->line += *parser->at == '\n';
        ++parser->at;
    }
    held = held && rm_m_expect(parser, ']', "behind a matrix");
    parser->in_matrix = in_matrix;
    return held;
}

/** Room for one more item. */
static bool grow_items(struct rm_m_parser *parser, struct rm_value **items, uint32_t count, uint32_t *room) {
    if (count < *room)
        return true;
    uint32_t const more = *room == 0 ? 16 : *room * 2;
    struct rm_value *const grown = rm_reading_take(parser->reading, more, sizeof *grown);
    if (grown == NULL)
        return false;
    if (count != 0)
        memcpy(grown, *items, count * sizeof *grown);
    *items = grown;
    *room = more;
    return true;
}

bool rm_m_cells(struct rm_m_parser *parser, struct rm_value *value) {
    struct rm_value *items = NULL;
    uint32_t count = 0;
    uint32_t room = 0;
    uint32_t const line = parser->line;
    bool const in_matrix = parser->in_matrix;
    parser->in_matrix = false;
    for (;;) {
        while (rm_m_accept(parser, ';') || rm_m_accept(parser, ','))
            ;
        if (rm_m_accept(parser, '}'))
            break;
        if (parser->at == parser->end) {
            rm_reading_at(parser->reading, "line %u", line);
            return rm_reading_fail(parser->reading, "this '{' is never closed; the file ends first");
        }
        if (!grow_items(parser, &items, count, &room) || !rm_m_expression(parser, &items[count]))
            return false;
        ++count;
    }
    parser->in_matrix = in_matrix;
    *value = (struct rm_value){.kind = RM_VALUE_LIST, .count = count, .items = items, .line = line};
    return true;
}
