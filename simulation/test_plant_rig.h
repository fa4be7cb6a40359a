// SPDX-License-Identifier: Apache-2.0
/** A plant of two texts, for a test. */
#ifndef RM_SIMULATION_TEST_PLANT_RIG_H
#define RM_SIMULATION_TEST_PLANT_RIG_H

#include "plant.h"

/** Opens the plant of a configuration's instruments and chains, and of an overlay with `more` behind; the test fails
 * where they are wrong. Its turn rate is 2^20 Hz, its looks are never. */
void test_plant_open(struct rm_plant *plant, char const *described, char const *overlay, char const *more);

/** Lets time pass to turn `index` of the run. */
void test_plant_reach(struct rm_plant *plant, uint64_t index);

/** An event happens at the next turn. */
void test_plant_event(struct rm_plant *plant, char const *words);

#endif
