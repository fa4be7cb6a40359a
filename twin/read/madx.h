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
    /** Most rounds of all WHILEs and EXECs together. */
    RM_MADX_MOST_ROUNDS = 1 << 16,
};

/** A place in a file, which may be one that was CALLed. */
struct rm_madx_where {
    char const *path;
    uint32_t line;
};

/** `name = text` or `name := text` of an element or command; a flag has the text true or false. */
struct rm_madx_attribute_value {
    /** Name in lower case. */
    char const *name;

    char const *text;
    /** It was computed when it was set; then these are its numbers: */
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
    /** SEQEDIT placed its centre there, whatever its attributes say. */
    bool placed;

    double centre_m;
    struct rm_madx_entry *next;
};

enum rm_madx_kind { RM_MADX_VARIABLE, RM_MADX_ELEMENT, RM_MADX_LINE, RM_MADX_SEQUENCE, RM_MADX_BEAM, RM_MADX_MACRO };

struct rm_madx_object {
    /** Name in lower case. */
    char const *key;
    /** Name as written. */
    char const *name;

    enum rm_madx_kind kind;
    struct rm_madx_where where;
    /** It is being computed or expanded: to come here again means a circle. */
    bool busy;
    /** Value of a variable; list of a line; text of a macro. */
    struct rm_madx_attribute_value value;
    /** For an element: what it was made from. */
    char const *base;
    /** Attributes, with those of its base, if that was known by then. */
    struct rm_madx_attribute_list attributes;

    struct rm_madx_entry *entries, *last_entry;
    struct rm_madx_macro const *macro;
    /** How often it stands in the sequence that is being edited. */
    uint32_t times;
    /** Next object in its slot of the table. */
    struct rm_madx_object *next;
};

enum { RM_MADX_SLOTS = 4096 };

struct rm_madx {
    struct rm_lattice_reading *reading;
    /** Place of the statement that is being read. */
    struct rm_madx_where here;

    struct rm_madx_object *slots[RM_MADX_SLOTS];
    /** The sequence between SEQUENCE and ENDSEQUENCE. */
    struct rm_madx_object *open;
    /** The sequence between SEQEDIT and ENDEDIT. */
    struct rm_madx_edited *edit;
    /** Elements selected for SEQEDIT. */
    struct rm_madx_selection *selected;
    /** Name that was USEd last. */
    char const *used;
    /** The line or sequence that was defined last. */
    struct rm_madx_object *last;

    uint32_t depth;
    /** Steps of expansion: a bound on the work. */
    uint32_t steps;
    /** Rounds of loops and macros: a bound, too. */
    uint32_t rounds;
    /** Bytes of text run in those rounds. */
    size_t repeated;
    /** Drifts made between the elements of sequences. */
    uint32_t drifts;
    /** RETURN in this file, or STOP, was read. */
    bool ended;

    bool stopped;
};

/** Runs a file's text: every statement in it. */
bool rm_madx_run(struct rm_madx *madx, char const *path, char const *text, size_t count);

/** Runs one statement, without its semicolon and comments. */
bool rm_madx_statement(struct rm_madx *madx, char const *statement);

/** Finds an object by its name in any case; NULL: there is none. rm_madx_define makes a new one, or changes the one of
 * that name. */
struct rm_madx_object *rm_madx_find(struct rm_madx const *madx, char const *name);
struct rm_madx_object *rm_madx_define(struct rm_madx *madx, char const *name, enum rm_madx_kind kind);

/** Reads attributes from `, name = text, …`. The other function finds the last one of a name; NULL: there is none. */
bool rm_madx_attributes(struct rm_madx *madx, char const *text, struct rm_madx_attribute_list *attributes);
struct rm_madx_attribute_value const *rm_madx_attribute(struct rm_madx_attribute_list const *attributes,
                                                        char const *name);

/** Adds attributes to others; new values override old ones. */
bool rm_madx_join(struct rm_madx *madx, struct rm_madx_attribute_list *to, struct rm_madx_attribute_list const *more);

/** The text of an attribute without quotes, in lower case; NULL: there is none. */
char const *rm_madx_word(struct rm_madx *madx, struct rm_madx_attribute_list const *attributes, char const *name);

/** Sets the place of the reading, for messages; `name` may be NULL. */
void rm_madx_at(struct rm_madx *madx, struct rm_madx_where const *where, char const *name);

/** Computes a text. A name that is not defined is a failure if `quiet` is NULL; else *quiet becomes true. */
bool rm_madx_compute(struct rm_madx *madx, char const *text, double *number, bool *quiet);

/** The same for an attribute of one number or, in braces, of several, at most RM_MADX_MOST_NUMBERS. */
bool rm_madx_numbers(struct rm_madx *madx, struct rm_madx_attribute_value const *attribute, double *numbers,
                     uint32_t *count);
bool rm_madx_number(struct rm_madx *madx, struct rm_madx_attribute_value const *attribute, double *number);

