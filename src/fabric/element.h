// SPDX-License-Identifier: Apache-2.0
/** One element of a parameter, whatever its type: as a double, and from one. */
#ifndef RM_FABRIC_ELEMENT_H
#define RM_FABRIC_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include <ringmaster/segment.h>

/** Bytes of an element; 0 for an unknown type. */
size_t rm_element_bytes(enum rm_element_type type);

/** The element at `element`, which need not be aligned. Integers beyond 2^53 are rounded; NaN for a record. */
double rm_element_value(enum rm_element_type type, void const *element);

/** Writes `value` as an element. An integer type rounds it and brings it into its range; NaN becomes 0 there. */
void rm_element_put(enum rm_element_type type, void *element, double value);

/** True for a type that has NaN and infinity. */
static inline bool rm_element_floats(enum rm_element_type type) {
    return type == RM_ELEMENT_F64 || type == RM_ELEMENT_F32;
}

#endif
