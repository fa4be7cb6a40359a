// SPDX-License-Identifier: Apache-2.0
/** The lanes of each kind of virtual instrument, as its native datagrams have them and as described formats name them.
 */
#ifndef RM_INSTRUMENTS_KIND_LANES_H
#define RM_INSTRUMENTS_KIND_LANES_H

#include <stdint.h>

enum { RM_KIND_LANE_NONE = UINT32_MAX };

struct rm_virtual_lane {
    char const *name;
    char const *unit;
};

/** RM_LANES at most; `*count` of them. NULL and 0 for a kind that does not exist. */
struct rm_virtual_lane const *rm_virtual_lanes(unsigned kind, uint32_t *count);

/** The lane that a described format means by `name`: the one of that name; without its number, the first BPM's ("x" is
 * x1). RM_KIND_LANE_NONE when the kind has none. */
uint32_t rm_virtual_lane_find(unsigned kind, char const *name);

/** How many of `to` one of `from` is, where both are the same unit but for n, µ (or u), m, k or M before it: "nm" to
 * "mm" is 1e-6. 1 for all others. */
double rm_unit_ratio(char const *from, char const *to);

#endif
