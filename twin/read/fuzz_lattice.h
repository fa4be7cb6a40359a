// SPDX-License-Identifier: Apache-2.0
/** What the fuzzers of all formats check with any bytes: either they are refused with a message, or the lattice is
 * valid. */
#ifndef RM_TWIN_READ_FUZZ_LATTICE_H
#define RM_TWIN_READ_FUZZ_LATTICE_H

#include <stddef.h>
#include <stdint.h>

/** Reads the bytes as a file. The ending of `name` gives the format. Aborts when neither holds. Returns 0. */
int rm_fuzz_lattice(char const *name, uint8_t const *data, size_t size);

#endif
