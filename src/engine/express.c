// SPDX-License-Identifier: Apache-2.0
#include "engine/express.h"

#include <string.h>

#include "wire/frame.h"
#include "wire/native.h"

void rm_express_open(struct rm_express *express, struct rm_express_sender const *sender) {
    struct rm_flow const flow = {.source_ipv4 = sender->source_ipv4, .destination_port = sender->udp_port};
    union rm_lane const lanes[RM_LANES] = {{0}};
    uint8_t frame[RM_FRAME_HEADER_BYTES + RM_NATIVE_LONGEST];
    uint32_t const payload = RM_NATIVE_HEADER_BYTES + 4u * sender->lane_count;
    rm_frame_write_header(frame, &flow, payload);
    rm_native_write(frame + RM_FRAME_HEADER_BYTES, sender->kind, sender->id, 0, 0, lanes, sender->lane_count);
    memcpy(express->expected, frame + RM_EXPRESS_AT, RM_EXPRESS_BYTES);
    express->frame_bytes = express->open_bytes = RM_FRAME_HEADER_BYTES + payload;
    express->lane_count = sender->lane_count;
    express->turn_offset = (uint64_t)sender->turn_offset;
}

void rm_express_shut(struct rm_express *express) { express->frame_bytes = express->open_bytes = UINT32_MAX; }

void rm_express_pause(struct rm_express *express, bool paused) {
    express->frame_bytes = paused ? UINT32_MAX : express->open_bytes;
}

rm_express_burst *rm_express_burst_for(enum rm_simd simd) {
    switch (simd) {
    case RM_SIMD_AVX512:
        return rm_express_burst_avx512;
    case RM_SIMD_AVX2:
        return rm_express_burst_avx2;
    case RM_SIMD_SCALAR:
        break;
    }
    return rm_express_burst_scalar;
}
