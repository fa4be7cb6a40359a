// SPDX-License-Identifier: Apache-2.0
/** Offsets in a plain frame, and in a native datagram in it, in bytes from the frame's first. */
#ifndef RM_ENGINE_FAST_PATH_FRAME_H
#define RM_ENGINE_FAST_PATH_FRAME_H

#include "engine/fast_path.h"
#include "wire/frame.h"
#include "wire/native.h"
#include "wire/network_order.h"

enum {
    RM_FAST_PATH_IPV4 = RM_FAST_PATH_AT + 2,
    RM_FAST_PATH_SOURCE = 26,
    RM_FAST_PATH_UDP_PORT = 36,
    RM_FAST_PATH_UDP_CHECKSUM = 40,
    RM_FAST_PATH_PAYLOAD = RM_FRAME_HEADER_BYTES,
    /** Bytes compared of every frame. */
    RM_FAST_PATH_HEADER_BYTES = RM_FAST_PATH_PAYLOAD - RM_FAST_PATH_AT,

    RM_FAST_PATH_ID = RM_FAST_PATH_PAYLOAD + 4,
    RM_FAST_PATH_STATUS = RM_FAST_PATH_PAYLOAD + 6,
    RM_FAST_PATH_TURN = RM_FAST_PATH_PAYLOAD + 8,
    RM_FAST_PATH_LANES = RM_FAST_PATH_PAYLOAD + RM_NATIVE_HEADER_BYTES,
    RM_FAST_PATH_SHORTEST = RM_FAST_PATH_PAYLOAD + RM_NATIVE_SHORTEST,
};

_Static_assert(RM_FAST_PATH_AT + RM_FAST_PATH_BYTES == RM_FAST_PATH_STATUS, "compared up to the id");

/** Turn and tag of a record. */
struct record_head {
    rm_turn turn;
    uint64_t tag;
};

#endif
