// SPDX-License-Identifier: Apache-2.0
/** From a line or a sequence to a list of spots, and back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "madx_edit.h"

/** What is left of a drift and is shorter is rounding. */
static double const shortest_drift_m = 1e-9;

bool rm_madx_add_spot(struct rm_madx *madx, struct rm_madx_edited *edit, struct rm_madx_spot const *spot) {
    if (edit->count == RM_MOST_ELEMENTS)
        return rm_reading_fail(madx->reading,
                               "more than %d elements in a sequence; look for a repetition that was not meant",
                               RM_MOST_ELEMENTS);
    if (edit->count == edit->room) {
        uint32_t const room = edit->room == 0 ? 64 : 2 * edit->room;
        struct rm_madx_spot *const more = rm_reading_take(madx->reading, room, sizeof *more);
        if (more == NULL)
            return false;
        if (edit->count != 0)
            memcpy(more, edit->spots, edit->count * sizeof *more);
        edit->spots = more;
        edit->room = room;
    }
    struct rm_madx_spot *const added = &edit->spots[edit->count];
    char const *class = NULL;
    *added = *spot;
    added->order = edit->count++;
    added->object = rm_madx_find(madx, spot->name);
    if (added->object == NULL)
        return rm_reading_fail(madx->reading, "%.60s is no element; define it", spot->name);
    added->occurrence = ++added->object->times;
    if (added->object->kind == RM_MADX_ELEMENT && !rm_madx_class(madx, added->object, &class))
        return false;
    added->drift = class != NULL && strcmp(class, "drift") == 0;
    return true;
}

/** What makes spots of a line. */
struct liner {
    struct rm_madx_sink sink;
    struct rm_madx_edited *edit;
};

static bool line_element(struct rm_madx_sink *sink, struct rm_madx_view const *view) {
    struct rm_madx_edited *const edit = ((struct liner *)sink)->edit;
    struct rm_madx_spot spot = {.name = view->object->name, .where = view->object->where};
    if (view->here != NULL)
        spot.attributes = *view->here;
    if (!rm_madx_length(sink->madx, view, &spot.length_m))
        return false;
    spot.centre_m = edit->length_m + spot.length_m / 2;
    edit->length_m += spot.length_m;
    return rm_madx_add_spot(sink->madx, edit, &spot);
}

static bool line_gap(struct rm_madx_sink *sink, double length_m) {
    ((struct liner *)sink)->edit->length_m += length_m;
    return true;
}

static bool add_entry(struct rm_madx *madx, struct rm_madx_edited *edit, struct rm_madx_object const *sequence,
                      struct rm_madx_entry const *entry, double begin_m) {
    struct rm_madx_spot spot = {.name = entry->name, .attributes = entry->attributes, .where = entry->where};
    if (!rm_madx_place(madx, sequence, entry, &spot.centre_m, &spot.length_m))
        return false;
    spot.centre_m += begin_m;
    return rm_madx_add_spot(madx, edit, &spot);
}

static bool fill_edit_spots(struct rm_madx *madx, struct rm_madx_edited *edit, struct rm_madx_object *object) {
    if (object->kind == RM_MADX_LINE) {
        struct liner liner = {{line_element, line_gap, madx}, edit};
        return rm_madx_expand(&liner.sink, object);
    }
    struct rm_madx_view const view = {.object = object};
    bool held = rm_madx_take(madx, &view, "l", &edit->length_m) && rm_madx_reference(madx, object, &edit->sign);
    for (struct rm_madx_entry const *entry = object->entries; held && entry != NULL; entry = entry->next)
        held = add_entry(madx, edit, object, entry, 0);
    return held;
}

struct rm_madx_edited *rm_madx_open_edit(struct rm_madx *madx, struct rm_madx_object *object) {
    struct rm_madx_edited *const edit = rm_reading_take(madx->reading, 1, sizeof *edit);
    if (edit == NULL)
        return NULL;
    for (uint32_t i = 0; i < RM_MADX_SLOTS; ++i)
        for (struct rm_madx_object *each = madx->slots[i]; each != NULL; each = each->next)
            each->times = 0;
    edit->sequence = object;
    return fill_edit_spots(madx, edit, object) ? edit : NULL;
}

static bool flatten_into(struct rm_madx *madx, struct rm_madx_edited *flat, struct rm_madx_spot const *spot) {
    struct rm_madx_object *const inner = spot->object;
    if (inner->kind != RM_MADX_SEQUENCE)
        return rm_madx_add_spot(madx, flat, spot);
    if (inner->busy || madx->depth >= RM_MOST_DEPTH)
        return rm_reading_fail(madx->reading, "sequence %.60s stands in itself; take it out", inner->name);
    struct rm_madx_edited list = {0};
    double const begin_m = spot->centre_m - spot->length_m / 2;
    inner->busy = true;
    ++madx->depth;
    bool held = true;
    for (struct rm_madx_entry const *entry = inner->entries; held && entry != NULL; entry = entry->next)
        held = add_entry(madx, &list, inner, entry, begin_m);
    for (uint32_t i = 0; held && i < list.count; ++i)
        held = rm_madx_step(madx) && flatten_into(madx, flat, &list.spots[i]);
    --madx->depth;
    inner->busy = false;
    return held;
}

bool rm_madx_flatten(struct rm_madx *madx, struct rm_madx_edited *edit) {
    struct rm_madx_edited flat = *edit;
    flat.spots = NULL;
    flat.count = flat.room = 0;
    for (uint32_t i = 0; i < edit->count; ++i)
        edit->spots[i].object->times = 0;
    for (uint32_t i = 0; i < edit->count; ++i)
        if (!edit->spots[i].gone && !flatten_into(madx, &flat, &edit->spots[i]))
            return false;
    *edit = flat;
    return true;
}

