// SPDX-License-Identifier: Apache-2.0
/** Libera Grouping: 16 bytes per beam position monitor, as many as the group has. Newer units end an entry with status
 * and counter, older ones with counter and status. */
#include <string.h>

#include "wire/layout.h"

enum { ENTRY_BYTES = 16 };

#define LIBERA_GROUPING(status_at, counter_at)                                                                         \
    {                                                                                                                  \
        .byte_order = RM_LITTLE_ENDIAN, .instrument_stride = ENTRY_BYTES, .turn_count = 1,                             \
        .id = {.present = true, .in = RM_IN_TURN, .at = (status_at), .type = RM_FIELD_U16, .shift = 2, .bits = 8},     \
        .counter = {.present = true, .in = RM_IN_TURN, .at = (counter_at), .type = RM_FIELD_U16},                      \
        .status = {.present = true, .in = RM_IN_TURN, .at = (status_at), .type = RM_FIELD_U16}, .lane_count = 3,       \
        .lane = {{.name = "x", .unit = "nm", .at = 4, .type = RM_FIELD_I32},                                           \
                 {.name = "y", .unit = "nm", .at = 8, .type = RM_FIELD_I32},                                           \
                 {.name = "sum", .unit = "counts", .at = 0, .type = RM_FIELD_I32}},                                    \
    }

static struct rm_layout_description const libera_grouping = LIBERA_GROUPING(12, 14);
static struct rm_layout_description const libera_grouping_counter_first = LIBERA_GROUPING(14, 12);

struct rm_layout_description const *rm_layout_preset(char const *name) {
    if (strcmp(name, "libera_grouping") == 0)
        return &libera_grouping;
    if (strcmp(name, "libera_grouping_counter_first") == 0)
        return &libera_grouping_counter_first;
    return NULL;
}
