// SPDX-License-Identifier: Apache-2.0
/** The lanes that each kind of instrument sends unless the configuration says otherwise. All i32. */
#ifndef RM_CONFIG_KIND_LANES_H
#define RM_CONFIG_KIND_LANES_H

#include <stdint.h>

#include <ringmaster/stream.h>

struct rm_kind_lane {
    char const *name;
    char const *unit;
    /** How its decimated streams reduce it: bits are no numbers to be filtered. */
    enum rm_reduction reduction;
};

/** The kind's lanes; `*count` (1–12) says how many. */
struct rm_kind_lane const *rm_kind_lanes(enum rm_instrument_kind kind, uint32_t *count);

#endif
