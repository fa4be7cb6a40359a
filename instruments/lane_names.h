// SPDX-License-Identifier: Apache-2.0
/** Which of its kind's lanes (config/kind_lanes.h) a virtual instrument puts where a format names one. */
#ifndef RM_INSTRUMENTS_LANE_NAMES_H
#define RM_INSTRUMENTS_LANE_NAMES_H

#include <stdint.h>

enum { RM_KIND_LANE_NONE = UINT32_MAX };

/** The lane that a described format means by `name`: the one of that name; without its number, the first BPM's ("x" is
 * x1). RM_KIND_LANE_NONE when the kind has none. */
uint32_t rm_virtual_lane_find(unsigned kind, char const *name);

/** Factor from unit `from` to unit `to`, where both are the same but for a prefix n, µ (or u), m, k or M: "nm" to "mm"
 * is 1e-6. 1 for all others. */
double rm_unit_ratio(char const *from, char const *to);

#endif
