// SPDX-License-Identifier: Apache-2.0
/** The part of MAD-X's language that describes a machine: variables, elements, lines, sequences, seqedit's install,
 * beam, use and call (MAD-X User's Reference Manual). Conversions follow pyAT's at.load.madx; where they do not, the
 * code says it.
 *
 * A definition is kept as text and looked at when it is used, so that their order does not matter, as in pyAT: only
 * what
 * `=` gives is computed at once, when it can be. Names are told apart without case; an element keeps its own spelling.
 */
#ifndef RM_TWIN_READ_MADX_H
#define RM_TWIN_READ_MADX_H

#include "reading.h"

enum { RM_MADX_NAME_BYTES = 128, RM_MADX_MOST_STEPS = 1 << 21, RM_MADX_MOST_NUMBERS = 64 };

/** `name = text` or `name := text` of an element or command; a flag has the text true or false. */
struct rm_madx_attribute {
    char const *name; /**< lower case */
    char const *text;
    uint32_t line;
    bool fixed; /**< it was computed when it was set: */
    uint32_t count;
    double const *numbers;
};

struct rm_madx_attributes {
    struct rm_madx_attribute *list;
    uint32_t count;
};

/** What stands in a sequence, or is installed into one. */
struct rm_madx_entry {
    char const *name;
    struct rm_madx_attributes attributes;
    uint32_t line;
    struct rm_madx_entry *next;
};

enum rm_madx_kind { RM_MADX_VARIABLE, RM_MADX_ELEMENT, RM_MADX_LINE, RM_MADX_SEQUENCE, RM_MADX_BEAM };

struct rm_madx_object {
    char const *key;  /**< lower case */
    char const *name; /**< as written */
    enum rm_madx_kind kind;
    uint32_t line;
    bool busy;                      /**< being computed or expanded: whoever comes here again goes around in a circle */
    struct rm_madx_attribute value; /**< of a variable; of a line its list */
    char const *base;               /**< of an element: what it was made from */
    struct rm_madx_attributes attributes; /**< with those of its base, if that was known by then */
    struct rm_madx_entry *entries, *last_entry;
    struct rm_madx_entry *installs, *last_install;
    struct rm_madx_object *next; /**< in its slot of the table */
};

enum { RM_MADX_SLOTS = 4096 };

struct rm_madx {
    struct rm_reading *reading;
    struct rm_madx_object *slots[RM_MADX_SLOTS];
    struct rm_madx_object *open;   /**< the sequence between SEQUENCE and ENDSEQUENCE */
    struct rm_madx_object *edited; /**< the line or sequence between SEQEDIT and ENDEDIT */
    char const *used;              /**< what was USEd last */
    struct rm_madx_object *last;   /**< the line or sequence that was defined last */
    uint32_t depth;
    uint32_t steps;  /**< of expansion: a bound on the work */
    uint32_t drifts; /**< made between the elements of sequences */
    bool ended;      /**< RETURN in this file, or STOP */
    bool stopped;
};

/** Runs a text: every statement in it. */
bool rm_madx_run(struct rm_madx *madx, char const *path, char const *text, size_t count);

/** One statement, without its semicolon and comments. */
bool rm_madx_statement(struct rm_madx *madx, char const *path, char const *statement, uint32_t line);

/** By name in any case; NULL: none. rm_madx_define makes it anew, or what was of that name into another. */
struct rm_madx_object *rm_madx_find(struct rm_madx const *madx, char const *name);
struct rm_madx_object *rm_madx_define(struct rm_madx *madx, char const *name, enum rm_madx_kind kind, uint32_t line);

/** Attributes from `, name = text, …`; and by name, the last of it, or NULL. */
bool rm_madx_attributes(struct rm_madx *madx, char const *text, uint32_t line, struct rm_madx_attributes *attributes);
struct rm_madx_attribute const *rm_madx_attribute(struct rm_madx_attributes const *attributes, char const *name);

/** The text of an attribute without quotes, in lower case; NULL: there is none. */
char const *rm_madx_word(struct rm_madx *madx, struct rm_madx_attributes const *attributes, char const *name);

/** Places the reading at a line of the file that is being read. */
void rm_madx_at(struct rm_madx *madx, uint32_t line, char const *name);

/** Computes text; a name that is not defined is a failure only when `quiet` is NULL: else *quiet becomes true. */
bool rm_madx_compute(struct rm_madx *madx, char const *text, double *number, bool *quiet);

/** The same for an attribute of one or, in braces, several numbers, at most RM_MADX_MOST_NUMBERS. */
bool rm_madx_numbers(struct rm_madx *madx, struct rm_madx_attribute const *attribute, double *numbers, uint32_t *count);
bool rm_madx_number(struct rm_madx *madx, struct rm_madx_attribute const *attribute, double *number);

/** Computes an attribute now if it can be computed now. */
bool rm_madx_fix(struct rm_madx *madx, struct rm_madx_attribute *attribute);

/** An element as it stands somewhere: what is said there goes before what its definition says. */
struct rm_madx_view {
    struct rm_madx_attributes const *here; /**< may be NULL */
    struct rm_madx_object const *object;
};

/** MAD-X's own name for what an element is made from at last ("quadrupole"); a failure when that is nothing of MAD-X's.
 */
bool rm_madx_class(struct rm_madx *madx, struct rm_madx_object const *object, char const **class);
bool rm_madx_is_class(char const *name);

/** An attribute of an element as a number; `number` stays when it has no such one. */
bool rm_madx_take(struct rm_madx *madx, struct rm_madx_view const *view, char const *name, double *number);
struct rm_madx_attribute const *rm_madx_look(struct rm_madx const *madx, struct rm_madx_view const *view,
                                             char const *name);

/** How long it is in a sequence: of a rectangular bend the arc. */
bool rm_madx_length(struct rm_madx *madx, struct rm_madx_view const *view, double *length_m);

/** Adds the elements that it becomes; `reversed`: passed from behind. */
bool rm_madx_add(struct rm_madx *madx, struct rm_madx_view const *view, bool reversed);

/** A drift that stands between elements of a sequence. */
bool rm_madx_add_drift(struct rm_madx *madx, double length_m);

/** Adds all of a line or sequence, and what was installed into it. */
bool rm_madx_expand(struct rm_madx *madx, struct rm_madx_object *object);
bool rm_madx_expand_sequence(struct rm_madx *madx, struct rm_madx_object *sequence);
bool rm_madx_install(struct rm_madx *madx, struct rm_madx_object *object);

/** Counts a step of expansion; a failure beyond RM_MADX_MOST_STEPS. */
bool rm_madx_step(struct rm_madx *madx);

/** What the beam of this line or sequence says, and what follows for cavities and radiation. */
bool rm_madx_beam(struct rm_madx *madx, char const *used);

#endif
