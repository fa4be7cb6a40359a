// SPDX-License-Identifier: Apache-2.0
/** For tests: whole frames, cut into fragments and put together again. What fails here fails the test. */
#ifndef RM_WIRE_TEST_FRAGMENTS_H
#define RM_WIRE_TEST_FRAGMENTS_H

#include "wire/fragment.h"
#include "wire/ipv4.h"
#include "wire/reassembly.h"

enum {
    SLOTS = 4,
    TIMEOUT = 1000,
    LONGEST = 9216 + RM_UDP_BYTES,
    MTU = 1500,
    WHOLE_MOST = RM_FRAME_HEADER_BYTES + RM_VLAN_BYTES + 65507,
    FRAGMENT_MOST = 18 + MTU,
};

/** A frame with its payload and checksum. */
struct whole_frame {
    uint32_t length, header, payload_length;
    uint8_t frame[WHOLE_MOST];
};

/** Makes a frame with that payload length, and repeatable random bytes in it; freed by free(). */
struct whole_frame *whole_make_of(struct rm_flow const *flow, uint32_t payload_length, unsigned seed);
struct whole_frame *whole_make(uint32_t payload_length, unsigned seed);

/** Makes a reassembly of SLOTS, LONGEST and TIMEOUT. */
struct rm_reassembly *reassembly_make(void);

/** Puts a copy that is freed afterwards: nothing may point into it. */
enum rm_port_counter put_frame(struct rm_reassembly *reassembly, uint8_t const *frame, uint32_t length, uint64_t tsc,
                               struct rm_datagram *datagram);

/** Puts fragment `index` of `whole`, as an MTU of 1500 makes it, at time 0. */
enum rm_port_counter put_cut(struct rm_reassembly *reassembly, struct whole_frame const *whole, uint16_t id,
                             uint32_t index, struct rm_datagram *datagram);

/** Puts any bytes [first, first + length) of what IPv4 carries. */
enum rm_port_counter put_at(struct rm_reassembly *reassembly, struct whole_frame const *whole, uint32_t first,
                            uint32_t length, bool more, uint64_t tsc, struct rm_datagram *datagram);

void assert_is_whole(struct rm_datagram const *datagram, struct whole_frame const *whole);

#endif
