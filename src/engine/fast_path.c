// SPDX-License-Identifier: Apache-2.0
#include "engine/fast_path.h"

#include <string.h>

#include "engine/fast_path_frame.h"
#include "wire/layout.h"

/** The native payload of this sender. Returns its length. */
static uint32_t write_native(uint8_t *payload, struct rm_fast_path_sender const *sender) {
    union rm_lane const lanes[RM_LANES] = {{0}};
    return rm_native_write(payload, sender->kind, sender->id, 0, 0, lanes, sender->lane_count);
}

void rm_fast_path_open(struct rm_fast_path *fast_path, struct rm_fast_path_sender const *sender,
                       struct rm_layout const *layout) {
    struct rm_flow const flow = {.source_ipv4 = sender->source_ipv4, .destination_port = sender->udp_port};
    uint8_t frame[RM_FRAME_HEADER_BYTES + RM_NATIVE_LONGEST];
    uint32_t const native = write_native(frame + RM_FRAME_HEADER_BYTES, sender);
    uint32_t const payload = layout != NULL ? rm_layout_single_bytes(layout) : native;
    rm_frame_write_header(frame, &flow, payload);
    *fast_path = (struct rm_fast_path){.frame_bytes = RM_FRAME_HEADER_BYTES + payload,
                                       .open_bytes = RM_FRAME_HEADER_BYTES + payload};
    memcpy(fast_path->expected, frame + RM_FAST_PATH_AT,
           layout != NULL ? RM_FAST_PATH_HEADER_BYTES : RM_FAST_PATH_BYTES);
    fast_path->next = RM_TURN_NONE;
    fast_path->lane_count = sender->lane_count;
    fast_path->turn_offset = (uint64_t)sender->turn_offset;
}

void rm_fast_path_shut(struct rm_fast_path *fast_path) { fast_path->frame_bytes = fast_path->open_bytes = UINT32_MAX; }

void rm_fast_path_pause(struct rm_fast_path *fast_path, bool paused) {
    fast_path->frame_bytes = paused ? UINT32_MAX : fast_path->open_bytes;
}

rm_fast_path_burst *rm_fast_path_burst_for(enum rm_simd simd) {
    switch (rm_simd_choose(simd)) {
    case RM_SIMD_AVX512:
        /* Permutes bytes, which the first CPUs with AVX-512 cannot. */
        if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi"))
            return rm_fast_path_burst_avx512;
        return rm_fast_path_burst_avx2;
    case RM_SIMD_AVX2:
        return rm_fast_path_burst_avx2;
    case RM_SIMD_BEST:
    case RM_SIMD_SCALAR:
        break;
    }
    return rm_fast_path_burst_scalar;
}
