// SPDX-License-Identifier: Apache-2.0
/** An event of a ring as libcyaml loads it: an entry of the overlay's `events`, or the words that a running ring is
 * given. Absent keys are NULL. ring_event.c makes sense of it. */
#ifndef RM_INSTRUMENTS_RING_EVENT_FILE_H
#define RM_INSTRUMENTS_RING_EVENT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/yaml.h"
#include "ring_event.h"

struct rm_ring_file_event {
    enum rm_ring_event_kind event;
    uint64_t *at_turn, *for_turns;
    char *supply;
    double *amplitude, *hz;
    char *instrument, *with;
    double *x_um, *y_um;
    double *ma;
    bool *misfires;
};

/** An entry of a list, and the same mapping by itself. */
extern cyaml_schema_value_t const rm_ring_event_schema, rm_ring_event_alone_schema;

/** An event's name in the file, for example "rf_trip". */
char const *rm_ring_event_name(enum rm_ring_event_kind kind);

#endif
