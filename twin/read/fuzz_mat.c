// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a lattice file .mat. */
#include "fuzz_lattice.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) { return rm_fuzz_lattice("fuzz.mat", data, size); }
