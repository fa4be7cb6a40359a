// SPDX-License-Identifier: Apache-2.0
/** Of a line or a sequence the elements, into the lattice. */
#include "madx.h"

bool rm_madx_step(struct rm_madx *madx) {
    if (++madx->steps <= RM_MADX_MOST_STEPS)
        return true;
    return rm_reading_fail(madx->reading, "more than %d steps; look for a repetition that was not meant",
                           RM_MADX_MOST_STEPS);
}

bool rm_madx_expand(struct rm_madx_sink *sink, struct rm_madx_object *object) {
    return object->kind == RM_MADX_LINE ? rm_madx_expand_line(sink, object, false)
                                        : rm_madx_expand_sequence(sink, object);
}

static bool add_element(struct rm_madx_sink *sink, struct rm_madx_view const *view) {
    return rm_madx_add(sink->madx, view);
}

static bool add_gap(struct rm_madx_sink *sink, double length_m) { return rm_madx_add_drift(sink->madx, length_m); }

bool rm_madx_expand_into_lattice(struct rm_madx *madx, struct rm_madx_object *object) {
    struct rm_madx_sink sink = {add_element, add_gap, madx};
    return rm_madx_expand(&sink, object);
}
