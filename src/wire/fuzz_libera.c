// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a Libera Grouping datagram of either order. Aborts when a verdict is not what the
 * length says, or when an accepted datagram does not come back the same from the writer. */
#include <stdlib.h>
#include <string.h>

#include "wire/layout.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

enum { ENTRY_BYTES = 16, LONGEST = RM_LAYOUT_PAYLOAD_MAX / ENTRY_BYTES * ENTRY_BYTES };

static void require(bool held) {
    if (!held)
        abort();
}

static enum rm_port_counter expected_verdict(uint32_t length) {
    if (length < ENTRY_BYTES)
        return RM_PORT_TOO_SHORT;
    if (length > LONGEST)
        return RM_PORT_TOO_LONG;
    return length % ENTRY_BYTES == 0 ? RM_PORT_DECODED : RM_PORT_BAD_LENGTH;
}

static void check(char const *name, uint8_t const *payload, uint32_t length) {
    struct rm_layout *layout;
    uint32_t records = 0;
    require(rm_layout_compile(rm_layout_preset(name), &layout, NULL) == RM_OK);
    enum rm_port_counter const verdict = rm_layout_check(layout, payload, length, &records);
    require(verdict == expected_verdict(length));
    if (verdict == RM_PORT_DECODED) {
        require(records == length / ENTRY_BYTES && rm_layout_payload_bytes(layout, records) == length);
        uint8_t *const again = malloc(length);
        require(again != NULL);
        rm_layout_begin(layout, again, length);
        for (uint32_t i = 0; i < records; ++i) {
            struct rm_sample sample;
            struct rm_record record;
            rm_layout_read(layout, payload, i, &sample, &record);
            require(sample.id == (sample.status >> 2 & 255u) && record.lane[3].i == 0);
            rm_layout_write(layout, again, i, &sample, record.lane);
        }
        require(memcmp(again, payload, length) == 0);
        free(again);
    }
    rm_layout_free(layout);
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    check("libera_grouping", data, (uint32_t)size);
    check("libera_grouping_counter_first", data, (uint32_t)size);
    return 0;
}
