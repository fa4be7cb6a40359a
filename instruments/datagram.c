// SPDX-License-Identifier: Apache-2.0
#include "datagram.h"

#include "wire/native.h"

enum { NATIVE_VERSION_AT = 2 };

uint32_t rm_datagram_version_at(struct rm_format const *format) {
    if (format->layout == NULL)
        return NATIVE_VERSION_AT;
    struct rm_layout_description const *described = rm_layout_described(format->layout);
    return described->constant_count == 0 ? RM_NO_VERSION : described->constant[0].at;
}

void rm_datagram_template_make(struct rm_datagram_template *template, struct rm_format const *format,
                               uint32_t payload_bytes, enum rm_framing framing, struct rm_flow const *flow,
                               bool checksum) {
    *template = (struct rm_datagram_template){
        .payload_bytes = payload_bytes,
        .version_at = rm_datagram_version_at(format),
    };
    if (framing != RM_FRAMING_ETHERNET)
        return;
    template->header_bytes = rm_frame_write_header(template->header, flow, payload_bytes);
    template->checksum = checksum;
}

static void flip_a_bit(uint8_t *payload, uint32_t payload_bytes, uint64_t random) {
    uint32_t const bit = (uint32_t)(random >> 32) % (8 * payload_bytes);
    payload[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

uint32_t rm_datagram_damage(struct rm_datagram_template const *template, uint8_t *data, unsigned damage,
                            uint64_t random) {
    uint8_t *payload = data + template->header_bytes;
    uint32_t const payload_bytes = template->payload_bytes;
    bool const framed = template->header_bytes != 0;
    if (damage & RM_DAMAGE_VERSION && template->version_at != RM_NO_VERSION)
        ++payload[template->version_at];
    if (damage & RM_DAMAGE_CORRUPT_UNSEEN)
        flip_a_bit(payload, payload_bytes, random);
    if (framed && (template->checksum || damage & RM_DAMAGE_CORRUPT))
        rm_frame_write_udp_checksum(data, payload_bytes);
    if (damage & RM_DAMAGE_CORRUPT)
        flip_a_bit(payload, payload_bytes, random);
    uint32_t const length = rm_datagram_bytes(template);
    return damage & RM_DAMAGE_TRUNCATED ? length - 1 - (uint32_t)random % (payload_bytes - 1) : length;
}
