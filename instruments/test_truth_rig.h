// SPDX-License-Identifier: Apache-2.0
/** A machine with errors, whose correctors and some magnets have supplies; the file that tells of it, as text; and a twin
 * that knows nothing but the file. */
#ifndef RM_INSTRUMENTS_TEST_TRUTH_RIG_H
#define RM_INSTRUMENTS_TEST_TRUTH_RIG_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/twin.h>

#include "test_files.h"
#include "truth.h"

enum { BPMS = 168, CORRECTORS = 168, SUPPLIES = 2 * CORRECTORS, STRENGTHS = 96 };

struct rig {
    struct rm_ring_config ring;
    struct rm_machine *machine;
    double current[SUPPLIES + STRENGTHS];
    uint64_t steps;
    /** The truth, as text. */
    char *truth;
    /** A twin that is made of it. */
    struct rm_lattice *lattice;
    struct rm_twin *twin;
    struct rm_error error;
};

void truth_check(struct rig const *rig, enum rm_code code);

void truth_rig_make(struct rig *rig, unsigned seed);

void truth_rig_free(struct rig *rig);

/** Makes a step with the currents, and looks. */
void truth_look(struct rig *rig);

int truth_rig_open(void **state);

int truth_rig_close(void **state);

/** The rig that all tests share, without currents. */
struct rig *truth_rig_at_rest(void **state);

/** The object of a list of the truth behind `*at`, which moves on; false at the list's end. */
bool next_object(char const **at, char *object, size_t room);

char const *list_of(struct rig const *rig, char const *name);

double number_of(char const *object, char const *name);

/** Kicks at no current, and those of the currents. */
void set_kicks(struct rig *rig);

void make_twin(struct rig *rig);

/** The largest difference of the readings from those of a twin's orbit with the file's errors, nm. */
double reading_difference(struct rig *rig);

#endif
