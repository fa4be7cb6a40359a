// SPDX-License-Identifier: Apache-2.0
/** MATLAB's level 5 file ("MAT-File Format", The MathWorks): a header of 128 bytes, then data elements, each a tag of
 * type and byte count, and data up to the next multiple of 8. A variable is an element of type matrix, which holds
 * elements for its class, dimensions, name and content; version 7 wraps it into one of zlib's. Either byte order.
 *
 * Read here and not by libmatio, which believes the counts in a file: 200 bytes make it take gigabytes. */
#ifndef RM_TWIN_READ_MAT_H
#define RM_TWIN_READ_MAT_H

#include "reading.h"

enum rm_mat_type {
    RM_MAT_INT8 = 1,
    RM_MAT_UINT8 = 2,
    RM_MAT_INT16 = 3,
    RM_MAT_UINT16 = 4,
    RM_MAT_INT32 = 5,
    RM_MAT_UINT32 = 6,
    RM_MAT_SINGLE = 7,
    RM_MAT_DOUBLE = 9,
    RM_MAT_INT64 = 12,
    RM_MAT_UINT64 = 13,
    RM_MAT_MATRIX = 14,
    RM_MAT_COMPRESSED = 15,
    RM_MAT_UTF8 = 16,
    RM_MAT_UTF16 = 17,
    RM_MAT_UTF32 = 18,
};

enum rm_mat_class {
    RM_MAT_CLASS_CELL = 1,
    RM_MAT_CLASS_STRUCT = 2,
    RM_MAT_CLASS_CHAR = 4,
    RM_MAT_CLASS_DOUBLE = 6,
    RM_MAT_CLASS_UINT64 = 15,
};

enum { RM_MAT_HEADER_BYTES = 128, RM_MAT_COMPLEX_FLAG = 0x800 };

/** Bytes still to be read. */
struct rm_mat_bytes {
    struct rm_lattice_reading *reading;
    uint8_t const *at, *end;
    /** The file's byte order is not this machine's. */
    bool swapped;
};

/** A data element. */
struct rm_mat_item {
    uint32_t type;
    uint32_t bytes;
    uint8_t const *data;
};

/** Takes the next data element; a failure when there is none, or when it is longer than what is left. */
bool rm_mat_next(struct rm_mat_bytes *from, struct rm_mat_item *item);

/** The bytes inside an element. */
struct rm_mat_bytes rm_mat_inside(struct rm_mat_bytes const *from, struct rm_mat_item const *item);

uint32_t rm_mat_u32(struct rm_mat_bytes const *from, uint8_t const *at);

/** How many numbers an item has, and number `index` of them as a double; 0 for items that are not numbers. */
uint32_t rm_mat_count(struct rm_mat_item const *item);
double rm_mat_number(struct rm_mat_bytes const *from, struct rm_mat_item const *item, uint32_t index);

/** Reads a variable: its name and its value. */
bool rm_mat_variable(struct rm_mat_bytes *inside, char const **name, struct rm_value *value);

#endif
