// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a packet of a GigE Vision stream, and as a block with chunks. Aborts when what parses
 * does not come back the same from the writer, when its bytes are not those at its end, or when chunks overlap. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "frames/gvsp.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void require(bool held) {
    if (!held)
        abort();
}

static void check_chunks(uint8_t const *data, uint64_t length) {
    struct rm_gvsp_chunk chunk;
    while (rm_gvsp_last_chunk(data, length, &chunk)) {
        require(chunk.bytes >= data && (uint64_t)(chunk.bytes - data) + chunk.length + 8 == length);
        length = (uint64_t)(chunk.bytes - data);
    }
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    check_chunks(data, size);
    struct rm_gvsp_packet packet, again;
    uint32_t const length = (uint32_t)size;
    enum rm_gvsp_fault const fault = rm_gvsp_parse(data, length, &packet);
    require(fault <= RM_GVSP_BAD_PACKET_ID);
    if (fault != RM_GVSP_GOOD)
        return 0;
    require(packet.length <= length && (packet.length == 0 || packet.bytes + packet.length == data + size));
    uint8_t *const written = malloc(RM_GVSP_LONGEST + size);
    require(written != NULL);
    uint32_t const header = rm_gvsp_write(written, &packet);
    require(header <= RM_GVSP_LONGEST);
    if (packet.length != 0)
        memcpy(written + header, packet.bytes, packet.length);
    require(rm_gvsp_parse(written, header + packet.length, &again) == RM_GVSP_GOOD);
    require(packet.length == again.length && packet.block == again.block && packet.packet == again.packet);
    require(packet.block_bytes == again.block_bytes && packet.height == again.height && packet.time == again.time);
    require(memcmp(&packet.geometry, &again.geometry, sizeof packet.geometry) == 0);
    free(written);
    struct rm_image_fragment fragment;
    if (rm_gvsp_fragment(&packet, 1 + length % 9000, &fragment))
        require(fragment.frame == packet.block && fragment.length == packet.length);
    return 0;
}
