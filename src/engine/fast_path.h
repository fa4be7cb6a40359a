// SPDX-License-Identifier: Apache-2.0
/** The fast path of the receive role: datagrams of one record that bring just the turn that is due.
 *
 * Of a hundred million datagrams a second nearly all are alike: an untagged frame without IPv4 options, from a known
 * instrument, in the one length that it always has, with the turn after the last one. Its first bytes are known
 * beforehand: they are those of the sender's last frame, whose header checksum was right, or differ from them only
 * where they may (fast_path_header.c). So they are compared all at once; and a turn that is just the next needs none of
 * the questions that rm_stream_writer_put asks. Of a described datagram the headers are compared so, and the constants
 * of its layout after them. Its counter must mean the next turn in the lap of the last ones, so a short counter that
 * begins again takes the general path. So does every frame that differs in anything (receive.c): the general path
 * decides and counts. The fast path refuses nothing, and accepts nothing that the general path would not have accepted
 * as RM_PUT_NEW.
 *
 * It takes instruments on DPDK ports without a VLAN of their own, with one network, whose calibration is not in the
 * stream, whose filters of its own records all decimate alike, and whose layout, if it has one, always holds one
 * record.
 *
 * While an instrument's datagrams come by the fast path, the fast path alone knows how far its stream is: nothing else
 * of the instrument is touched but the slot, the filters' input, and the stream's published head. That state is two
 * cache lines, side by side. All other code has the fast path flushed first (rm_instrument_flush), which updates
 * writer, filters, counters and vote. Code that stored a record by the general path starts the fast path again from
 * there.
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
    /** Offset in a frame of the first byte compared: the ethertype. */
    RM_FAST_PATH_AT = 12,
    /** Bytes compared, up to the native instrument id. For a described datagram it is less: up to the payload. */
    RM_FAST_PATH_BYTES = 36,
};

/** What the frames of one instrument are like, and where the next record goes. The first cache line is what a frame is
 * compared with, the second where it is put. */
struct rm_fast_path {
    /** The bytes of the last frame that was verified. */
    _Alignas(RM_CACHE_LINE) uint8_t expected[RM_FAST_PATH_BYTES];
    /** Least bytes of a frame; UINT32_MAX: the instrument takes the general path. */
    uint32_t frame_bytes;
    /** For native datagrams: added to the turn in the datagram, with wrapping. */
    uint64_t turn_offset;
    /** The turn that the fast path takes; RM_TURN_NONE: the next datagram takes the general path. */
    rm_turn next;
    /** frame_bytes while the fast path is not paused. */
    uint32_t open_bytes;
    /** Lanes of a native datagram. */
    uint32_t lane_count;

    /** Slots of the stream … */
    _Alignas(RM_CACHE_LINE) struct rm_slot *slot;
    /** … and the mask of its writer. */
    uint64_t mask;

    uint64_t period;
    /** Number of the record of `next`. */
    uint64_t number;
    /** [phase] inputs of the filters. */
    struct rm_record *record;

    struct rm_stream *stream;
    /** Records taken that writer, filters, counters and vote do not know yet: rm_instrument_flush. */
    uint32_t run;
    /** Phase of the next input, below … */
    uint8_t phase;
    /** … this one, at which the group is complete. */
    uint8_t decimation;
    /** `streaming` of the stream's writer. */
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

/** Opens the fast path for this sender: all its frames take it, once it knows where they go
 * (rm_instrument_open_fast_path). `layout` has one record (rm_layout_single_bytes), or is NULL: native. */
void rm_fast_path_open(struct rm_fast_path *fast_path, struct rm_fast_path_sender const *sender,
                       struct rm_layout const *layout);

/** True when a frame that does not begin like the last one is this sender's, and good. The next frame is then expected
 * to be like this one. `frame` has fast_path->frame_bytes, of which `bytes` are known. */
bool rm_fast_path_header_is_good(struct rm_fast_path *fast_path, uint8_t const *frame, uint32_t bytes,
                                 bool checksum_good);

/** Shuts the fast path: no frame takes it. */
void rm_fast_path_shut(struct rm_fast_path *fast_path);

/** Pauses the fast path, or goes on: while paused, no frame takes it, because the turns are not for the clock. A fast
 * path that is shut stays so. */
void rm_fast_path_pause(struct rm_fast_path *fast_path, bool paused);

/** Takes every packet of receive->burst, by the fast path or by rm_receive_one. */
typedef void rm_fast_path_burst(struct rm_receive *receive, struct rm_receive_queue *queue, uint64_t tsc,
                                struct rm_burst_sum *sum);

rm_fast_path_burst rm_fast_path_burst_scalar, rm_fast_path_burst_avx2, rm_fast_path_burst_avx512;

/** The version for an instruction set that this CPU has. */
rm_fast_path_burst *rm_fast_path_burst_for(enum rm_simd simd);

#endif
