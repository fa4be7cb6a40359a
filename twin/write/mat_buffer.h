// SPDX-License-Identifier: Apache-2.0
/** A MATLAB file of level 5 in the making (../read/mat.h says how it is built): uncompressed, in this machine's byte
 * order.
 *
 * A structure's fields are put one after the other and become the file's form when it ends: names first. */
#ifndef RM_TWIN_WRITE_MAT_BUFFER_H
#define RM_TWIN_WRITE_MAT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RM_MAT_MOST_FIELDS = 48, RM_MAT_FIELD_BYTES = 32 };

struct rm_mat_buffer {
    uint8_t *bytes;
    size_t count, room;
    /** There was no memory; all that is put from then on is lost. */
    bool failed;
};

/** A structure of one element that is being put: its fields go to a buffer of their own. */
struct rm_mat_struct {
    struct rm_mat_buffer values;
    char names[RM_MAT_MOST_FIELDS][RM_MAT_FIELD_BYTES];
    uint32_t count;
};

void rm_mat_buffer_free(struct rm_mat_buffer *buffer);

void rm_mat_put_header(struct rm_mat_buffer *to);

/** Begins a cell array of `count` × 1 called `name`: what is put until rm_mat_end are its cells. Returns what
 * rm_mat_end needs. */
size_t rm_mat_begin_cells(struct rm_mat_buffer *to, char const *name, uint32_t count);
void rm_mat_end(struct rm_mat_buffer *to, size_t begin);

/** Put fields. Numbers are given row by row. */
void rm_mat_field_text(struct rm_mat_struct *to, char const *name, char const *text);
void rm_mat_field_number(struct rm_mat_struct *to, char const *name, double number);
void rm_mat_field_numbers(struct rm_mat_struct *to, char const *name, uint32_t rows, uint32_t columns,
                          double const *numbers);
void rm_mat_field_struct(struct rm_mat_struct *to, char const *name, struct rm_mat_struct *value);

/** Puts the structure as the next cell and empties it. */
void rm_mat_put_struct(struct rm_mat_buffer *to, struct rm_mat_struct *value);

#endif
