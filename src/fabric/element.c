// SPDX-License-Identifier: Apache-2.0
#include "fabric/element.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <ringmaster/record.h>

size_t rm_element_bytes(enum rm_element_type type) {
    switch (type) {
    case RM_ELEMENT_RECORD:
        return sizeof(struct rm_record);
    case RM_ELEMENT_F64:
    case RM_ELEMENT_I64:
    case RM_ELEMENT_U64:
        return 8;
    case RM_ELEMENT_F32:
    case RM_ELEMENT_I32:
    case RM_ELEMENT_U32:
        return 4;
    case RM_ELEMENT_U8:
        return 1;
    }
    return 0;
}

/** Room for an element of any number. */
union any_element {
    double f64;
    float f32;
    int64_t i64;
    int32_t i32;
    uint64_t u64;
    uint32_t u32;
    uint8_t u8;
};

double rm_element_value(enum rm_element_type type, void const *element) {
    union any_element it = {0};
    size_t const bytes = rm_element_bytes(type);
    if (bytes > 0 && bytes <= sizeof it)
        memcpy(&it, element, bytes);
    switch (type) {
    case RM_ELEMENT_F64:
        return it.f64;
    case RM_ELEMENT_F32:
        return (double)it.f32;
    case RM_ELEMENT_I64:
        return (double)it.i64;
    case RM_ELEMENT_I32:
        return (double)it.i32;
    case RM_ELEMENT_U64:
        return (double)it.u64;
    case RM_ELEMENT_U32:
        return (double)it.u32;
    case RM_ELEMENT_U8:
        return (double)it.u8;
    case RM_ELEMENT_RECORD:
        break;
    }
    return NAN;
}

/** `value` as an integer from `low` to `high`, of which a double may be one too large: 2^63 and 2^64 are. */
static int64_t as_signed(double value, double low, double high) {
    double const whole = rint(value);
    if (isnan(whole))
        return 0;
    if (whole >= high)
        return high < 0x1p63 ? (int64_t)high : INT64_MAX;
    return (int64_t)fmax(whole, low);
}

static uint64_t as_unsigned(double value, double high) {
    double const whole = rint(value);
    if (whole >= high)
        return high < 0x1p64 ? (uint64_t)high : UINT64_MAX;
    return whole > 0.0 ? (uint64_t)whole : 0;
}

void rm_element_put(enum rm_element_type type, void *element, double value) {
    union any_element it = {0};
    switch (type) {
    case RM_ELEMENT_F64:
        it.f64 = value;
        break;
    case RM_ELEMENT_F32:
        it.f32 = (float)value;
        break;
    case RM_ELEMENT_I64:
        it.i64 = as_signed(value, -0x1p63, 0x1p63);
        break;
    case RM_ELEMENT_I32:
        it.i32 = (int32_t)as_signed(value, -0x1p31, 0x1p31 - 1.0);
        break;
    case RM_ELEMENT_U64:
        it.u64 = as_unsigned(value, 0x1p64);
        break;
    case RM_ELEMENT_U32:
        it.u32 = (uint32_t)as_unsigned(value, 0x1p32 - 1.0);
        break;
    case RM_ELEMENT_U8:
        it.u8 = (uint8_t)as_unsigned(value, 255.0);
        break;
    case RM_ELEMENT_RECORD:
        return;
    }
    memcpy(element, &it, rm_element_bytes(type));
}
