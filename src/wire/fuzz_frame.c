// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a frame and as a bare payload. Aborts when a verdict is none of the room's own, when
 * a view leaves the input, when a VLAN tag makes a difference, or when an accepted datagram does not come back the same
 * from the writers. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "wire/frame.h"
#include "wire/native.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void require(bool held) {
    if (!held)
        abort();
}

static void check_native(uint8_t const *payload, uint32_t length) {
    struct rm_native native;
    enum rm_port_counter const verdict = rm_native_parse(payload, length, &native);
    if (verdict != RM_PORT_DECODED) {
        require(verdict >= RM_PORT_TOO_SHORT && verdict <= RM_PORT_UNKNOWN_KIND);
        return;
    }
    require(native.lanes == payload + RM_NATIVE_HEADER_BYTES);
    require(native.lane_count >= 1 && native.lane_count <= RM_LANES);

    struct rm_record record;
    rm_native_record(&native, native.turn, native.status, &record);
    uint8_t again[RM_NATIVE_LONGEST];
    uint32_t const written = rm_native_write(again, native.kind, native.instrument, native.status, record.turn,
                                             record.lane, native.lane_count);
    require(written == length && memcmp(again, payload, length) == 0);
}

static bool same(struct rm_datagram const *a, struct rm_datagram const *b) {
    return a->length == b->length && a->source_ipv4 == b->source_ipv4 && a->destination_ipv4 == b->destination_ipv4 &&
           a->source_port == b->source_port && a->destination_port == b->destination_port && a->vlan == b->vlan &&
           memcmp(a->payload, b->payload, a->length) == 0;
}

static bool starts_with_tag(uint8_t const *frame) {
    return (frame[12] == 0x81 && frame[13] == 0x00) || (frame[12] == 0x88 && frame[13] == 0xA8);
}

/** Frames with two tags are gone through step by step, with one or none known by wide comparisons: with `tag_bytes` of
 * tags in it, 4 or 8, a frame must get the same verdict as without. */
static void check_tagged(uint8_t const *frame, uint32_t length, bool checksum_good, enum rm_port_counter verdict,
                         struct rm_datagram const *datagram, uint32_t tag_bytes) {
    static uint8_t const tags[2 * RM_VLAN_BYTES] = {0x88, 0xA8, 0x00, 0x07, 0x81, 0x00, 0x60, 0x64};
    if (length < RM_ETHERNET_BYTES || starts_with_tag(frame))
        return;
    uint8_t *const longer = malloc(length + tag_bytes);
    require(longer != NULL);
    memcpy(longer, frame, 12);
    memcpy(longer + 12, tags + sizeof tags - tag_bytes, tag_bytes);
    memcpy(longer + 12 + tag_bytes, frame + 12, length - 12);
    struct rm_datagram found;
    require(rm_frame_parse(longer, length + tag_bytes, checksum_good, &found) == verdict);
    if (verdict == RM_PORT_DECODED) {
        require(found.vlan == 100 && datagram->vlan == RM_VLAN_NONE);
        found.vlan = RM_VLAN_NONE;
        require(same(datagram, &found));
    }
    free(longer);
}

/** Our own frame around the same payload says the same, with a checksum and without. */
static void check_written_back(struct rm_datagram const *datagram) {
    struct rm_flow const flow = {
        .source_ipv4 = datagram->source_ipv4,
        .destination_ipv4 = datagram->destination_ipv4,
        .source_port = datagram->source_port,
        .destination_port = datagram->destination_port,
        .vlan = datagram->vlan == RM_VLAN_NONE ? 0 : datagram->vlan,
    };
    bool const tagged = flow.vlan != 0;
    uint32_t const header = RM_FRAME_HEADER_BYTES + (tagged ? RM_VLAN_BYTES : 0);
    uint32_t const length = header + datagram->length;
    uint8_t *const frame = malloc(length);
    require(frame != NULL);
    require(rm_frame_write_header(frame, &flow, datagram->length) == header);
    memcpy(frame + header, datagram->payload, datagram->length);
    struct rm_datagram again;
    struct rm_datagram said = *datagram;
    said.vlan = tagged ? flow.vlan : RM_VLAN_NONE;
    require(rm_frame_parse(frame, length, false, &again) == RM_PORT_DECODED && same(&said, &again));
    rm_frame_write_udp_checksum(frame, datagram->length);
    require(rm_frame_parse(frame, length, false, &again) == RM_PORT_DECODED && same(&said, &again));
    free(frame);
}

static enum rm_port_counter check_frame(uint8_t const *frame, uint32_t length, bool checksum_good) {
    struct rm_datagram datagram;
    enum rm_port_counter const verdict = rm_frame_parse(frame, length, checksum_good, &datagram);
    for (uint32_t tags = 1; tags <= 2; ++tags)
        check_tagged(frame, length, checksum_good, verdict, &datagram, tags * RM_VLAN_BYTES);
    if (verdict == RM_PORT_DECODED) {
        require(datagram.payload >= frame + RM_FRAME_HEADER_BYTES);
        require(datagram.length <= length && datagram.payload + datagram.length <= frame + length);
        check_written_back(&datagram);
        check_native(datagram.payload, datagram.length);
    } else {
        require(verdict == RM_PORT_NOT_IPV4 || verdict == RM_PORT_NOT_UDP || verdict == RM_PORT_UNFINISHED_CHECKSUM ||
                (verdict >= RM_PORT_FRAGMENT && verdict <= RM_PORT_BAD_UDP_CHECKSUM));
        require(!checksum_good || (verdict != RM_PORT_BAD_UDP_CHECKSUM && verdict != RM_PORT_UNFINISHED_CHECKSUM));
    }
    return verdict;
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    uint32_t const length = (uint32_t)size;
    enum rm_port_counter const strict = check_frame(data, length, false);
    enum rm_port_counter const believing = check_frame(data, length, true);
    bool const checksum_was_wrong =
        strict == RM_PORT_BAD_IP_HEADER || strict == RM_PORT_BAD_UDP_CHECKSUM || strict == RM_PORT_UNFINISHED_CHECKSUM;
    require(strict == believing || checksum_was_wrong);
    check_native(data, length);
    return 0;
}