/** Computes a condition: A < B, A == B, …, maybe several with && and ||. Another text is a failure. */
bool rm_madx_condition(struct rm_madx *madx, char const *text, bool *holds);

/** Computes an attribute now if it can be computed now. */
bool rm_madx_fix(struct rm_madx *madx, struct rm_madx_attribute_value *attribute);

/** An element where it stands: attributes there override those of its definition. */
struct rm_madx_view {
    /** Attributes at that place; may be NULL. */
    struct rm_madx_attribute_list const *here;

    struct rm_madx_object const *object;
};

/** MAD-X's own name for the class that an element is made from in the end ("quadrupole"). A failure when that is not
 * one of MAD-X's. */
bool rm_madx_class(struct rm_madx *madx, struct rm_madx_object const *object, char const **class);
/** MAD-X's own spelling of such a name in any case; NULL: it is not one. */
char const *rm_madx_class_name(char const *name);

/** Takes an attribute of an element as a number; `number` stays as it is when there is none. */
bool rm_madx_take(struct rm_madx *madx, struct rm_madx_view const *view, char const *name, double *number);
struct rm_madx_attribute_value const *rm_madx_look(struct rm_madx const *madx, struct rm_madx_view const *view,
                                                   char const *name);

/** Length of an arc of this chord. In MAD-X the length of a rectangular bend is its chord unless told otherwise. */
double rm_madx_arc(double chord_m, double half_rad);

/** Length of an element in a sequence; for a rectangular bend, that of the arc. */
bool rm_madx_length(struct rm_madx *madx, struct rm_madx_view const *view, double *length_m);

/** Adds the elements of the lattice that it becomes. */
bool rm_madx_add(struct rm_madx *madx, struct rm_madx_view const *view);

/** Adds a drift between elements of a sequence. */
bool rm_madx_add_drift(struct rm_madx *madx, double length_m);

/** Receives the elements of a line or sequence, one after the other. */
struct rm_madx_sink {
    bool (*element)(struct rm_madx_sink *sink, struct rm_madx_view const *view);
    bool (*gap)(struct rm_madx_sink *sink, double length_m);
    struct rm_madx *madx;
};

/** Expands all of a line or a sequence. */
bool rm_madx_expand(struct rm_madx_sink *sink, struct rm_madx_object *object);
bool rm_madx_expand_line(struct rm_madx_sink *sink, struct rm_madx_object *line, bool reversed);
bool rm_madx_expand_sequence(struct rm_madx_sink *sink, struct rm_madx_object *sequence);

/** Expands it into the lattice. */
bool rm_madx_expand_into_lattice(struct rm_madx *madx, struct rm_madx_object *object);

/** Computes the distance of an entry's centre from the sequence's begin, and its length. */
bool rm_madx_place(struct rm_madx *madx, struct rm_madx_object const *sequence, struct rm_madx_entry const *entry,
                   double *centre_m, double *length_m);

/** Reference of a sequence in halves of an element's length: its entry is 1, its centre 0, its exit -1. */
bool rm_madx_reference(struct rm_madx *madx, struct rm_madx_object const *sequence, double *sign);

/** Adds an entry to a sequence. */
bool rm_madx_append(struct rm_madx *madx, struct rm_madx_object *sequence, char const *name,
                    struct rm_madx_attribute_list const *attributes);

/** Runs SEQEDIT, its commands and ENDEDIT; and SELECT of its elements. */
bool rm_madx_edit(struct rm_madx *madx, char const *command, struct rm_madx_attribute_list const *attributes);
bool rm_madx_is_edit(char const *command);
bool rm_madx_select(struct rm_madx *madx, struct rm_madx_attribute_list const *attributes);

/** Finds whether an element is selected. */
bool rm_madx_is_selected(struct rm_madx *madx, char const *name, bool *selected);

/** Read from a statement's text at `at`: a name, maybe in quotes, empty when none is next; and = or :=, 0 when neither
 * is. */
bool rm_madx_read_name(struct rm_madx *madx, char const **at, char name[RM_MADX_NAME_BYTES]);
char rm_madx_read_equals(char const **at);

/** Run NAME = text and NAME := text; LABEL : CLASS, …, which in a sequence also places the element; and a class alone.
 */
bool rm_madx_set_variable(struct rm_madx *madx, char const *name, char const *text, bool deferred);
bool rm_madx_define_labelled(struct rm_madx *madx, char const *label, char const *text);
bool rm_madx_define_element(struct rm_madx *madx, char const *label, char const *base,
                            struct rm_madx_attribute_list const *attributes);

/** Counts a step of expansion; a failure beyond RM_MADX_MOST_STEPS. */
bool rm_madx_step(struct rm_madx *madx);

/** Takes over the beam of this line or sequence, and what follows for cavities and radiation. */
bool rm_madx_beam(struct rm_madx *madx, char const *used);

#endif
