// SPDX-License-Identifier: Apache-2.0
/** A machine of the lattice that a test program is given, with fast correctors, a quadrupole and the RF on supplies. */
#ifndef RM_INSTRUMENTS_TEST_MACHINE_RIG_H
#define RM_INSTRUMENTS_TEST_MACHINE_RIG_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "machine.h"

enum { BPMS = 168, FAST = 72, SUPPLIES = 2 * FAST + 2, STRENGTH = 2 * FAST, RF = STRENGTH + 1 };

static double const RATE_HZ = 10e3, UNIT_RAD = 1e-6;

/** Horizontal and vertical fast correctors, one quadrupole, and the RF: each with a supply. */
struct machine_rig {
    struct rm_ring_machine config;
    uint32_t supply[SUPPLIES];
    double current[SUPPLIES];
    struct rm_machine *machine;
    struct rm_error error;
    uint64_t steps;
};

/** Takes the lattice's file, a program's only argument. False: there is none. */
bool rig_take_lattice(int argc, char **argv);
char const *rig_lattice(void);

/** Makes a configuration without errors and disturbances; the test may change it before rig_make. */
void rig_init(struct machine_rig *rig);
void rig_make(struct machine_rig *rig);
void rig_free(struct machine_rig *rig);

/** Makes one step of 1 / RATE_HZ, with the currents as they are. */
void step(struct machine_rig *rig);

/** Runs the background for the lattice as it is now. */
void refresh(struct machine_rig *rig);

/** Number of a knob, by its name. */
uint32_t knob(struct machine_rig const *rig, char const *name);

/** The largest orbit of a plane at any BPM, m. */
double largest(struct machine_rig const *rig, int plane);

#endif
