// SPDX-License-Identifier: Apache-2.0
/** A lattice in a MATLAB file: the first cell array of elements that a variable is set to. Statements before it may set
 * variables that it uses; what stands behind it is not read. */
#include <string.h>

#include "m.h"

static bool set_variable(struct rm_m_parser *parser, char const *name, struct rm_value const *value) {
    if (parser->variable_count == parser->variable_room) {
        uint32_t const room = parser->variable_room == 0 ? 64 : parser->variable_room * 2;
        struct rm_value_field *const more = rm_reading_take(parser->reading, room, sizeof *more);
        if (more == NULL)
            return false;
        if (parser->variable_count != 0)
            memcpy(more, parser->variables, parser->variable_count * sizeof *more);
        parser->variables = more;
        parser->variable_room = room;
    }
    char *const copy = rm_reading_text(parser->reading, name, strlen(name));
    if (copy == NULL)
        return false;
    parser->variables[parser->variable_count++] = (struct rm_value_field){copy, *value};
    return true;
}

static bool add_elements(struct rm_m_parser *parser, struct rm_value const *list) {
    struct rm_lattice_reading *const reading = parser->reading;
    for (uint32_t i = 0; i < list->count; ++i) {
        struct rm_value const *const item = &list->items[i];
        char const *const name = rm_value_text(item, "FamName");
        rm_reading_at(reading, "line %u (%.60s)", item->line, name != NULL ? name : "no name");
        if (item->kind != RM_VALUE_FIELDS)
            return rm_reading_fail(reading, "cell %u is no element; expected atdrift(...) and the like", i + 1);
        if (!rm_reading_add_fields(reading, item))
            return false;
    }
    return true;
}

static bool is_lattice(struct rm_value const *value) {
    return value->kind == RM_VALUE_LIST && value->count != 0 && value->items[0].kind == RM_VALUE_FIELDS;
}

/** Sets `found` when it was the lattice. */
static bool read_statement(struct rm_m_parser *parser, bool *found) {
    char name[RM_M_NAME_BYTES];
    rm_m_name(parser, name);
    rm_m_here(parser);
    if (strcmp(name, "function") == 0) { /* its head is one line */
        while (parser->at < parser->end && *parser->at != '\n')
            ++parser->at;
        return true;
    }
    if (name[0] == '\0' || strcmp(name, "end") == 0)
        return rm_reading_fail(parser->reading, "expected NAME = {...} with the elements, found \"%.20s\"", parser->at);
    struct rm_value value;
    if (!rm_m_accept(parser, '='))
        return rm_reading_fail(parser->reading, "expected '=' behind %.40s; a lattice is NAME = {atdrift(...); ...}",
                               name);
    if (!rm_m_expression(parser, &value))
        return false;
    *found = is_lattice(&value);
    return *found ? add_elements(parser, &value) : set_variable(parser, name, &value);
}

bool rm_read_m(struct rm_lattice_reading *reading, char const *text, size_t count) {
    struct rm_m_parser parser = {.reading = reading, .at = text, .end = text + count, .line = 1};
    bool found = false;
    while (!found) {
        while (rm_m_accept(&parser, ';'))
            ;
        rm_m_skip(&parser, true);
        rm_m_here(&parser);
        if (parser.at >= parser.end)
            return rm_reading_fail(reading, "the file ends without a lattice; expected NAME = {atdrift(...); ...}");
        if (!read_statement(&parser, &found))
            return false;
    }
    return true;
}
