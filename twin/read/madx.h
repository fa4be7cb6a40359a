// SPDX-License-Identifier: Apache-2.0
/** The part of MAD-X's language that describes a machine: variables, elements, lines, sequences and their editing,
 * beam, use and call, if, while and macros (MAD-X User's Reference Manual). Conversions follow pyAT's at.load.madx;
 * where they do not, the code says it.
 *
 * A definition is kept as text and looked at when it is used, so that their order does not matter, as in pyAT: only
 * what `=` gives, conditions and SEQEDIT are computed at once. Names are told apart without case; an element keeps its
 * own spelling. */
#ifndef RM_TWIN_READ_MADX_H
#define RM_TWIN_READ_MADX_H

#include "reading.h"

enum {
    RM_MADX_NAME_BYTES = 128,
    RM_MADX_MOST_STEPS = 1 << 21,
    RM_MADX_MOST_NUMBERS = 64,
    /** Of all WHILEs and EXECs together. */
    RM_MADX_MOST_ROUNDS = 1 << 16,
};

/** A place in a file: of a called one, in that. */
struct rm_madx_where {
    char const *path;
    uint32_t line;
};

/** `name = text` or `name := text` of an element or command; a flag has the text true or false. */
struct rm_madx_attribute_value {
    /** Lower case. */
    char const *name;

    char const *text;
    /** It was computed when it was set: */
    bool fixed;

    uint32_t count;
    double const *numbers;
};

struct rm_madx_attribute_list {
    struct rm_madx_attribute_value *list;
    uint32_t count;
};

/** What stands in a sequence. */
struct rm_madx_entry {
    char const *name;
    struct rm_madx_attribute_list attributes;
    struct rm_madx_where where;
    /** By SEQEDIT, with its centre there, whatever its attributes say. */
    bool placed;

    double centre_m;
    struct rm_madx_entry *next;
};

enum rm_madx_kind { RM_MADX_VARIABLE, RM_MADX_ELEMENT, RM_MADX_LINE, RM_MADX_SEQUENCE, RM_MADX_BEAM, RM_MADX_MACRO };

struct rm_madx_object {
    /** Lower case. */
    char const *key;
    /** As written. */
    char const *name;

    enum rm_madx_kind kind;
    struct rm_madx_where where;
    /** Being computed or expanded: whoever comes here again goes around in a circle. */
    bool busy;
    /** Of a variable; of a line its list, of a macro its text. */
    struct rm_madx_attribute_value value;
    /** Of an element: what it was made from. */
    char const *base;
    /** With those of its base, if that was known by then. */
    struct rm_madx_attribute_list attributes;

    struct rm_madx_entry *entries, *last_entry;
    struct rm_madx_macro const *macro;
    /** How often it stands in the sequence that is edited. */
    uint32_t times;
    /** In its slot of the table. */
    struct rm_madx_object *next;
};

enum { RM_MADX_SLOTS = 4096 };

struct rm_madx {
    struct rm_lattice_reading *reading;
    /** The statement that is being read. */
    struct rm_madx_where here;

    struct rm_madx_object *slots[RM_MADX_SLOTS];
    /** The sequence between SEQUENCE and ENDSEQUENCE. */
    struct rm_madx_object *open;
    /** Between SEQEDIT and ENDEDIT. */
    struct rm_madx_edited *edit;
    /** For SEQEDIT. */
    struct rm_madx_selection *selected;
    /** What was USEd last. */
    char const *used;
    /** The line or sequence that was defined last. */
    struct rm_madx_object *last;

    uint32_t depth;
    /** Of expansion: a bound on the work. */
    uint32_t steps;
    /** Of loops and macros: the same. */
    uint32_t rounds;
    /** Bytes of text in them. */
    size_t repeated;
    /** Made between the elements of sequences. */
    uint32_t drifts;
    /** RETURN in this file, or STOP. */
    bool ended;

    bool stopped;
};

/** Runs a file's text: every statement in it. */
bool rm_madx_run(struct rm_madx *madx, char const *path, char const *text, size_t count);

/** One statement, without its semicolon and comments. */
bool rm_madx_statement(struct rm_madx *madx, char const *statement);

/** By name in any case; NULL: none. rm_madx_define makes it anew, or what was of that name into another. */
struct rm_madx_object *rm_madx_find(struct rm_madx const *madx, char const *name);
struct rm_madx_object *rm_madx_define(struct rm_madx *madx, char const *name, enum rm_madx_kind kind);

/** Attributes from `, name = text, …`; and by name, the last of it, or NULL. */
bool rm_madx_attributes(struct rm_madx *madx, char const *text, struct rm_madx_attribute_list *attributes);
struct rm_madx_attribute_value const *rm_madx_attribute(struct rm_madx_attribute_list const *attributes,
                                                        char const *name);

/** Adds attributes to others; what is said anew goes before. */
bool rm_madx_join(struct rm_madx *madx, struct rm_madx_attribute_list *to, struct rm_madx_attribute_list const *more);

/** The text of an attribute without quotes, in lower case; NULL: there is none. */
char const *rm_madx_word(struct rm_madx *madx, struct rm_madx_attribute_list const *attributes, char const *name);

/** Says where the reading is, for messages; `name` may be NULL. */
void rm_madx_at(struct rm_madx *madx, struct rm_madx_where const *where, char const *name);

