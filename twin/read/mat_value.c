// SPDX-License-Identifier: Apache-2.0
/** A variable of a MATLAB file as a value (value.h). Every count is held against the bytes that are there before memory
 * is taken for it. */
#include <string.h>

#include "mat.h"

enum { MOST_DIMENSIONS = 8, TAG_BYTES = 8, MOST_NAME_BYTES = 256 };

/** What stands at the head of each matrix. */
struct matrix_head {
    uint32_t class;
    bool complex;
    uint32_t rows, columns; /**< further dimensions are folded into the columns */
    uint32_t count;
    char const *name;
};

static bool mat_number_of(struct rm_mat_bytes *inside, uint32_t depth, char const **name, struct rm_value *value);

static bool fail_broken_mat(struct rm_mat_bytes const *from) {
    return rm_reading_fail(from->reading, "a variable in it is broken; save the file again");
}

static bool read_dimensions(struct rm_mat_bytes *inside, struct matrix_head *head) {
    struct rm_mat_item item;
    if (!rm_mat_next(inside, &item))
        return false;
    uint32_t const count = rm_mat_count(&item);
    if (item.type != RM_MAT_INT32 || count < 2 || count > MOST_DIMENSIONS)
        return fail_broken_mat(inside);
    uint64_t columns = 1;
    for (uint32_t i = 0; i < count; ++i) {
        double const size = rm_mat_number(inside, &item, i);
        if (size < 0 || size > RM_MOST_FILE_BYTES)
            return fail_broken_mat(inside);
        if (i == 0)
            head->rows = (uint32_t)size;
        else
            columns *= (uint64_t)size;
        if (columns > RM_MOST_FILE_BYTES)
            return fail_broken_mat(inside);
    }
    if ((uint64_t)head->rows * columns > RM_MOST_FILE_BYTES)
        return fail_broken_mat(inside);
    head->columns = (uint32_t)columns;
    head->count = head->rows * head->columns;
    return true;
}

static bool read_array_head(struct rm_mat_bytes *inside, struct matrix_head *head) {
    struct rm_mat_item flags;
    struct rm_mat_item name;
    if (!rm_mat_next(inside, &flags))
        return false;
    if (flags.type != RM_MAT_UINT32 || flags.bytes < 8)
        return fail_broken_mat(inside);
    uint32_t const word = rm_mat_u32(inside, flags.data);
    head->class = word & 0xFF;
    head->complex = (word & RM_MAT_COMPLEX_FLAG) != 0;
    if (!read_dimensions(inside, head) || !rm_mat_next(inside, &name))
        return false;
    if (rm_mat_count(&name) != name.bytes || name.bytes > MOST_NAME_BYTES)
        return fail_broken_mat(inside);
    head->name = rm_reading_text(inside->reading, (char const *)name.data, name.bytes);
    return head->name != NULL;
}

static bool read_numbers(struct rm_mat_bytes *inside, struct matrix_head const *head, struct rm_value *value) {
    struct rm_mat_item item;
    if (!rm_mat_next(inside, &item))
        return false;
    if (rm_mat_count(&item) < head->count)
        return fail_broken_mat(inside);
    double *const numbers = rm_reading_take(inside->reading, head->count, sizeof *numbers);
    if (numbers == NULL)
        return false;
    for (uint32_t r = 0; r < head->rows; ++r)
        for (uint32_t c = 0; c < head->columns; ++c) /* the file has them column by column */
            numbers[r * head->columns + c] = rm_mat_number(inside, &item, c * head->rows + r);
    *value = (struct rm_value){.kind = head->complex ? RM_VALUE_OTHER : RM_VALUE_NUMBERS,
                               .rows = head->rows,
                               .columns = head->columns,
                               .count = head->count,
                               .numbers = numbers};
    return true;
}

static size_t put_utf8(char *to, uint32_t code) {
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    to[0] = (char)(0xE0 | (code >> 12 & 0x0F));
    to[1] = (char)(0x80 | (code >> 6 & 0x3F));
    to[2] = (char)(0x80 | (code & 0x3F));
    return 3;
}

/** UTF-8 stays as it is; other types hold a character in each number. */
static bool read_mat_text(struct rm_mat_bytes *inside, struct rm_value *value) {
    struct rm_mat_item item;
    if (!rm_mat_next(inside, &item))
        return false;
    uint32_t const count = rm_mat_count(&item);
    char *const text = rm_reading_take(inside->reading, (size_t)count + 1, 3);
    if (text == NULL)
        return false;
    size_t length = 0;
    for (uint32_t i = 0; i < count; ++i) {
        double const number = rm_mat_number(inside, &item, i);
        if (!(number >= 1 && number <= UINT16_MAX)) /* an int8 beyond ASCII is no character either */
            break;
        uint32_t const code = (uint32_t)number;
        if (item.type == RM_MAT_UTF8)
            text[length++] = (char)code;
        else
            length += put_utf8(text + length, code);
    }
    *value = (struct rm_value){.kind = RM_VALUE_TEXT, .count = (uint32_t)length, .text = text};
    return true;
}

