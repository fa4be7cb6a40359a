// SPDX-License-Identifier: Apache-2.0
/** The express lane of the receive role: native datagrams that bring just the turn that is due.
 *
 * Of a hundred million datagrams a second nearly all are alike: an untagged frame without IPv4 options, from a known
 * instrument, in the one length that it always has, with the turn after the last one. Whoever sent it, its first bytes
 * are known beforehand: they are those of its last frame, whose header summed up, or else differ from them only where
 * they may (express_header.c). So they are compared all at once; and a turn that is just the next needs none of the
 * questions that rm_stream_writer_put asks. Whatever differs in anything takes the general way
 * (receive.c), which decides and counts; the lane refuses nothing, and accepts nothing that the general way would not
 * have accepted as RM_PUT_NEW.
 *
 * It takes instruments on DPDK ports without a VLAN of their own, with one network, whose calibration is not in the
 * stream, and whose filters of its own records all decimate alike.
 *
 * One kernel (express_lane.h) for three instruction sets; all give the same bits.
 */
#ifndef RM_ENGINE_EXPRESS_H
#define RM_ENGINE_EXPRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/abi.h>

#include "filter/decimator.h"

struct rm_receive;
struct rm_receive_queue;
struct rm_burst_sum;

enum {
    RM_EXPRESS_AT = 12,    /**< of a frame, the first byte compared: the ethertype */
    RM_EXPRESS_BYTES = 36, /**< up to the native instrument id */
};

/** What the frames of one instrument are like. One cache line. */
struct rm_express {
    _Alignas(RM_CACHE_LINE) uint8_t expected[RM_EXPRESS_BYTES]; /**< as it last came, and was verified */
    uint32_t frame_bytes; /**< a frame has at least so many; UINT32_MAX: the instrument takes the general way */
    uint32_t open_bytes;  /**< the same while the lane is not paused */
    uint32_t lane_count;
    uint64_t turn_offset; /**< added to the turn in the datagram, wraps */
};

/** How an instrument's datagrams come. */
struct rm_express_sender {
    uint32_t source_ipv4;
    uint16_t udp_port;
    uint16_t id;
    uint8_t kind;
    uint8_t lane_count;
    int64_t turn_offset;
};

/** All frames of this sender take the lane. */
void rm_express_open(struct rm_express *express, struct rm_express_sender const *sender);

/** Whether a frame that does not begin as the last one did is this sender's, and good: then it is what the next is
 * expected to be like. `frame` has express->frame_bytes. */
bool rm_express_header_is_good(struct rm_express *express, uint8_t const *frame, bool checksum_good);

/** None does. */
void rm_express_shut(struct rm_express *express);

/** None does for a while: its turns are not for the clock. A lane that is shut stays so. */
void rm_express_pause(struct rm_express *express, bool paused);

/** Takes every packet of receive->burst, by the lane or by rm_receive_one. */
typedef void rm_express_burst(struct rm_receive *receive, struct rm_receive_queue *queue, uint64_t tsc,
                              struct rm_burst_sum *sum);

rm_express_burst rm_express_burst_scalar, rm_express_burst_avx2, rm_express_burst_avx512;

/** The version for an instruction set that this CPU has. */
rm_express_burst *rm_express_burst_for(enum rm_simd simd);

#endif
