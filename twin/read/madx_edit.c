// SPDX-License-Identifier: Apache-2.0
/** SEQEDIT and its commands. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "madx_edit.h"

/** A command of SEQEDIT on one element of the list. */
struct edit_command {
    struct rm_madx *madx;
    struct rm_madx_edited *edit;
    struct rm_madx_attribute_list const *attributes;
};

/** Where `at` and `to` point to, of a spot. */
static double reference_of(struct edit_command const *change, struct rm_madx_spot const *spot) {
    return spot->centre_m - change->edit->sign * spot->length_m / 2;
}

/** NAME, or NAME[2]; NULL: none, which is a failure. */
static struct rm_madx_spot *find_spot(struct edit_command const *change, char const *name) {
    struct rm_madx_edited const *const edit = change->edit;
    char const *const bracket = strchr(name, '[');
    size_t const length = bracket != NULL ? (size_t)(bracket - name) : strlen(name);
    unsigned long const wanted = bracket != NULL ? strtoul(bracket + 1, NULL, 10) : 0;
    change->madx->steps += edit->count / 64;
    if (!rm_madx_step(change->madx))
        return NULL;
    for (uint32_t i = 0; i < edit->count; ++i) {
        struct rm_madx_spot *const spot = &edit->spots[i];
        if (!spot->gone && (wanted == 0 || spot->occurrence == wanted) && strlen(spot->name) == length &&
            strncasecmp(spot->name, name, length) == 0)
            return spot;
    }
    rm_reading_fail(change->madx->reading,
                    "%.60s does not stand in sequence %.60s; FLATTEN it if it stands in an inner one", name,
                    edit->sequence->name);
    return NULL;
}

static bool take_edit_number(struct edit_command const *change, char const *name, bool needed, double *number) {
    struct rm_madx_attribute_value const *const found = rm_madx_attribute(change->attributes, name);
    if (found == NULL && needed)
        return rm_reading_fail(change->madx->reading, "%s = m is missing", name);
    return found == NULL || rm_madx_number(change->madx, found, number);
}

/** The length of what a spot's name is. */
static bool measure_spot(struct edit_command const *change, struct rm_madx_spot *spot) {
    struct rm_madx *const madx = change->madx;
    struct rm_madx_object const *const object = rm_madx_find(madx, spot->name);
    if (object == NULL || (object->kind != RM_MADX_ELEMENT && object->kind != RM_MADX_SEQUENCE))
        return rm_reading_fail(madx->reading, "%.60s is no element or sequence; define it", spot->name);
    struct rm_madx_view const view = {&spot->attributes, object};
    spot->length_m = 0;
    return object->kind == RM_MADX_ELEMENT ? rm_madx_length(madx, &view, &spot->length_m)
                                           : rm_madx_take(madx, &view, "l", &spot->length_m);
}

static bool install_at(struct edit_command const *change, char const *name, double at_m) {
    struct rm_madx_spot spot = {.name = name, .attributes = *change->attributes, .where = change->madx->here};
    if (!measure_spot(change, &spot))
        return false;
    spot.centre_m = at_m + change->edit->sign * spot.length_m / 2;
    return rm_madx_add_spot(change->madx, change->edit, &spot);
}

static bool install_element(struct edit_command const *change) {
    struct rm_madx *const madx = change->madx;
    char const *const name = rm_madx_word(madx, change->attributes, "element");
    char const *const class = rm_madx_word(madx, change->attributes, "class");
    char const *const from = rm_madx_word(madx, change->attributes, "from");
    static struct rm_madx_attribute_list const nothing = {0};
    double at_m = 0;
    if (name == NULL)
        return rm_reading_fail(madx->reading, "INSTALL needs element = NAME, at = m");
    if (rm_madx_find(madx, name) == NULL && class != NULL && !rm_madx_define_element(madx, name, class, &nothing))
        return false;
    if (!take_edit_number(change, "at", true, &at_m))
        return false;
    if (from == NULL)
        return install_at(change, name, at_m);
    if (strcmp(from, "selected") != 0) {
        struct rm_madx_spot const *const base = find_spot(change, from);
        return base != NULL && install_at(change, name, at_m + reference_of(change, base));
    }
    uint32_t const count = change->edit->count;
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_madx_spot const *const base = &change->edit->spots[i];
        bool selected = false;
        if (!rm_madx_is_selected(madx, base->name, &selected) ||
            (selected && !base->gone && !install_at(change, name, at_m + reference_of(change, base))))
            return false;
    }
    return true;
}

static bool remove_spot(struct edit_command const *change, struct rm_madx_spot *spot) {
    (void)change;
    spot->gone = true;
    return true;
}

/** By so much, or to a place, maybe counted from another element. */
static bool move_spot(struct edit_command const *change, struct rm_madx_spot *spot) {
    char const *const from = rm_madx_word(change->madx, change->attributes, "from");
    double by_m = 0;
    double to_m = 0;
    if (rm_madx_attribute(change->attributes, "by") != NULL) {
        if (!take_edit_number(change, "by", true, &by_m))
            return false;
        spot->centre_m += by_m;
        return true;
    }
    if (!take_edit_number(change, "to", true, &to_m))
        return false;
    struct rm_madx_spot const *const base = from != NULL ? find_spot(change, from) : NULL;
    if (from != NULL && base == NULL)
        return false;
    spot->centre_m = to_m + (base != NULL ? reference_of(change, base) : 0) + change->edit->sign * spot->length_m / 2;
    return true;
}