static double begin_of(struct rm_madx_spot const *spot) { return spot->centre_m - spot->length_m / 2; }

static double spot_end_of(struct rm_madx_spot const *spot) { return spot->centre_m + spot->length_m / 2; }

static int by_place(void const *left, void const *right) {
    struct rm_madx_spot const *const a = left;
    struct rm_madx_spot const *const b = right;
    if (a->centre_m != b->centre_m)
        return a->centre_m < b->centre_m ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/** A piece of a drift. */
static bool put_piece(struct rm_madx *madx, struct rm_madx_edited *to, struct rm_madx_spot const *drift, double begin_m,
                      double length_m) {
    struct rm_madx_spot piece = *drift;
    double *const number = rm_reading_take(madx->reading, 1, sizeof *number);
    struct rm_madx_attribute_value *const length = rm_reading_take(madx->reading, 1, sizeof *length);
    if (number == NULL || length == NULL)
        return false;
    *number = length_m;
    *length = (struct rm_madx_attribute_value){.name = "l", .text = "", .fixed = true, .count = 1, .numbers = number};
    piece.centre_m = begin_m + length_m / 2;
    piece.length_m = length_m;
    return rm_madx_join(madx, &piece.attributes, &(struct rm_madx_attribute_list){length, 1}) &&
           rm_madx_add_spot(madx, to, &piece);
}

/** What is left of a drift between others, of which the first that reaches into it is `others`. The pieces are together
 * as long as it was, less the others. */
static bool divide_drift(struct rm_madx *madx, struct rm_madx_edited *to, struct rm_madx_spot const *drift,
                         struct rm_madx_spot const *others, struct rm_madx_spot const *end) {
    double const end_m = spot_end_of(drift);
    double s_m = begin_of(drift);
    double left_m = drift->length_m;
    bool whole = true;
    for (; others < end && begin_of(others) < end_m - shortest_drift_m; ++others) {
        double const from_m = fmax(begin_of(others), s_m);
        double const to_m = fmin(fmax(spot_end_of(others), from_m), end_m);
        double const before_m = from_m - s_m < shortest_drift_m ? 0 : from_m - s_m;
        if (!rm_madx_step(madx) || (before_m > 0 && !put_piece(madx, to, drift, s_m, before_m)))
            return false;
        left_m -= before_m + to_m - from_m;
        s_m = to_m;
        whole = false;
    }
    if (whole)
        return rm_madx_add_spot(madx, to, drift);
    return left_m < shortest_drift_m || put_piece(madx, to, drift, end_m - left_m, left_m);
}

/** Drifts give way to what is not a drift. Both lists are ordered by place. */
static bool place_spots(struct rm_madx *madx, struct rm_madx_edited *to, struct rm_madx_edited const *drifts,
                        struct rm_madx_edited const *others) {
    struct rm_madx_spot const *first = others->spots;
    struct rm_madx_spot const *const end = others->spots != NULL ? others->spots + others->count : NULL;
    for (uint32_t i = 0; i < drifts->count; ++i) {
        while (first < end && spot_end_of(first) <= begin_of(&drifts->spots[i]) + shortest_drift_m)
            ++first;
        if (!divide_drift(madx, to, &drifts->spots[i], first, end))
            return false;
    }
    for (uint32_t i = 0; i < others->count; ++i)
        if (!rm_madx_add_spot(madx, to, &others->spots[i]))
            return false;
    return true;
}

static void sort_spots(struct rm_madx_edited *edit) {
    if (edit->count != 0)
        qsort(edit->spots, edit->count, sizeof *edit->spots, by_place);
}

/** The list becomes the sequence's entries. */
static bool write_back(struct rm_madx *madx, struct rm_madx_edited const *edit) {
    struct rm_madx_object *const sequence = edit->sequence;
    sequence->entries = sequence->last_entry = NULL;
    for (uint32_t i = 0; i < edit->count; ++i) {
        struct rm_madx_spot const *const spot = &edit->spots[i];
        if (!rm_madx_append(madx, sequence, spot->name, &spot->attributes))
            return false;
        sequence->last_entry->where = spot->where;
        sequence->last_entry->placed = true;
        sequence->last_entry->centre_m = spot->centre_m;
    }
    if (sequence->kind == RM_MADX_SEQUENCE)
        return true;
    char text[32];
    struct rm_madx_attribute_list attributes;
    snprintf(text, sizeof text, "l = %.17g", edit->length_m);
    if (!rm_madx_attributes(madx, text, &attributes))
        return false;
    sequence->kind = RM_MADX_SEQUENCE;
    sequence->attributes = attributes;
    return true;
}

bool rm_madx_close_edit(struct rm_madx *madx, struct rm_madx_edited *edit) {
    struct rm_madx_edited drifts = {0};
    struct rm_madx_edited others = {0};
    struct rm_madx_edited all = *edit;
    sort_spots(edit);
    for (uint32_t i = 0; i < edit->count; ++i) {
        struct rm_madx_spot const *const spot = &edit->spots[i];
        rm_madx_at(madx, &spot->where, spot->name);
        if (!spot->gone && !rm_madx_add_spot(madx, spot->drift ? &drifts : &others, spot))
            return false;
    }
    all.spots = NULL;
    all.count = all.room = 0;
    if (!place_spots(madx, &all, &drifts, &others))
        return false;
    sort_spots(&all);
    return write_back(madx, &all);
}
