// SPDX-License-Identifier: Apache-2.0
/** What the fuzzers of all formats do with any bytes: either they are refused in words, or the lattice is whole. */
#ifndef RM_TWIN_READ_FUZZ_LATTICE_H
#define RM_TWIN_READ_FUZZ_LATTICE_H

#include <stddef.h>
#include <stdint.h>

/** `name` tells the format by its ending. Aborts when neither holds. Returns 0. */
int rm_fuzz_lattice(char const *name, uint8_t const *data, size_t size);

#endif