/** Another element at the same place. */
static bool replace_spot(struct edit_command const *change, struct rm_madx_spot *spot) {
    char const *const by = rm_madx_word(change->madx, change->attributes, "by");
    if (by == NULL)
        return rm_reading_fail(change->madx->reading, "REPLACE needs by = NAME");
    struct rm_madx_spot other = {.name = by, .where = change->madx->here};
    if (!measure_spot(change, &other))
        return false;
    other.centre_m = reference_of(change, spot) + change->edit->sign * other.length_m / 2;
    spot->gone = true;
    return rm_madx_add_spot(change->madx, change->edit, &other);
}

/** Does it to what `element` names, or to all that are selected. */
static bool change_named(struct edit_command const *change,
                         bool (*to)(struct edit_command const *, struct rm_madx_spot *)) {
    struct rm_madx *const madx = change->madx;
    char const *const name = rm_madx_word(madx, change->attributes, "element");
    if (name == NULL)
        return rm_reading_fail(madx->reading, "it needs element = NAME, or element = selected");
    if (strcmp(name, "selected") != 0) {
        struct rm_madx_spot *const spot = find_spot(change, name);
        return spot != NULL && to(change, spot);
    }
    uint32_t const count = change->edit->count;
    for (uint32_t i = 0; i < count; ++i) {
        bool selected = false;
        if (!rm_madx_is_selected(madx, change->edit->spots[i].name, &selected) ||
            (selected && !change->edit->spots[i].gone && !to(change, &change->edit->spots[i])))
            return false;
    }
    return true;
}

static bool remove_named(struct edit_command const *change) { return change_named(change, remove_spot); }

static bool move_named(struct edit_command const *change) { return change_named(change, move_spot); }

static bool replace_named(struct edit_command const *change) { return change_named(change, replace_spot); }

/** From behind. Elements themselves do not turn, as in MAD-X. */
static bool reflect_sequence(struct edit_command const *change) {
    struct rm_madx_edited *const edit = change->edit;
    for (uint32_t i = 0; i < edit->count; ++i) {
        edit->spots[i].centre_m = edit->length_m - edit->spots[i].centre_m;
        edit->spots[i].order = edit->count - 1 - i;
    }
    return true;
}

/** The sequence begins where `start` begins; what was before it comes last. */
static bool cycle_sequence(struct edit_command const *change) {
    struct rm_madx_edited *const edit = change->edit;
    char const *const name = rm_madx_word(change->madx, change->attributes, "start");
    struct rm_madx_spot const *const start = name != NULL ? find_spot(change, name) : NULL;
    if (start == NULL)
        return rm_reading_fail(change->madx->reading, "CYCLE needs start = NAME");
    struct rm_madx_spot const first = *start;
    double const begin_m = first.centre_m - first.length_m / 2;
    for (uint32_t i = 0; i < edit->count; ++i) {
        struct rm_madx_spot *const spot = &edit->spots[i];
        bool const before =
            spot->centre_m < first.centre_m || (spot->centre_m == first.centre_m && spot->order < first.order);
        spot->centre_m += before ? edit->length_m - begin_m : -begin_m;
    }
    return true;
}

static bool flatten_sequence(struct edit_command const *change) { return rm_madx_flatten(change->madx, change->edit); }

static bool end_edit(struct edit_command const *change) {
    change->madx->edit = NULL;
    return rm_madx_close_edit(change->madx, change->edit);
}

static struct {
    char const *name;
    bool (*run)(struct edit_command const *change);
} const commands[] = {{"install", install_element},  {"remove", remove_named},      {"move", move_named},
                      {"replace", replace_named},    {"reflect", reflect_sequence}, {"cycle", cycle_sequence},
                      {"flatten", flatten_sequence}, {"endedit", end_edit}};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static size_t find_command(char const *command) {
    size_t i = 0;
    while (i < COMMANDS && strcasecmp(commands[i].name, command) != 0)
        ++i;
    return i;
}

bool rm_madx_is_edit(char const *command) {
    return strcasecmp(command, "seqedit") == 0 || find_command(command) < COMMANDS;
}

static bool begin_edit(struct rm_madx *madx, struct rm_madx_attribute_list const *attributes) {
    char const *const name = rm_madx_word(madx, attributes, "sequence");
    struct rm_madx_object *const object = name != NULL ? rm_madx_find(madx, name) : NULL;
    if (object == NULL || (object->kind != RM_MADX_SEQUENCE && object->kind != RM_MADX_LINE))
        return rm_reading_fail(madx->reading, "SEQEDIT of %.60s, which is no line or sequence; define it before",
                               name != NULL ? name : "nothing");
    if (madx->edit != NULL)
        return rm_reading_fail(madx->reading, "SEQEDIT within SEQEDIT; write ENDEDIT before");
    madx->edit = rm_madx_open_edit(madx, object);
    return madx->edit != NULL;
}

bool rm_madx_edit(struct rm_madx *madx, char const *command, struct rm_madx_attribute_list const *attributes) {
    size_t const which = find_command(command);
    if (which == COMMANDS)
        return begin_edit(madx, attributes);
    if (madx->edit == NULL)
        return rm_reading_fail(madx->reading, "%.20s stands between SEQEDIT and ENDEDIT only", command);
    rm_madx_at(madx, &madx->here, command);
    return commands[which].run(&(struct edit_command){madx, madx->edit, attributes});
}
