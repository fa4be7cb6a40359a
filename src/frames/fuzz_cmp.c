// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a packet of ASAM CMP, and as a payload of MIPI CSI-2. Aborts when a message lies
 * outside of the packet, when what is read does not come back the same from the writers, or when a line lies outside of
 * its frame. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "frames/cmp.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void require(bool held) {
    if (!held)
        abort();
}

static void check_csi2(uint8_t const *data, uint32_t length) {
    struct rm_cmp_csi2 csi2, again;
    if (!rm_cmp_csi2_parse(data, length, &csi2))
        return;
    struct rm_csi2_packet const *const packet = &csi2.packet;
    require(packet->length + RM_CMP_CSI2_BYTES == length);
    uint8_t *const written = calloc(1, length);
    require(written != NULL && rm_cmp_write_csi2(written, &csi2) == RM_CMP_CSI2_BYTES);
    require(rm_cmp_csi2_parse(written, length, &again) && again.frame == csi2.frame && again.line == csi2.line);
    require(again.packet.length == packet->length && again.packet.number == packet->number);
    free(written);
}

static void check_fragment(struct rm_cmp_header const *header, struct rm_cmp_message const *message,
                           struct rm_message_join *join) {
    struct rm_cmp_camera const camera = {
        .device = header->device,
        .interface = message->interface,
        .channel = 0x0D,
        .lines.geometry = {.pixel_format = 0x810C0100, .width = 8, .height = 1000},
    };
    struct rm_image_fragment fragment;
    if (!rm_cmp_fragment(&camera, join, header, message, &fragment))
        return;
    require(fragment.length == 12 && fragment.offset <= 12 * 999 && fragment.offset % 12 == 0);
    for (uint32_t i = 0; i < fragment.length; ++i)
        require(fragment.bytes[i] <= UINT8_MAX); /* the sanitizer looks */
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    uint32_t const length = (uint32_t)size;
    check_csi2(data, length);
    struct rm_cmp_header header, again;
    if (rm_cmp_parse(data, length, &header) != RM_CMP_GOOD)
        return 0;
    uint8_t written[RM_CMP_MESSAGE_BYTES], memory[64];
    require(rm_cmp_write(written, &header) == RM_CMP_HEADER_BYTES);
    require(rm_cmp_parse(written, RM_CMP_HEADER_BYTES, &again) == RM_CMP_GOOD);
    require(again.device == header.device && again.stream == header.stream && again.counter == header.counter);
    struct rm_message_join join = {.bytes = memory, .capacity = sizeof memory};
    uint32_t at = RM_CMP_HEADER_BYTES, before = at;
    for (struct rm_cmp_message message; rm_cmp_next(data, length, &at, &message); before = at) {
        require(at <= length && at > before && message.bytes + message.length == data + at);
        require(rm_cmp_write_message(written, &message) == sizeof written);
        require(memcmp(written, data + before, sizeof written) == 0);
        check_fragment(&header, &message, &join);
        ++header.counter;
    }
    return 0;
}
