// SPDX-License-Identifier: Apache-2.0
/** INSTALL: puts an element where a drift is, and divides the drift. */
#include <math.h>
#include <string.h>

#include "madx.h"

/** An element may stand so far beyond the ends of a drift, since positions are written with six digits; it is then put
 * at its end. */
static double const tolerance_m = 1e-6;

/** What is left of a drift and is shorter is rounding. */
static double const shortest_drift_m = 1e-9;

/** Where elements go: in front of element `index`, or into it, a drift of which then is left what is not 0. */
struct room {
    uint32_t index;
    bool into;
    double before_m, after_m; /**< of the drift */
};

/** A drift that begins at `s_m` is divided: the ring stays as long as it was. */
static struct room divide(struct rm_element const *drift, uint32_t index, double s_m, double begin_m, double length_m) {
    double const free_m = fmax(0, drift->length_m - length_m);
    double before_m = fmin(fmax(0, begin_m - s_m), free_m);
    before_m = before_m < shortest_drift_m ? 0 : before_m;
    before_m = free_m - before_m < shortest_drift_m ? free_m : before_m;
    return (struct room){index, true, before_m, free_m - before_m};
}

static bool find_room(struct rm_reading *reading, double begin_m, double length_m, struct room *room) {
    double s_m = 0;
    for (uint32_t i = 0; i <= reading->count; ++i) {
        bool const here = fabs(begin_m - s_m) < shortest_drift_m;
        *room = (struct room){.index = i};
        if (length_m == 0 && here)
            return true;
        if (i == reading->count)
            break;
        struct rm_element const *const element = &reading->elements[i];
        double const end_m = s_m + element->length_m;
        bool const drift = element->pass == RM_PASS_DRIFT && element->kind == RM_ELEMENT_DRIFT;
        if (drift && begin_m >= s_m - tolerance_m && begin_m + length_m <= end_m + tolerance_m) {
            *room = divide(element, i, s_m, begin_m, length_m);
            return true;
        }
        s_m = end_m;
    }
    return rm_reading_fail(reading, "there is no drift at %g m that has room for %g m; install it where one is",
                           begin_m, length_m);
}

/** The elements from `first` on, which were added behind the lattice, go to their room in it. */
static bool move(struct rm_reading *reading, uint32_t first, struct room const *room) {
    uint32_t const added = reading->count - first;
    uint32_t const before = room->into && room->before_m > 0 ? 1 : 0;
    uint32_t const after = room->into && room->after_m > 0 ? 1 : 0;
    uint32_t const taken = room->into ? 1 : 0;
    struct rm_element *const keep = rm_reading_take(reading, added, sizeof *keep);
    struct rm_element const drift = reading->elements[room->into ? room->index : 0];
    if (keep == NULL || !rm_reading_add(reading, &drift)) /* room for the second part of a drift */
        return false;
    memcpy(keep, reading->elements + first, added * sizeof *keep);
    struct rm_element *const at = reading->elements + room->index;
    memmove(at + before + added + after, at + taken, (first - room->index - taken) * sizeof *at);
    memcpy(at + before, keep, added * sizeof *at);
    if (before != 0) {
        at[0] = drift;
        at[0].length_m = room->before_m;
    }
    if (after != 0) {
        at[before + added] = drift;
        at[before + added].length_m = room->after_m;
    }
    reading->count = first + added + before + after - taken;
    return true;
}

static bool install(struct rm_madx *madx, struct rm_madx_entry const *entry) {
    struct rm_reading *const reading = madx->reading;
    struct rm_madx_view const view = {&entry->attributes, rm_madx_find(madx, entry->name)};
    double at_m = 0;
    double length_m = 0;
    struct room room = {0};
    uint32_t const count = reading->count;
    rm_madx_at(madx, entry->line, entry->name);
    if (view.object == NULL || view.object->kind != RM_MADX_ELEMENT)
        return rm_reading_fail(reading, "it is installed and is no element; define it");
    if (rm_madx_attribute(&entry->attributes, "from") != NULL)
        return rm_reading_fail(reading, "FROM of INSTALL is not read; give AT from the begin of the sequence");
    return rm_madx_take(madx, &view, "at", &at_m) && rm_madx_length(madx, &view, &length_m) &&
           find_room(reading, at_m - length_m / 2, length_m, &room) && rm_madx_add(madx, &view, false) &&
           move(reading, count, &room);
}

bool rm_madx_install(struct rm_madx *madx, struct rm_madx_object *object) {
    for (struct rm_madx_entry const *entry = object->installs; entry != NULL; entry = entry->next)
        if (!rm_madx_step(madx) || !install(madx, entry))
            return false;
    return true;
}