/** The next matrix within another: a cell, or a field of a structure. */
static bool next_value(struct rm_mat_bytes *inside, uint32_t depth, struct rm_value *value) {
    struct rm_mat_item item;
    if (!rm_mat_next(inside, &item))
        return false;
    if (item.type != RM_MAT_MATRIX)
        return fail_broken_mat(inside);
    *value = (struct rm_value){.kind = RM_VALUE_NUMBERS};
    if (item.bytes == 0)
        return true; /* an empty cell */
    struct rm_mat_bytes within = rm_mat_inside(inside, &item);
    char const *name;
    return mat_number_of(&within, depth + 1, &name, value);
}

static struct rm_value *take_items(struct rm_mat_bytes const *inside, uint64_t count, size_t bytes) {
    if (count > (uint64_t)(inside->end - inside->at) / TAG_BYTES) {
        fail_broken_mat(inside);
        return NULL;
    }
    return rm_reading_take(inside->reading, count, bytes);
}

static bool read_cells(struct rm_mat_bytes *inside, struct matrix_head const *head, uint32_t depth,
                       struct rm_value *value) {
    struct rm_value *const items = take_items(inside, head->count, sizeof *items);
    if (items == NULL)
        return false;
    for (uint32_t i = 0; i < head->count; ++i)
        if (!next_value(inside, depth, &items[i]))
            return false;
    *value = (struct rm_value){.kind = RM_VALUE_LIST, .count = head->count, .items = items};
    return true;
}

/** The names of a structure's fields: each of the same number of bytes, filled with zeros. */
static bool field_names(struct rm_mat_bytes *inside, struct rm_mat_item *names, uint32_t *each, uint32_t *count) {
    struct rm_mat_item length;
    if (!rm_mat_next(inside, &length) || !rm_mat_next(inside, names))
        return false;
    if (rm_mat_count(&length) != 1 || rm_mat_count(names) != names->bytes)
        return fail_broken_mat(inside);
    double const bytes = rm_mat_number(inside, &length, 0);
    if (!(bytes >= 1 && bytes <= MOST_NAME_BYTES))
        return fail_broken_mat(inside);
    *each = (uint32_t)bytes;
    *count = names->bytes / *each;
    return true;
}

static bool read_fields(struct rm_mat_bytes *inside, struct rm_value_field *fields, uint32_t count, uint32_t depth,
                        struct rm_value *value) {
    for (uint32_t f = 0; f < count; ++f)
        if (!next_value(inside, depth, &fields[f].value))
            return false;
    *value = (struct rm_value){.kind = RM_VALUE_FIELDS, .count = count, .fields = fields};
    return true;
}

static bool read_struct(struct rm_mat_bytes *inside, struct matrix_head const *head, uint32_t depth,
                        struct rm_value *value) {
    struct rm_mat_item names;
    uint32_t each = 1;
    uint32_t count = 0;
    if (!field_names(inside, &names, &each, &count))
        return false;
    struct rm_value_field *const fields = (void *)take_items(inside, (uint64_t)count * head->count, sizeof *fields);
    struct rm_value *const items = rm_reading_take(inside->reading, head->count, sizeof *items);
    char const **const texts = rm_reading_take(inside->reading, count, sizeof *texts);
    if (fields == NULL || items == NULL || texts == NULL)
        return false;
    for (uint32_t f = 0; f < count; ++f) {
        char const *const text = (char const *)names.data + (size_t)f * each;
        texts[f] = rm_reading_text(inside->reading, text, strnlen(text, each));
        if (texts[f] == NULL)
            return false;
    }
    for (uint32_t i = 0; i < head->count; ++i) {
        for (uint32_t f = 0; f < count; ++f)
            fields[i * count + f].name = texts[f];
        if (!read_fields(inside, fields + (size_t)i * count, count, depth, &items[i]))
            return false;
    }
    *value = (struct rm_value){.kind = RM_VALUE_LIST, .count = head->count, .items = items};
    if (head->count == 1)
        *value = items[0];
    return true;
}

static bool mat_number_of(struct rm_mat_bytes *inside, uint32_t depth, char const **name, struct rm_value *value) {
    struct matrix_head head = {0};
    if (depth > RM_MOST_DEPTH)
        return rm_reading_fail(inside->reading, "structures stand within each other more than %d deep", RM_MOST_DEPTH);
    if (!read_array_head(inside, &head))
        return false;
    *name = head.name;
    *value = (struct rm_value){.kind = RM_VALUE_OTHER};
    if (head.class == RM_MAT_CLASS_CELL)
        return read_cells(inside, &head, depth, value);
    if (head.class == RM_MAT_CLASS_STRUCT)
        return read_struct(inside, &head, depth, value);
    if (head.class == RM_MAT_CLASS_CHAR)
        return read_mat_text(inside, value);
    if (head.class >= RM_MAT_CLASS_DOUBLE && head.class <= RM_MAT_CLASS_UINT64)
        return read_numbers(inside, &head, value);
    return true;
}

bool rm_mat_variable(struct rm_mat_bytes *inside, char const **name, struct rm_value *value) {
    return mat_number_of(inside, 0, name, value);
}
