// SPDX-License-Identifier: Apache-2.0
/** Where a plain frame has what, in bytes from its first, and where a native datagram in it. */
#ifndef RM_ENGINE_EXPRESS_FRAME_H
#define RM_ENGINE_EXPRESS_FRAME_H

#include "engine/express.h"
#include "wire/frame.h"
#include "wire/native.h"
#include "wire/network_order.h"

enum {
    RM_EXPRESS_IPV4 = RM_EXPRESS_AT + 2,
    RM_EXPRESS_SOURCE = 26,
    RM_EXPRESS_UDP_PORT = 36,
    RM_EXPRESS_UDP_CHECKSUM = 40,
    RM_EXPRESS_PAYLOAD = RM_FRAME_HEADER_BYTES,
    /** Compared of every frame. */
    RM_EXPRESS_HEADER_BYTES = RM_EXPRESS_PAYLOAD - RM_EXPRESS_AT,

    RM_EXPRESS_ID = RM_EXPRESS_PAYLOAD + 4,
    RM_EXPRESS_STATUS = RM_EXPRESS_PAYLOAD + 6,
    RM_EXPRESS_TURN = RM_EXPRESS_PAYLOAD + 8,
    RM_EXPRESS_LANES = RM_EXPRESS_PAYLOAD + RM_NATIVE_HEADER_BYTES,
    RM_EXPRESS_SHORTEST = RM_EXPRESS_PAYLOAD + RM_NATIVE_SHORTEST,
};

_Static_assert(RM_EXPRESS_AT + RM_EXPRESS_BYTES == RM_EXPRESS_STATUS, "compared up to the id");

/** Turn and tag of a record. */
struct head {
    rm_turn turn;
    uint64_t tag;
};

#endif
