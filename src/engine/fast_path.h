// SPDX-License-Identifier: Apache-2.0
/** The fast path of the receive role: datagrams of one record that bring just the turn that is due.
 *
 * Of a hundred million datagrams a second nearly all are alike: an untagged frame without IPv4 options, from a known
 * instrument, in the one length that it always has, with the turn after the last one. Whoever sent it, its first bytes
 * are known beforehand: they are those of its last frame, whose header summed up, or else differ from them only where
 * they may (fast_path_header.c). So they are compared all at once; and a turn that is just the next needs none of the
 * questions that rm_stream_writer_put asks. Of a described datagram the headers are compared so, and the constants of
 * its layout after them; its counter must mean the next turn in the lap that the last ones were in, so that a short
 * one that comes round takes the general path, as does whatever differs in anything
 * (receive.c), which decides and counts; the fast path refuses nothing, and accepts nothing that the general path would
 * not have accepted as RM_PUT_NEW.
 *
 * It takes instruments on DPDK ports without a VLAN of their own, with one network, whose calibration is not in the
 * stream, whose filters of its own records all decimate alike, and whose layout, if it has one, always holds one
 * record.
 *
 * While an instrument's datagrams come by the fast path, the fast path alone knows how far its stream is: nothing else
 * of the instrument is touched but the slot, the filters' input, and the stream's published head. That state is two
 * cache lines, side by side. Everybody else has the fast path settled first (rm_instrument_flush), which tells writer,
 * filters, counters and vote; and who stored something by the general path starts it again from there.
 *
 * One kernel (fast_path_kernel.h) for three instruction sets, each for queues of native datagrams, of one layout, and
 * of several formats; all give the same bits. AVX-512 means with VBMI, which permutes the bytes of a described
 * datagram.
 */
#ifndef RM_ENGINE_FAST_PATH_H
#define RM_ENGINE_FAST_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>

#include "filter/decimator.h"

struct rm_layout;
struct rm_slot;
struct rm_stream;
struct rm_receive;
struct rm_receive_queue;
struct rm_burst_sum;

enum {
    /** Of a frame, the first byte compared: the ethertype. */
    RM_FAST_PATH_AT = 12,
    /** Up to the native instrument id; of what is described, less: up to the payload. */
    RM_FAST_PATH_BYTES = 36,
};

/** What the frames of one instrument are like, and where the next record goes. The first cache line is what a frame is
 * compared with, the second where it is put. */
struct rm_fast_path {
    /** As it last came, and was verified. */
    _Alignas(RM_CACHE_LINE) uint8_t expected[RM_FAST_PATH_BYTES];
    /** A frame has at least so many; UINT32_MAX: the instrument takes the general path. */
    uint32_t frame_bytes;
    /** Of what is native: added to the turn in the datagram, wraps. */
    uint64_t turn_offset;
    /** That the fast path takes; RM_TURN_NONE: what comes next is for the general path to say. */
    rm_turn next;
    /** frame_bytes while the fast path is not paused. */
    uint32_t open_bytes;
    /** Of what is native. */
    uint32_t lane_count;

    /** Of the stream … */
    _Alignas(RM_CACHE_LINE) struct rm_slot *slot;
    /** … as its writer has it. */
    uint64_t mask;

    uint64_t period;
    /** Of the record of `next`. */
    uint64_t number;
    /** The filters' inputs, by phase. */
    struct rm_record *record;

    struct rm_stream *stream;
    /** Records taken that nobody else has been told of: rm_instrument_flush. */
    uint32_t run;
    /** Of the next input, below … */
    uint8_t phase;
    /** … where the group is complete. */
    uint8_t decimation;
    /** As the writer has it. */
    bool streaming;
    /** The instrument has something to publish in this burst … */
    bool touched;
    /** … and it is more than the head of its own stream. */
    bool whole;
};

_Static_assert(sizeof(struct rm_fast_path) == 2 * RM_CACHE_LINE, "what a datagram in its turn needs");
_Static_assert(RM_DECIMATION_MAX <= UINT8_MAX, "phases fit");

/** How an instrument's datagrams come. */
struct rm_fast_path_sender {
    uint32_t source_ipv4;
    uint16_t udp_port;
    uint16_t id;
    uint8_t kind;
    uint8_t lane_count;
    int64_t turn_offset;
};

/** All frames of this sender take the fast path, once it knows where they go (rm_instrument_open_fast_path). `layout`
 * has one record (rm_layout_single_bytes), or is NULL: native. */
void rm_fast_path_open(struct rm_fast_path *fast_path, struct rm_fast_path_sender const *sender,
                       struct rm_layout const *layout);

/** Whether a frame that does not begin as the last one did is this sender's, and good: then it is what the next is
 * expected to be like. `frame` has fast_path->frame_bytes, of which
 * `bytes` are known. */
bool rm_fast_path_header_is_good(struct rm_fast_path *fast_path, uint8_t const *frame, uint32_t bytes,
                                 bool checksum_good);

/** None does. */
void rm_fast_path_shut(struct rm_fast_path *fast_path);

/** None does for a while: its turns are not for the clock. A fast path that is shut stays so. */
void rm_fast_path_pause(struct rm_fast_path *fast_path, bool paused);

/** Takes every packet of receive->burst, by the fast path or by rm_receive_one. */
typedef void rm_fast_path_burst(struct rm_receive *receive, struct rm_receive_queue *queue, uint64_t tsc,
                                struct rm_burst_sum *sum);

rm_fast_path_burst rm_fast_path_burst_scalar, rm_fast_path_burst_avx2, rm_fast_path_burst_avx512;

/** The version for an instruction set that this CPU has. */
rm_fast_path_burst *rm_fast_path_burst_for(enum rm_simd simd);

#endif
