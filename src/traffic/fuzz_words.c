// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any lines as words of the generator. Aborts when a description reaches the generator that
 * rm_traffic_check refuses. */
#include <stdlib.h>
#include <string.h>

#include "traffic/test_words_rig.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

/* Waits, and other files, are no part of it. */
static bool leaves_the_line(char const *line) { return strstr(line, "load") != NULL || strstr(line, "delay") != NULL; }

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    char line[RM_COMMAND_LINE_BYTES + 1];
    void *state;
    if (rig_make(&state) != 0)
        abort();
    struct words_rig *const rig = state;
    for (size_t at = 0; at < size;) {
        uint8_t const *const end = memchr(data + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - data) - at : size - at;
        size_t const taken = length < sizeof line - 1 ? length : sizeof line - 1;
        memcpy(line, data + at, taken);
        line[taken] = '\0';
        at += length + 1;
        if (!leaves_the_line(line))
            rig_say(rig, line);
        for (uint32_t i = 0; i < RIG_PORTS; i++)
            if (rm_traffic_check(&rig->traffic[i], rig->words.port[i].longest_frame, NULL) != RM_OK)
                abort();
    }
    rig_free(&state);
    return 0;
}
