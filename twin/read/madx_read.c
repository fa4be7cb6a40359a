// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "madx.h"

/** What is asked for, what the file USEs, or what it defines last. */
static struct rm_madx_object *choose_madx_sequence(struct rm_madx *madx, char const *wanted) {
    char const *const name = wanted != NULL ? wanted : madx->used;
    struct rm_madx_object *const object = name != NULL ? rm_madx_find(madx, name) : madx->last;
    rm_reading_at(madx->reading, "%s", "");
    if (object == NULL && name == NULL)
        rm_reading_fail(madx->reading, "it defines no LINE and no SEQUENCE; a lattice is one of these");
    else if (object == NULL || (object->kind != RM_MADX_LINE && object->kind != RM_MADX_SEQUENCE))
        rm_reading_fail(madx->reading, "%.60s is no LINE or SEQUENCE of it; name one that is", name);
    else
        return object;
    return NULL;
}

bool rm_read_madx(struct rm_lattice_reading *reading, char const *text, size_t count, char const *sequence) {
    struct rm_madx *const madx = rm_reading_take(reading, 1, sizeof *madx);
    if (madx == NULL)
        return false;
    madx->reading = reading;
    char const *const path = reading->path;
    if (!rm_madx_run(madx, path, text, count))
        return false;
    if (madx->edit != NULL)
        return rm_reading_fail(reading, "it ends between SEQEDIT and ENDEDIT; write ENDEDIT");
    reading->path = path;
    struct rm_madx_object *const used = choose_madx_sequence(madx, sequence);
    if (used == NULL)
        return false;
    madx->steps = 0;
    snprintf(reading->facts.name, sizeof reading->facts.name, "%s", used->name);
    bool const held = rm_madx_expand_into_lattice(madx, used) && rm_madx_beam(madx, used->name);
    reading->path = path;
    return held;
}
