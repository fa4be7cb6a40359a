// SPDX-License-Identifier: Apache-2.0
/** A frame of setpoints is composed. 64 chains of 1, 8, 10 or 40 supplies; each frame is made 20000 times a round, with
 * new values: from its template (setpoint_frame.h), and beside it from its parts (setpoint.h, frame.h). */
#include <stdio.h>

#include "cost.h"
#include "wire/setpoint_frame.h"

enum { CHAINS = 64, PASSES = 20000, COUNTS = 4, NAME_BYTES = 32 };

static struct rm_flow const flow = {
    .source_ipv4 = 0x0A1E0001, .destination_ipv4 = 0x0A1E0002, .destination_port = 4662};
static struct rm_setpoint_frame template[CHAINS];
static float values[CHAINS][RM_CHAIN_SUPPLIES_MAX];
static uint8_t buffer[CHAINS][256];

static uint32_t from_template(uint32_t chain, uint32_t count, uint64_t sequence) {
    (void)count;
    return rm_setpoint_frame_fill(&template[chain], buffer[chain], 0, 12 * sequence, 1, 1, sequence, values[chain]);
}

static uint32_t from_parts(uint32_t chain, uint32_t count, uint64_t sequence) {
    uint32_t const header = rm_frame_write_header(buffer[chain], &flow, RM_SETPOINT_HEADER_BYTES + 4 * count);
    uint32_t const length = rm_setpoint_write(buffer[chain] + header, 0, (uint16_t)chain, 12 * sequence, 1, 1, sequence,
                                              values[chain], count);
    rm_frame_write_udp_checksum(buffer[chain], length);
    return header + length;
}

/** One way to make them, of so many supplies each. */
struct subject {
    uint32_t (*make)(uint32_t chain, uint32_t count, uint64_t sequence);
    uint32_t count;
    char name[NAME_BYTES];
};

static uint64_t make_frames(void *argument) {
    struct subject const *const subject = argument;
    uint64_t bytes = 0;
    for (uint32_t chain = 0; chain < CHAINS; ++chain)
        if (!rm_setpoint_frame_prepare(&template[chain], &flow, (uint16_t)chain, subject -> count))
            bench_fail("no template can be made");
    for (uint64_t pass = 0; pass < PASSES; ++pass)
        for (uint32_t chain = 0; chain < CHAINS; ++chain)
            bytes += subject->make(chain, subject->count, pass);
    uint64_t const frames = (uint64_t)PASSES * CHAINS;
    if (bytes != frames * (RM_FRAME_HEADER_BYTES + RM_SETPOINT_HEADER_BYTES + 4 * subject->count))
        bench_fail("a frame has another length");
    return frames;
}

static size_t setpoint_frame_prepare(struct bench_case *cases) {
    static uint32_t const counts[COUNTS] = {1, 8, 10, RM_CHAIN_SUPPLIES_MAX};
    static struct subject subjects[2 * COUNTS];
    for (size_t i = 0; i < 2 * COUNTS; ++i) {
        subjects[i] = (struct subject){i % 2 == 0 ? from_template : from_parts, counts[i / 2], ""};
        snprintf(subjects[i].name, NAME_BYTES, "%s, %u supplies", i % 2 == 0 ? "from template" : "from its parts",
                 counts[i / 2]);
        cases[i] = (struct bench_case){subjects[i].name, make_frames, &subjects[i], NULL, NULL};
    }
    return 2 * COUNTS;
}

struct bench_cost const setpoint_frame_cost = {.name = "setpoint_frame",
                                               .about = "to compose a frame of setpoints",
                                               .rounds = 15,
                                               .unit = "ns",
                                               .unit_ns = 1,
                                               .prepare = setpoint_frame_prepare};
