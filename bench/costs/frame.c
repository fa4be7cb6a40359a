// SPDX-License-Identifier: Apache-2.0
/** A frame is taken apart, and fragments put together. For each shape of frame 64 frames of native datagrams with 8
 * lanes lie in memory, and are gone through 20000 times a round. Then a Libera Grouping datagram of 168 BPMs, 2688 bytes,
 * in two fragments: parsed, put together, its checksum verified; and beside it the copy alone. */
#include <string.h>

#include "cost.h"
#include "wire/fragment.h"
#include "wire/frame.h"
#include "wire/reassembly.h"

enum { FRAMES = 64, FRAME_BYTES = 1536, PASSES = 20000, NATIVE_PAYLOAD = 48, GROUPING = 2688 };

/** Frames of one shape. */
struct frame_shape {
    uint16_t vlan;
    bool checksum;
    uint32_t length;
    uint8_t frame[FRAMES][FRAME_BYTES];
};

/** A datagram in two fragments. */
struct fragmented {
    struct rm_reassembly *reassembly;
    uint8_t fragment[2][FRAME_BYTES];
    uint32_t length[2];
};

static uint32_t write_bench_frame(uint8_t *frame, uint16_t vlan, bool checksum, uint32_t payload_length) {
    struct rm_flow const flow = {.source_ipv4 = 0x0A000001, .destination_ipv4 = 0x0A00FF01, .vlan = vlan};
    uint32_t const header = rm_frame_write_header(frame, &flow, payload_length);
    memset(frame + header, 0x5A, payload_length);
    if (checksum)
        rm_frame_write_udp_checksum(frame, payload_length);
    return header + payload_length;
}

static uint64_t parse_frames(void *argument) {
    struct frame_shape const *const shape = argument;
    uint64_t decoded = 0;
    for (int pass = 0; pass < PASSES; ++pass)
        for (int i = 0; i < FRAMES; ++i) {
            struct rm_datagram datagram;
            decoded += rm_frame_parse(shape->frame[i], shape->length, false, &datagram) == RM_PORT_DECODED;
        }
    if (decoded != (uint64_t)PASSES * FRAMES)
        bench_fail("a frame was refused");
    return decoded;
}

static uint64_t put_fragments_together(void *argument) {
    struct fragmented const *const parts = argument;
    uint64_t decoded = 0;
    for (uint32_t i = 0; i < 2 * PASSES; ++i) {
        uint8_t const *const fragment = parts->fragment[i % 2];
        uint32_t const length = parts->length[i % 2];
        struct rm_datagram datagram;
        if (rm_frame_parse(fragment, length, false, &datagram) == RM_PORT_FRAGMENT)
            decoded += rm_reassembly_put(parts->reassembly, fragment, length, 0, &datagram) == RM_PORT_DECODED;
    }
    if (decoded != PASSES)
        bench_fail("a datagram was not put together");
    return decoded;
}

/** What putting it together cannot do without: its bytes, copied. */
static uint64_t copy_bytes(void *argument) {
    static uint8_t to[4096];
    for (int pass = 0; pass < PASSES; ++pass) {
        memcpy(to, argument, RM_UDP_BYTES + GROUPING);
        __asm__ volatile("" ::: "memory");
    }
    return PASSES;
}

static size_t frame_prepare(struct bench_case *cases) {
    static struct frame_shape shapes[] = {
        {.vlan = 0, .checksum = false},
        {.vlan = 0, .checksum = true},
        {.vlan = 100, .checksum = false},
        {.vlan = 100, .checksum = true},
    };
    static struct fragmented parts;
    static uint8_t whole[4096];
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; ++s)
        for (int i = 0; i < FRAMES; ++i)
            shapes[s].length =
                write_bench_frame(shapes[s].frame[i], shapes[s].vlan, shapes[s].checksum, NATIVE_PAYLOAD);
    uint32_t const length = write_bench_frame(whole, 0, true, GROUPING);
    for (uint32_t i = 0; i < 2; ++i)
        parts.length[i] = rm_fragment_write(whole, length, 1500, 1, i, parts.fragment[i]);
    parts.reassembly = rm_reassembly_new(256, 9216, UINT64_MAX / 2);
    if (parts.reassembly == NULL)
        bench_fail("no memory");
    struct bench_case const made[] = {
        {"untagged, no UDP checksum", parse_frames, &shapes[0], NULL, NULL},
        {"untagged, UDP checksum", parse_frames, &shapes[1], NULL, NULL},
        {"VLAN tag, no UDP checksum", parse_frames, &shapes[2], NULL, NULL},
        {"VLAN tag, UDP checksum", parse_frames, &shapes[3], NULL, NULL},
        {"168 BPMs in two fragments", put_fragments_together, &parts, NULL, NULL},
        {"their bytes copied, and nothing else", copy_bytes, whole, NULL, NULL},
    };
    memcpy(cases, made, sizeof made);
    return sizeof made / sizeof *made;
}

struct bench_cost const frame_cost = {.name = "frame",
                                      .about = "to take a frame apart, and to put fragments together",
                                      .rounds = 15,
                                      .unit = "ns",
                                      .unit_ns = 1,
                                      .prepare = frame_prepare};
