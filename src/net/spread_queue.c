// SPDX-License-Identifier: Apache-2.0
#include "net/spread.h"

enum {
    ETHERTYPE_AT = 12,
    VLAN_TAG_BYTES = 4,
    VLAN_TAGS_MOST = 2,
    SOURCE_AT = 2 + 12, /**< behind the ethertype's first byte */
    IPV4 = 0x0800,
    VLAN = 0x8100,
    SERVICE_VLAN = 0x88A8,
};

static uint32_t big_endian_16(uint8_t const *bytes) { return (uint32_t)bytes[0] << 8 | bytes[1]; }

uint16_t rm_spread_queue_of_frame(uint8_t const *frame, uint32_t length, uint16_t queues) {
    uint32_t at = ETHERTYPE_AT;
    for (int tags = 0; tags <= VLAN_TAGS_MOST && at + SOURCE_AT + 4 <= length; ++tags, at += VLAN_TAG_BYTES) {
        uint32_t const type = big_endian_16(frame + at);
        if (type == IPV4)
            return rm_spread_queue_of(
                big_endian_16(frame + at + SOURCE_AT) << 16 | big_endian_16(frame + at + SOURCE_AT + 2), queues);
        if (type != VLAN && type != SERVICE_VLAN)
            break;
    }
    return 0;
}
