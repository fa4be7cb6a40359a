// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a frame to be dealt out to software queues. Aborts when the queue is none of them, or
 * when one more VLAN tag leads a frame of IPv4 elsewhere. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "net/spread.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

enum { MAC_BYTES = 12, TAG_BYTES = 4, LONGEST = 9600 };

static void require(bool held) {
    if (!held)
        abort();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    if (size > LONGEST)
        return 0;
    for (uint16_t queues = 1; queues <= RM_SPREAD_QUEUES_MAX; ++queues)
        require(rm_spread_queue_of_frame(data, (uint32_t)size, queues) < queues);
    if (size < MAC_BYTES + 2 || data[MAC_BYTES] != 0x08 || data[MAC_BYTES + 1] != 0x00)
        return 0;
    uint8_t *const tagged = malloc(size + TAG_BYTES);
    memcpy(tagged, data, MAC_BYTES);
    memcpy(tagged + MAC_BYTES, (uint8_t[]){0x81, 0, 0, 7}, TAG_BYTES);
    memcpy(tagged + MAC_BYTES + TAG_BYTES, data + MAC_BYTES, size - MAC_BYTES);
    require(rm_spread_queue_of_frame(tagged, (uint32_t)size + TAG_BYTES, RM_SPREAD_QUEUES_MAX) ==
            rm_spread_queue_of_frame(data, (uint32_t)size, RM_SPREAD_QUEUES_MAX));
    free(tagged);
    return 0;
}
