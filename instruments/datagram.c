// SPDX-License-Identifier: Apache-2.0
#include "datagram.h"

#include <string.h>

#include "wire/native.h"

enum { VERSION_OFFSET = 2 };

void rm_datagram_template_make(struct rm_datagram_template *template, struct rm_virtual_instrument const *instrument,
                               enum rm_framing framing, struct rm_flow const *flow, bool checksum) {
    *template = (struct rm_datagram_template){.instrument = *instrument};
    if (framing != RM_FRAMING_ETHERNET)
        return;
    template->header_bytes = RM_FRAME_HEADER_BYTES;
    template->checksum = checksum;
    rm_frame_write_header(template->header, flow, RM_NATIVE_HEADER_BYTES + 4 * instrument->lane_count);
}

uint32_t rm_datagram_write(struct rm_datagram_template const *template, uint8_t *data, rm_turn turn,
                           union rm_lane const *lanes) {
    struct rm_virtual_instrument const *instrument = &template->instrument;
    uint8_t *payload = data + template->header_bytes;
    uint32_t const payload_bytes =
        rm_native_write(payload, instrument->kind, instrument->id, 0, turn, lanes, instrument->lane_count);
    if (template->header_bytes != 0)
        memcpy(data, template->header, RM_FRAME_HEADER_BYTES);
    if (template->checksum)
        rm_frame_write_udp_checksum(data, payload_bytes);
    return template->header_bytes + payload_bytes;
}

static void flip_a_bit(uint8_t *payload, uint32_t payload_bytes, uint64_t random) {
    uint32_t const bit = (uint32_t)(random >> 32) % (8 * payload_bytes);
    payload[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

uint32_t rm_datagram_damage(struct rm_datagram_template const *template, uint8_t *data, uint32_t length,
                            unsigned damage, uint64_t random) {
    uint8_t *payload = data + template->header_bytes;
    uint32_t const payload_bytes = length - template->header_bytes;
    bool const framed = template->header_bytes != 0;
    if (damage & RM_DAMAGE_VERSION)
        payload[VERSION_OFFSET] = RM_NATIVE_VERSION + 1;
    if (damage & RM_DAMAGE_CORRUPT_UNSEEN)
        flip_a_bit(payload, payload_bytes, random);
    if (framed && (template->checksum || damage & RM_DAMAGE_CORRUPT))
        rm_frame_write_udp_checksum(data, payload_bytes);
    if (damage & RM_DAMAGE_CORRUPT)
        flip_a_bit(payload, payload_bytes, random);
    if (damage & RM_DAMAGE_TRUNCATED)
        return length - 1 - (uint32_t)random % (payload_bytes - 1);
    return length;
}
