// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: bytes are a script of fragments, played to an assembly against a model, and to one with few slots
 * by a camera that does what it likes (test_assembly_model.h). Aborts when something is wrong. */
#include <stdio.h>
#include <stdlib.h>

#include "frames/test_assembly_model.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct assembly_seen seen = {0};
    char const *wrong = assembly_model_play(data, size, &seen);
    wrong = wrong != NULL ? wrong : assembly_hostile_play(data, size, &seen);
    if (wrong != NULL) {
        fprintf(stderr, "%s\n", wrong);
        abort();
    }
    return 0;
}
