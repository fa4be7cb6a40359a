// SPDX-License-Identifier: Apache-2.0
/** For test_assembly.c and fuzz_assembly.c: a script of fragments, played to an assembly and to a model of it, which
 * keeps every accepted fragment and asks of all of them together whether they can be of one frame. */
#ifndef RM_FRAMES_TEST_ASSEMBLY_MODEL_H
#define RM_FRAMES_TEST_ASSEMBLY_MODEL_H

#include <stddef.h>
#include <stdint.h>

/** How often something happened, so that a test can see that its scripts reach it. */
struct assembly_seen {
    uint64_t accepted, duplicate, refused, late, whole, incomplete;
};

/** Plays a script; returns what is wrong, NULL: nothing. */
char const *assembly_model_play(uint8_t const *script, size_t size, struct assembly_seen *seen);

/** The same bytes as fragments of a camera that does what it likes, to an assembly with few slots, whose leases are
 * released late: what comes out is what was put in, leased frames stay as they are, and all is accounted for. */
char const *assembly_hostile_play(uint8_t const *script, size_t size, struct assembly_seen *seen);

#endif
