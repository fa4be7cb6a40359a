// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a datagram of our image streams. Aborts when what parses does not come back the same,
 * to the bit, from the writer, or lies outside of its frame. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "frames/fragment.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void require(bool held) {
    if (!held)
        abort();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct rm_image_datagram datagram;
    enum rm_image_fault const fault = rm_image_parse(data, (uint32_t)size, &datagram);
    require(fault <= RM_IMAGE_BAD_LENGTH);
    if (fault != RM_IMAGE_GOOD)
        return 0;
    struct rm_image_fragment const *const fragment = &datagram.fragment;
    uint8_t written[RM_IMAGE_CONFIGURATION_BYTES];
    uint32_t const header = rm_image_write(written, &datagram);
    require(header + fragment->length == size && memcmp(written, data, header) == 0);
    require(fragment->offset + fragment->length <= fragment->total_bytes);
    require(fragment->length == 0 || fragment->bytes + fragment->length == data + size);
    return 0;
}
