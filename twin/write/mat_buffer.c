// SPDX-License-Identifier: Apache-2.0
#include "mat_buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../read/mat.h"

static void mat_buffer_put(struct rm_mat_buffer *to, void const *bytes, size_t count) {
    if (to->count + count > to->room && !to->failed) {
        size_t const room = (to->count + count) * 2 + 1024;
        uint8_t *const more = realloc(to->bytes, room);
        to->failed = more == NULL;
        to->bytes = more != NULL ? more : to->bytes;
        to->room = more != NULL ? room : to->room;
    }
    if (to->failed || count == 0)
        return;
    memcpy(to->bytes + to->count, bytes, count);
    to->count += count;
}

void rm_mat_buffer_free(struct rm_mat_buffer *buffer) {
    free(buffer->bytes);
    memset(buffer, 0, sizeof *buffer);
}

static void put_u32(struct rm_mat_buffer *to, uint32_t value) { mat_buffer_put(to, &value, sizeof value); }

static void mat_buffer_pad(struct rm_mat_buffer *to) {
    static uint8_t const zeros[8] = {0};
    mat_buffer_put(to, zeros, (8 - to->count % 8) % 8);
}

static void put_item(struct rm_mat_buffer *to, enum rm_mat_type type, void const *data, uint32_t bytes) {
    put_u32(to, type);
    put_u32(to, bytes);
    mat_buffer_put(to, data, bytes);
    mat_buffer_pad(to);
}

void rm_mat_put_header(struct rm_mat_buffer *to) {
    char header[RM_MAT_HEADER_BYTES];
    memset(header, ' ', sizeof header);
    static char const title[] = "MATLAB 5.0 MAT-file, a lattice written by Ringmaster";
    memcpy(header, title, sizeof title - 1);
    memset(header + 116, 0, 8); /* no data of a subsystem */
    uint16_t const ending[2] = {0x0100, 'M' * 256 + 'I'};
    memcpy(header + 124, ending, sizeof ending);
    mat_buffer_put(to, header, sizeof header);
}

/** The head of a matrix, whose byte count rm_mat_end fills in. */
static size_t mat_buffer_begin_array(struct rm_mat_buffer *to, enum rm_mat_class class, uint32_t rows, uint32_t columns,
                                     char const *name) {
    size_t const at = to->count;
    uint32_t const flags[2] = {class, 0};
    int32_t const sizes[2] = {(int32_t)rows, (int32_t)columns};
    put_u32(to, RM_MAT_MATRIX);
    put_u32(to, 0);
    put_item(to, RM_MAT_UINT32, flags, sizeof flags);
    put_item(to, RM_MAT_INT32, sizes, sizeof sizes);
    put_item(to, RM_MAT_INT8, name, (uint32_t)strlen(name));
    return at;
}

void rm_mat_end(struct rm_mat_buffer *to, size_t begin_at) {
    if (to->failed)
        return;
    uint32_t const bytes = (uint32_t)(to->count - begin_at - 8);
    memcpy(to->bytes + begin_at + 4, &bytes, sizeof bytes);
}

size_t rm_mat_begin_cells(struct rm_mat_buffer *to, char const *name, uint32_t count) {
    return mat_buffer_begin_array(to, RM_MAT_CLASS_CELL, count, 1, name);
}

static void name_field(struct rm_mat_struct *to, char const *name) {
    if (to->count == RM_MAT_MOST_FIELDS)
        to->values.failed = true;
    else
        snprintf(to->names[to->count++], RM_MAT_FIELD_BYTES, "%s", name);
}

/** UTF-8; a name of the Accelerator Toolbox is ASCII, for which its dimensions are right. */
void rm_mat_field_text(struct rm_mat_struct *to, char const *name, char const *text) {
    name_field(to, name);
    uint32_t const length = (uint32_t)strlen(text);
    size_t const at = mat_buffer_begin_array(&to->values, RM_MAT_CLASS_CHAR, length != 0 ? 1 : 0, length, "");
    put_item(&to->values, RM_MAT_UTF8, text, length);
    rm_mat_end(&to->values, at);
}

void rm_mat_field_numbers(struct rm_mat_struct *to, char const *name, uint32_t rows, uint32_t columns,
                          double const *numbers) {
    name_field(to, name);
    size_t const at = mat_buffer_begin_array(&to->values, RM_MAT_CLASS_DOUBLE, rows, columns, "");
    put_u32(&to->values, RM_MAT_DOUBLE);
    put_u32(&to->values, rows * columns * (uint32_t)sizeof *numbers);
    for (uint32_t c = 0; c < columns; ++c)
        for (uint32_t r = 0; r < rows; ++r)
            mat_buffer_put(&to->values, &numbers[r * columns + c], sizeof *numbers);
    rm_mat_end(&to->values, at);
}

void rm_mat_field_number(struct rm_mat_struct *to, char const *name, double number) {
    rm_mat_field_numbers(to, name, 1, 1, &number);
}

void rm_mat_put_struct(struct rm_mat_buffer *to, struct rm_mat_struct *value) {
    int32_t const name_bytes = RM_MAT_FIELD_BYTES;
    size_t const at = mat_buffer_begin_array(to, RM_MAT_CLASS_STRUCT, 1, 1, "");
    put_item(to, RM_MAT_INT32, &name_bytes, sizeof name_bytes);
    put_item(to, RM_MAT_INT8, value->names, value->count * RM_MAT_FIELD_BYTES);
    mat_buffer_put(to, value->values.bytes, value->values.count);
    rm_mat_end(to, at);
    to->failed = to->failed || value->values.failed;
    rm_mat_buffer_free(&value->values);
    memset(value, 0, sizeof *value);
}

void rm_mat_field_struct(struct rm_mat_struct *to, char const *name, struct rm_mat_struct *value) {
    name_field(to, name);
    rm_mat_put_struct(&to->values, value);
}
