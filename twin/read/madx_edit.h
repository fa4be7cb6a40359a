// SPDX-License-Identifier: Apache-2.0
/** A sequence between SEQEDIT and ENDEDIT: a list of what stands in it, by place. A line becomes a sequence, as in
 * MAD-X when it is USEd; its drifts stay by name, and are divided where something is put into them. */
#ifndef RM_TWIN_READ_MADX_EDIT_H
#define RM_TWIN_READ_MADX_EDIT_H

#include "madx.h"

struct rm_madx_spot {
    char const *name;
    struct rm_madx_attribute_list attributes;
    struct rm_madx_where where;
    struct rm_madx_object *object;
    double centre_m, length_m;
    /** Number of the name's occurrence, from 1: NAME[2] is the second that was put here. */
    uint32_t occurrence;
    /** Order among elements at one place. */
    uint32_t order;
    /** It is a drift: it makes room for what is put into it. */
    bool drift;

    bool gone;
};

struct rm_madx_edited {
    struct rm_madx_object *sequence;
    double length_m;
    /** See rm_madx_reference. */
    double sign;

    struct rm_madx_spot *spots;
    uint32_t count, room;
};

/** Makes the list of a sequence or line; NULL: a failure. */
struct rm_madx_edited *rm_madx_open_edit(struct rm_madx *madx, struct rm_madx_object *object);

/** Adds a copy of a spot, with its object, length and occurrence. */
bool rm_madx_add_spot(struct rm_madx *madx, struct rm_madx_edited *edit, struct rm_madx_spot const *spot);

/** Puts the elements of inner sequences in their places. */
bool rm_madx_flatten(struct rm_madx *madx, struct rm_madx_edited *edit);

/** Writes the list back, ordered by place. */
bool rm_madx_close_edit(struct rm_madx *madx, struct rm_madx_edited *edit);

#endif
