// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a capture file. Refused, or every frame lies within the bytes and is not due before
 * the one before it. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/pcap_frames.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

enum { LONGEST = 1514 };

static void require(bool held) {
    if (!held)
        abort();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    if (size == 0)
        return 0;
    uint8_t *const copy = malloc(size);
    require(copy != NULL);
    memcpy(copy, data, size);
    struct rm_pcap_frames frames;
    struct rm_error error;
    if (rm_pcap_frames_read(fmemopen(copy, size, "rb"), "fuzz", LONGEST, 1 << 20, &frames, &error) == RM_OK) {
        uint8_t volatile sum = 0;
        require(frames.count > 0);
        for (uint32_t i = 0; i < frames.count; ++i) {
            struct rm_pcap_frame const *const frame = &frames.frame[i];
            require(frame->length >= 14 && frame->length <= LONGEST && frame->at_ns <= RM_PCAP_SPAN_MAX_NS);
            require(i == 0 || frame->at_ns >= frames.frame[i - 1].at_ns);
            for (uint32_t b = 0; b < frame->length; ++b)
                sum = sum ^ frames.bytes[frame->offset + b];
        }
        rm_pcap_frames_free(&frames);
    } else {
        require(error.text[0] != '\0' && frames.frame == NULL);
    }
    free(copy);
    return 0;
}
