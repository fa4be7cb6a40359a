// SPDX-License-Identifier: Apache-2.0
/** A lattice while it is being read: what all formats share. A format turns its file into elements' fields (value.h);
 * here they become elements, and in the end a lattice.
 *
 * Functions return false when they failed, and have then said why in `error`: they are meant for `a && b && c`. */
#ifndef RM_TWIN_READ_READING_H
#define RM_TWIN_READ_READING_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/lattice.h>

#include "scratch.h"
#include "value.h"

enum {
    /** Most elements of a lattice; the largest machine has a tenth of that. */
    RM_MOST_ELEMENTS = 1 << 18,
    /** Most bytes of a file, and of its uncompressed content. */
    RM_MOST_FILE_BYTES = 1 << 28,
    /** Most bytes that a reading takes in all. */
    RM_MOST_MEMORY_BYTES = 1 << 30,
    /** Deepest nesting of expressions, structures, lines and called files. */
    RM_MOST_DEPTH = 64,

    RM_PLACE_BYTES = 128,
};

/** What the file says of the whole ring, so far. NaN: not said. */
struct rm_ring_facts {
    /** There was a RingParam. If there are several, the first one counts. */
    bool has_parameters;

    char name[RM_ELEMENT_NAME_BYTES];
    char particle[RM_ELEMENT_NAME_BYTES];
    double rest_energy_ev, charge_e;
    /** Energy given for the ring. */
    double energy_ev;
    /** Largest energy given for a cavity. */
    double cavity_energy_ev;
    /** Largest energy given for another element. */
    double element_energy_ev;

    double periodicity;
    /** Harmonic number of these elements, not of the ring. */
    double cell_harmonic_number;
};

struct rm_lattice_reading {
    char const *path;
    /** Place in the file, for people: `line 12`, `element 3 ("QF")`; or empty. */
    char place[RM_PLACE_BYTES];

    struct rm_scratch scratch;
    /** Elements; what they point to is in scratch. */
    struct rm_element *elements;

    uint32_t count, room;
    struct rm_ring_facts facts;
    struct rm_error *error;
    bool failed;
    /** Locale in which numbers have a point, whatever locale the program uses. */
    locale_t plain;
    /** Bytes taken from scratch so far. */
    size_t taken;
};

void rm_reading_begin(struct rm_lattice_reading *reading, char const *path, struct rm_error *error);
void rm_reading_end(struct rm_lattice_reading *reading);

/** Fills in the error: path, place and text; RM_E_CONFIG. Returns false. The first failure is the one that stays. */
bool rm_reading_fail(struct rm_lattice_reading *reading, char const *format, ...) __attribute__((format(printf, 2, 3)));

/** Sets `place`. */
void rm_reading_at(struct rm_lattice_reading *reading, char const *format, ...) __attribute__((format(printf, 2, 3)));

/** Takes memory from scratch. NULL when there is none, which is a failure. */
void *rm_reading_take(struct rm_lattice_reading *reading, size_t count, size_t bytes);
char *rm_reading_text(struct rm_lattice_reading *reading, char const *text, size_t length);

/** The unsigned number that begins at `text`, as strtod reads it; `end` is behind it, or `text` when there is none. */
double rm_reading_number(struct rm_lattice_reading const *reading, char const *text, char const **end);

/** Loads a file's bytes, with a zero behind them that is not counted. */
bool rm_reading_load(struct rm_lattice_reading *reading, char const *path, char const **bytes, size_t *count);

/** Adds an element that is complete. What it points to must live as long as scratch. */
bool rm_reading_add(struct rm_lattice_reading *reading, struct rm_element const *element);

/** Adds what these fields describe: an element (element_fields.c), or what a RingParam says of the ring (ring_facts.c).
 * `index` counts what the file has, for messages. */
bool rm_reading_add_fields(struct rm_lattice_reading *reading, struct rm_value const *fields);

/** Takes a RingParam's fields. */
bool rm_reading_ring(struct rm_lattice_reading *reading, struct rm_value const *fields);

/** Rest energy and charge of a particle known by name ("electron", "proton", "relativistic" …). */
bool rm_particle_by_name(char const *name, double *rest_energy_ev, double *charge_e);

/** Fills in what is known of the ring, when all elements are there. */
bool rm_reading_info(struct rm_lattice_reading *reading, struct rm_lattice_facts *info);

/** Turns one file's content into elements and facts. */
bool rm_read_mat(struct rm_lattice_reading *reading, char const *bytes, size_t count, char const *variable);
bool rm_read_m(struct rm_lattice_reading *reading, char const *text, size_t count);
bool rm_read_madx(struct rm_lattice_reading *reading, char const *text, size_t count, char const *sequence);

#endif
