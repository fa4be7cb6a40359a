// SPDX-License-Identifier: Apache-2.0
/** Sequences, entry by entry, with drifts between them. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "madx.h"

/** Shorter gaps between elements of a sequence are rounding, as in pyAT. */
static double const shortest_drift_m = 1e-5;

bool rm_madx_reference(struct rm_madx *madx, struct rm_madx_object const *sequence, double *sign) {
    char const *const refer = rm_madx_word(madx, &sequence->attributes, "refer");
    *sign = 0;
    if (refer == NULL || strcmp(refer, "centre") == 0 || strcmp(refer, "center") == 0)
        return true;
    *sign = strcmp(refer, "entry") == 0 ? 1 : -1;
    return *sign == 1 || strcmp(refer, "exit") == 0
               ? true
               : rm_reading_fail(madx->reading, "refer = %.20s; expected entry, centre or exit", refer);
}

/** A sequence that is being walked along. */
struct sequence_walk {
    struct rm_madx_sink *sink;
    struct rm_madx_object *sequence;
    double begin_m; /**< of it, on the outermost one */
};

/** `at` of an entry, and of what it counts from, relative to the sequence's begin. */
static bool entry_position(struct rm_madx *madx, struct rm_madx_object const *sequence,
                           struct rm_madx_entry const *entry, double *at_m, int depth) {
    struct rm_madx_view const view = {&entry->attributes, rm_madx_find(madx, entry->name)};
    *at_m = entry->centre_m;
    if (entry->placed)
        return true;
    if (!rm_madx_take(madx, &view, "at", at_m))
        return false;
    char const *const from = rm_madx_word(madx, &entry->attributes, "from");
    if (from == NULL)
        return true;
    for (struct rm_madx_entry const *other = sequence->entries; other != NULL; other = other->next) {
        double base_m;
        if (strcasecmp(other->name, from) != 0 || depth == RM_MOST_DEPTH)
            continue;
        if (!rm_madx_step(madx) || !entry_position(madx, sequence, other, &base_m, depth + 1))
            return false;
        *at_m += base_m;
        return true;
    }
    return rm_reading_fail(madx->reading, "from = %.60s, which does not stand in sequence %.60s", from, sequence->name);
}

/** How far from an inner sequence's begin it is placed by: its reference is refpos, or follows the outer sequence's. */
static bool inner_reference(struct rm_madx *madx, struct rm_madx_object *inner, double sign, double length_m,
                            double *reference_m) {
    char const *const refpos = rm_madx_word(madx, &inner->attributes, "refpos");
    *reference_m = (1 - sign) / 2 * length_m;
    for (struct rm_madx_entry const *entry = inner->entries; refpos != NULL && entry != NULL; entry = entry->next)
        if (strcasecmp(entry->name, refpos) == 0)
            return entry_position(madx, inner, entry, reference_m, 0);
    return true;
}

/** Where an entry is: `at`, from there to its centre, and its length. */
struct entry_place {
    double at_m, to_centre_m, length_m;
};

static bool locate_entry(struct rm_madx *madx, struct rm_madx_object const *sequence, struct rm_madx_entry const *entry,
                         struct entry_place *place) {
    struct rm_madx_object *const object = rm_madx_find(madx, entry->name);
    double sign;
    double reference_m = 0;
    *place = (struct entry_place){0};
    rm_madx_at(madx, &entry->where, entry->name);
    if (object == NULL || (object->kind != RM_MADX_ELEMENT && object->kind != RM_MADX_SEQUENCE))
        return rm_reading_fail(madx->reading, "it stands in sequence %.60s and is no element or sequence; define it",
                               sequence->name);
    if (!rm_madx_step(madx) || !rm_madx_reference(madx, sequence, &sign) ||
        !entry_position(madx, sequence, entry, &place->at_m, 0))
        return false;
    if (object->kind == RM_MADX_ELEMENT) {
        if (!rm_madx_length(madx, &(struct rm_madx_view){&entry->attributes, object}, &place->length_m))
            return false;
        place->to_centre_m = sign * place->length_m / 2;
    } else {
        if (!rm_madx_take(madx, &(struct rm_madx_view){.object = object}, "l", &place->length_m) ||
            !inner_reference(madx, object, sign, place->length_m, &reference_m))
            return false;
        place->to_centre_m = place->length_m / 2 - reference_m;
    }
    if (entry->placed)
        place->to_centre_m = 0;
    return true;
}

bool rm_madx_place(struct rm_madx *madx, struct rm_madx_object const *sequence, struct rm_madx_entry const *entry,
                   double *centre_m, double *length_m) {
    struct entry_place place;
    bool const held = locate_entry(madx, sequence, entry, &place);
    *centre_m = place.at_m + place.to_centre_m;
    *length_m = place.length_m;
    return held;
}

/** The drift up to an element, when there is room for one. */
static bool fill_gap(struct rm_madx_sink *sink, double gap_m, char const *before) {
    if (fabs(gap_m) <= shortest_drift_m)
        return true;
    if (gap_m < 0)
        return rm_reading_fail(sink->madx->reading,
                               "%.60s begins %g m before the one in front of it ends; move it, or order "
                               "the sequence by place",
                               before, -gap_m);
    return sink->gap(sink, gap_m);
}

static bool add_entries(struct sequence_walk const *frame, double *end_m);

static bool add_entry(struct sequence_walk const *frame, struct rm_madx_entry const *entry, double *end_m) {
    struct rm_madx *const madx = frame->sink->madx;
    struct entry_place place;
    if (!locate_entry(madx, frame->sequence, entry, &place))
        return false;
    double const at_m = frame->begin_m + place.at_m;
    double const centre_m = at_m + place.to_centre_m;
    double const half_m = place.length_m / 2;
    struct rm_madx_object *const object = rm_madx_find(madx, entry->name);
    if (object->kind == RM_MADX_SEQUENCE)
        return add_entries(&(struct sequence_walk){frame->sink, object, at_m + (place.to_centre_m - half_m)}, end_m);
    if (!fill_gap(frame->sink, centre_m - half_m - *end_m, entry->name))
        return false;
    *end_m = centre_m + half_m;
    return frame->sink->element(frame->sink, &(struct rm_madx_view){&entry->attributes, object});
}

static bool add_entries(struct sequence_walk const *frame, double *end_m) {
    struct rm_madx *const madx = frame->sink->madx;
    if (frame->sequence->busy || madx->depth >= RM_MOST_DEPTH)
        return rm_reading_fail(madx->reading, "sequence %.60s stands in itself; take it out", frame->sequence->name);
    frame->sequence->busy = true;
    ++madx->depth;
    bool held = true;
    for (struct rm_madx_entry const *entry = frame->sequence->entries; entry != NULL && held; entry = entry->next)
        held = add_entry(frame, entry, end_m);
    --madx->depth;
    frame->sequence->busy = false;
    return held;
}

bool rm_madx_expand_sequence(struct rm_madx_sink *sink, struct rm_madx_object *sequence) {
    struct rm_madx_view const view = {.object = sequence};
    double length_m = 0;
    double end_m = 0;
    rm_madx_at(sink->madx, &sequence->where, sequence->name);
    return rm_madx_take(sink->madx, &view, "l", &length_m) &&
           add_entries(&(struct sequence_walk){sink, sequence, 0}, &end_m) &&
           fill_gap(sink, length_m - end_m, "the end of the sequence");
}
