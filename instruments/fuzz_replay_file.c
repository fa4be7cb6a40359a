// SPDX-License-Identifier: Apache-2.0
/** Whatever the bytes: refused, or every lane of the first and the last turn can be read. */
#include <stdlib.h>
#include <string.h>

#include "replay_file.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct rm_replay_file file;
    uint8_t *bytes = malloc(size + 1); /* aligned as a mapping is */
    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    uint8_t *exact = realloc(bytes, size == 0 ? 1 : size);
    if (rm_replay_file_parse("fuzz", exact, size, &file, NULL) == RM_OK) {
        uint64_t const ends[] = {0, file.turn_count - 1, file.turn_count};
        for (unsigned e = 0; e < 3; ++e) {
            union rm_lane const *lanes = rm_replay_file_turn(&file, ends[e], 0, file.instrument_count);
            int32_t volatile sum = 0;
            for (uint32_t l = 0; l < file.instrument_count * RM_LANES; ++l)
                sum = sum ^ lanes[l].i;
        }
        rm_replay_file_close(&file);
    }
    free(exact);
    return 0;
}
