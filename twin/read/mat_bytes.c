// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "mat.h"

static uint64_t take_bytes(struct rm_mat_bytes const *from, uint8_t const *at, uint32_t bytes) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; ++i) /* as on a little-endian machine, unless swapped */
        value |= (uint64_t)at[from->swapped ? bytes - 1 - i : i] << (8 * i);
    return value;
}

uint32_t rm_mat_u32(struct rm_mat_bytes const *from, uint8_t const *at) { return (uint32_t)take_bytes(from, at, 4); }

static bool cut_short(struct rm_mat_bytes const *from) {
    return rm_reading_fail(from->reading,
                           "the file ends within a variable, or a count in it is wrong; copy it again, or "
                           "save it again");
}

bool rm_mat_next(struct rm_mat_bytes *from, struct rm_mat_item *item) {
    size_t const left = (size_t)(from->end - from->at);
    if (left < 8)
        return cut_short(from);
    uint32_t const word = rm_mat_u32(from, from->at);
    bool const small = word >> 16 != 0; /* up to four bytes stand in the tag itself */
    item->type = small ? word & 0xFFFF : word;
    item->bytes = small ? word >> 16 : rm_mat_u32(from, from->at + 4);
    item->data = from->at + (small ? 4 : 8);
    if (small ? item->bytes > 4 : item->bytes > left - 8)
        return cut_short(from);
    size_t whole = small ? 8 : 8 + (size_t)item->bytes;
    if (!small && item->type != RM_MAT_COMPRESSED)
        whole = (whole + 7) / 8 * 8;
    from->at += whole < left ? whole : left;
    return true;
}

struct rm_mat_bytes rm_mat_inside(struct rm_mat_bytes const *from, struct rm_mat_item const *item) {
    struct rm_mat_bytes inside = *from;
    inside.at = item->data;
    inside.end = item->data + item->bytes;
    return inside;
}

static uint32_t mat_type_width(uint32_t type) {
    switch (type) {
    case RM_MAT_INT8:
    case RM_MAT_UINT8:
    case RM_MAT_UTF8:
        return 1;
    case RM_MAT_INT16:
    case RM_MAT_UINT16:
    case RM_MAT_UTF16:
        return 2;
    case RM_MAT_INT32:
    case RM_MAT_UINT32:
    case RM_MAT_SINGLE:
    case RM_MAT_UTF32:
        return 4;
    case RM_MAT_DOUBLE:
    case RM_MAT_INT64:
    case RM_MAT_UINT64:
        return 8;
    default:
        return 0;
    }
}

uint32_t rm_mat_count(struct rm_mat_item const *item) {
    uint32_t const each = mat_type_width(item->type);
    return each != 0 ? item->bytes / each : 0;
}

double rm_mat_number(struct rm_mat_bytes const *from, struct rm_mat_item const *item, uint32_t index) {
    uint32_t const each = mat_type_width(item->type);
    uint64_t const bits = take_bytes(from, item->data + (size_t)index * each, each);
    uint32_t const low = (uint32_t)bits;
    float single;
    double number;
    switch (item->type) {
    case RM_MAT_INT8:
        return (int8_t)bits;
    case RM_MAT_INT16:
        return (int16_t)bits;
    case RM_MAT_INT32:
        return (int32_t)bits;
    case RM_MAT_INT64:
        return (double)(int64_t)bits;
    case RM_MAT_SINGLE:
        memcpy(&single, &low, sizeof single);
        return single;
    case RM_MAT_DOUBLE:
        memcpy(&number, &bits, sizeof number);
        return number;
    default:
        return (double)bits;
    }
}
