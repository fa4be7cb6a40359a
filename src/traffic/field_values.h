// SPDX-License-Identifier: Apache-2.0
/** The values that a field goes through, frame by frame. */
#ifndef RM_TRAFFIC_FIELD_VALUES_H
#define RM_TRAFFIC_FIELD_VALUES_H

#include "traffic/traffic.h"

struct rm_field_values {
    struct rm_traffic_field field;
    /** Of a range: the next one. */
    uint64_t next;
    /** Of a random field: its generator's. */
    uint64_t state;
};

/** Begins at `start`; random fields of another seed have other values. */
void rm_field_values_start(struct rm_field_values *values, struct rm_traffic_field const *field, uint64_t seed);

/** The next `count` values. */
void rm_field_values_take(struct rm_field_values *values, uint64_t *value, uint32_t count);

#endif
