// SPDX-License-Identifier: Apache-2.0
/** A lattice in a MATLAB file: a cell array with a structure for each element. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "mat.h"

enum { MOST_VARIABLES = 256, VERSION_AT = 124, ORDER_AT = 126, VERSION_5 = 0x0100, HDF5_VERSION = 0x0200 };

static bool read_header(struct rm_mat_bytes *from, size_t count) {
    char const *const order = (char const *)from->at + ORDER_AT;
    if (count >= RM_MAT_HEADER_BYTES && (memcmp(order, "IM", 2) == 0 || memcmp(order, "MI", 2) == 0)) {
        from->swapped = order[0] == 'M';
        int const low = from->at[VERSION_AT + (from->swapped ? 1 : 0)];
        int const high = from->at[VERSION_AT + (from->swapped ? 0 : 1)];
        from->at += RM_MAT_HEADER_BYTES;
        if (high * 256 + low == HDF5_VERSION)
            return rm_reading_fail(from->reading, "this is MATLAB's version 7.3, an HDF5 file; save it with -v7");
        return true;
    }
    return rm_reading_fail(from->reading,
                           "this is no MATLAB file of version 5 to 7; save the lattice with -v7, or with "
                           "pyAT's save_mat");
}

/** What zlib makes of an item. Grown as it comes: the file says nothing of how much that is. */
static bool inflate_item(struct rm_mat_bytes const *from, struct rm_mat_item const *item, uint8_t **bytes,
                         size_t *count) {
    struct rm_lattice_reading *const reading = from->reading;
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)item->data, .avail_in = item->bytes};
    if (inflateInit(&stream) != Z_OK)
        return rm_reading_fail(reading, "zlib cannot begin; free some memory");
    size_t room = (size_t)item->bytes * 4 + 1024;
    uint8_t *made = NULL;
    int status = Z_OK;
    *count = 0;
    while (status == Z_OK && *count < RM_MOST_FILE_BYTES) {
        uint8_t *const more = rm_reading_take(reading, room, 1);
        if (more == NULL)
            break;
        if (made != NULL)
            memcpy(more, made, *count);
        made = more;
        stream.next_out = made + *count;
        stream.avail_out = (uInt)(room - *count);
        status = inflate(&stream, Z_NO_FLUSH);
        *count = room - stream.avail_out;
        if (stream.avail_out != 0)
            break;
        room *= 2;
    }
    inflateEnd(&stream);
    *bytes = made;
    return made != NULL && status == Z_STREAM_END
               ? true
               : rm_reading_fail(reading, "a compressed variable in it is broken or too long; save the file again");
}

static bool next_variable(struct rm_mat_bytes *from, char const **name, struct rm_value *value) {
    struct rm_mat_item item;
    if (!rm_mat_next(from, &item))
        return false;
    struct rm_mat_bytes inside = rm_mat_inside(from, &item);
    if (item.type == RM_MAT_COMPRESSED) {
        uint8_t *bytes = NULL;
        size_t count = 0;
        if (!inflate_item(from, &item, &bytes, &count))
            return false;
        inside.at = bytes;
        inside.end = bytes + count;
        if (!rm_mat_next(&inside, &item))
            return false;
        inside = rm_mat_inside(&inside, &item);
    }
    if (item.type != RM_MAT_MATRIX)
        return rm_reading_fail(from->reading, "it holds something that is no variable; save the file again");
    return rm_mat_variable(&inside, name, value);
}

static bool is_lattice(struct rm_value const *value) {
    return value->kind == RM_VALUE_LIST && value->count != 0 && value->items[0].kind == RM_VALUE_FIELDS &&
           rm_value_find(&value->items[0], "FamName") != NULL;
}

/** Names, with commas between. */
static void list_names(struct rm_value const *variables, char *text, size_t room) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < variables->count && used < room; ++i) {
        int const more = snprintf(text + used, room - used, "%s%s%s", i != 0 ? ", " : "", variables->fields[i].name,
                                  is_lattice(&variables->fields[i].value) ? " (a lattice)" : "");
        used += more > 0 ? (size_t)more : 0;
    }
}

/** The one that is asked for, the only one that is a lattice, or RING. */
static struct rm_value const *choose_mat_variable(struct rm_lattice_reading *reading, struct rm_value const *variables,
                                                  char const *wanted) {
    char names[200];
    list_names(variables, names, sizeof names);
    struct rm_value const *only = NULL;
    uint32_t lattices = 0;
    for (uint32_t i = 0; i < variables->count; ++i)
        if (is_lattice(&variables->fields[i].value)) {
            only = &variables->fields[i].value;
            ++lattices;
        }
    struct rm_value const *const named = rm_value_find(variables, wanted != NULL ? wanted : "RING");
    if (named != NULL && is_lattice(named))
        return named;
    if (wanted == NULL && lattices == 1)
        return only;
    if (wanted != NULL)
        rm_reading_fail(reading, "variable %.60s is no lattice or not there; it has %s", wanted, names);
    else if (lattices == 0)
        rm_reading_fail(reading,
                        "none of its variables is a lattice, a cell array of structures with FamName; it has %s",
                        names[0] != '\0' ? names : "none");
    else
        rm_reading_fail(reading, "%u of its variables are lattices and none is called RING; name one of %s", lattices,
                        names);
    return NULL;
}

static bool read_variables(struct rm_mat_bytes *from, struct rm_value *variables) {
    struct rm_value_field *const fields = rm_reading_take(from->reading, MOST_VARIABLES, sizeof *fields);
    if (fields == NULL)
        return false;
    *variables = (struct rm_value){.kind = RM_VALUE_FIELDS, .fields = fields};
    while (from->at < from->end) {
        if (variables->count == MOST_VARIABLES)
            return rm_reading_fail(from->reading, "more than %d variables; save the lattice alone", MOST_VARIABLES);
        struct rm_value_field *const field = &fields[variables->count];
        if (!next_variable(from, &field->name, &field->value))
            return false;
        ++variables->count;
    }
    return true;
}

/** Old files keep the energy beside the lattice: GLOBVAL.E0. */
static bool take_global(struct rm_lattice_reading *reading, struct rm_value const *variables) {
    struct rm_value const *const global = rm_value_find(variables, "GLOBVAL");
    double energy_ev;
    if (!reading->facts.has_parameters && global != NULL && rm_value_number(global, "E0", &energy_ev))
        reading->facts.energy_ev = energy_ev;
    return true;
}

bool rm_read_mat(struct rm_lattice_reading *reading, char const *bytes, size_t count, char const *variable) {
    uint8_t const *const begin = (uint8_t const *)bytes;
    struct rm_mat_bytes from = {.reading = reading, .at = begin, .end = begin + count};
    struct rm_value variables;
    if (!read_header(&from, count) || !read_variables(&from, &variables))
        return false;
    struct rm_value const *const lattice = choose_mat_variable(reading, &variables, variable);
    if (lattice == NULL)
        return false;
    for (uint32_t i = 0; i < lattice->count; ++i) {
        struct rm_value const *const item = &lattice->items[i];
        char const *const name = rm_value_text(item, "FamName");
        rm_reading_at(reading, "cell %u (%.60s)", i + 1, name != NULL ? name : "no name");
        if (item->kind != RM_VALUE_FIELDS)
            return rm_reading_fail(reading, "it is no structure; every cell of a lattice is an element");
        if (!rm_reading_add_fields(reading, item))
            return false;
    }
    return take_global(reading, &variables);
}
