// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a packet of TECMP, and as one of MIPI CSI-2. Aborts when an entry lies outside of the
 * packet, when what is read does not come back the same from the writers, or when a line lies outside of its frame. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "frames/tecmp.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void require(bool held) {
    if (!held)
        abort();
}

static void check_csi2(uint8_t const *data, uint32_t length) {
    struct rm_csi2_packet packet;
    if (!rm_csi2_parse(data, length, &packet))
        return;
    uint8_t *const written = malloc(length);
    require(written != NULL && rm_csi2_write(written, &packet) == length && memcmp(written, data, length) == 0);
    free(written);
}

static void check_fragment(struct rm_tecmp_header const *header, struct rm_tecmp_entry const *entry,
                           struct rm_tecmp_stream *stream) {
    struct rm_tecmp_camera const camera = {
        .device = header->device,
        .interface = entry->interface,
        .channel = 1,
        .lines.geometry = {.pixel_format = 0x810C0100, .width = 8, .height = 4},
    };
    struct rm_image_fragment fragment;
    if (!rm_tecmp_fragment(&camera, stream, header, entry, &fragment))
        return;
    require(fragment.length == 12 && fragment.offset <= 36 && fragment.offset % 12 == 0);
    for (uint32_t i = 0; i < fragment.length; ++i)
        require(fragment.bytes[i] <= UINT8_MAX); /* the sanitizer looks */
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    uint32_t const length = (uint32_t)size;
    check_csi2(data, length);
    struct rm_tecmp_header header, again;
    if (rm_tecmp_parse(data, length, &header) != RM_TECMP_GOOD)
        return 0;
    uint8_t written[RM_TECMP_ENTRY_BYTES], memory[32];
    require(rm_tecmp_write(written, &header) == RM_TECMP_HEADER_BYTES);
    require(rm_tecmp_parse(written, RM_TECMP_HEADER_BYTES, &again) == RM_TECMP_GOOD);
    require(again.device == header.device && again.flags == header.flags && again.data_type == header.data_type);
    struct rm_tecmp_stream stream = {.join = {.bytes = memory, .capacity = sizeof memory}};
    uint32_t at = RM_TECMP_HEADER_BYTES, before = at;
    for (struct rm_tecmp_entry entry; rm_tecmp_next(data, length, &at, &entry); before = at) {
        require(at <= length && at > before && entry.bytes + entry.length == data + at);
        require(rm_tecmp_write_entry(written, &entry) == sizeof written);
        require(memcmp(written + 12, data + before + 12, 4) == 0 && memcmp(written, data + before, 4) == 0);
        header.data_type = RM_TECMP_CSI2_V;
        rm_tecmp_follow(&stream, &header);
        check_fragment(&header, &entry, &stream);
        ++header.counter;
        header.flags = entry.flags;
    }
    return 0;
}