/** Computes text; a name that is not defined is a failure only when `quiet` is NULL: else *quiet becomes true. */
bool rm_madx_compute(struct rm_madx *madx, char const *text, double *number, bool *quiet);

/** The same for an attribute of one or, in braces, several numbers, at most RM_MADX_MOST_NUMBERS. */
bool rm_madx_numbers(struct rm_madx *madx, struct rm_madx_attribute_value const *attribute, double *numbers,
                     uint32_t *count);
bool rm_madx_number(struct rm_madx *madx, struct rm_madx_attribute_value const *attribute, double *number);

/** A < B, A == B, …, maybe several with && and ||. A failure when it is none. */
bool rm_madx_condition(struct rm_madx *madx, char const *text, bool *holds);

/** Computes an attribute now if it can be computed now. */
bool rm_madx_fix(struct rm_madx *madx, struct rm_madx_attribute_value *attribute);

/** An element as it stands somewhere: what is said there goes before what its definition says. */
struct rm_madx_view {
    /** May be NULL. */
    struct rm_madx_attribute_list const *here;

    struct rm_madx_object const *object;
};

/** MAD-X's own name for what an element is made from at last ("quadrupole"); a failure when that is nothing of MAD-X's.
 */
bool rm_madx_class(struct rm_madx *madx, struct rm_madx_object const *object, char const **class);
/** Of such a name, in any case, MAD-X's own spelling; NULL: it is none. */
char const *rm_madx_class_name(char const *name);

/** An attribute of an element as a number; `number` stays when it has no such one. */
bool rm_madx_take(struct rm_madx *madx, struct rm_madx_view const *view, char const *name, double *number);
struct rm_madx_attribute_value const *rm_madx_look(struct rm_madx const *madx, struct rm_madx_view const *view,
                                                   char const *name);

/** The length of an arc by its chord, which a rectangular bend's length is in MAD-X unless told otherwise. */
double rm_madx_arc(double chord_m, double half_rad);

/** How long it is in a sequence: of a rectangular bend the arc. */
bool rm_madx_length(struct rm_madx *madx, struct rm_madx_view const *view, double *length_m);

/** Adds the elements that it becomes. */
bool rm_madx_add(struct rm_madx *madx, struct rm_madx_view const *view);

/** A drift that stands between elements of a sequence. */
bool rm_madx_add_drift(struct rm_madx *madx, double length_m);

/** Where the elements of a line or sequence go, one after the other. */
struct rm_madx_sink {
    bool (*element)(struct rm_madx_sink *sink, struct rm_madx_view const *view);
    bool (*gap)(struct rm_madx_sink *sink, double length_m);
    struct rm_madx *madx;
};

/** All of a line or a sequence. */
bool rm_madx_expand(struct rm_madx_sink *sink, struct rm_madx_object *object);
bool rm_madx_expand_line(struct rm_madx_sink *sink, struct rm_madx_object *line, bool reversed);
bool rm_madx_expand_sequence(struct rm_madx_sink *sink, struct rm_madx_object *sequence);

/** Into the lattice. */
bool rm_madx_expand_into_lattice(struct rm_madx *madx, struct rm_madx_object *object);

/** The distance of an entry's centre from the sequence's begin, and its length. */
bool rm_madx_place(struct rm_madx *madx, struct rm_madx_object const *sequence, struct rm_madx_entry const *entry,
                   double *centre_m, double *length_m);

/** What a sequence's reference is in halves of an element's length: its entry is 1, its centre 0, its exit -1. */
bool rm_madx_reference(struct rm_madx *madx, struct rm_madx_object const *sequence, double *sign);

/** Adds an entry to a sequence. */
bool rm_madx_append(struct rm_madx *madx, struct rm_madx_object *sequence, char const *name,
                    struct rm_madx_attribute_list const *attributes);

/** SEQEDIT, its commands and ENDEDIT; SELECT of its elements. */
bool rm_madx_edit(struct rm_madx *madx, char const *command, struct rm_madx_attribute_list const *attributes);
bool rm_madx_is_edit(char const *command);
bool rm_madx_select(struct rm_madx *madx, struct rm_madx_attribute_list const *attributes);

/** Whether it is one of those selected. */
bool rm_madx_is_selected(struct rm_madx *madx, char const *name, bool *selected);

/** What is read of a statement's text from `at` on: a name, maybe in quotes, empty when none is next; and = or :=, 0
 * when neither is. */
bool rm_madx_read_name(struct rm_madx *madx, char const **at, char name[RM_MADX_NAME_BYTES]);
char rm_madx_read_equals(char const **at);

/** NAME = text, NAME := text; LABEL : CLASS, …, which in a sequence also stands there; and of a class without more. */
bool rm_madx_set_variable(struct rm_madx *madx, char const *name, char const *text, bool deferred);
bool rm_madx_define_labelled(struct rm_madx *madx, char const *label, char const *text);
bool rm_madx_define_element(struct rm_madx *madx, char const *label, char const *base,
                            struct rm_madx_attribute_list const *attributes);

/** Counts a step of expansion; a failure beyond RM_MADX_MOST_STEPS. */
bool rm_madx_step(struct rm_madx *madx);

/** What the beam of this line or sequence says, and what follows for cavities and radiation. */
bool rm_madx_beam(struct rm_madx *madx, char const *used);

#endif
