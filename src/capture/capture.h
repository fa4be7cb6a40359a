// SPDX-License-Identifier: Apache-2.0
/** What ports receive or send, written to a capture file: pcap with nanosecond stamps in UTC, read by tshark, Wireshark
 * and rm_pcap_frames_load.
 *
 * Each polling core copies frames into a ring of its own (capture_ring.h), with the TSC of their burst. A thread, nicer
 * than the others, writes them, the earliest that is there first. Rings and file are bounded; what did not fit is
 * counted, and the file ends with a whole frame. */
#ifndef RM_CAPTURE_CAPTURE_H
#define RM_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "capture/capture_ring.h"

/** Bytes of a file, and of a ring, where nothing else is asked for. */
#define RM_CAPTURE_FILE_BYTES (1ull << 30)
#define RM_CAPTURE_RING_BYTES (16ull << 20)

struct rm_capture_plan {
    /** A file of this name is replaced. */
    char const *path;
    /** The file does not grow beyond that; 0: RM_CAPTURE_FILE_BYTES. */
    uint64_t file_bytes;
    /** One for each core that puts frames, 1 or more. */
    uint32_t ring_count;
    /** Of each: a power of two; 0: RM_CAPTURE_RING_BYTES. */
    uint64_t ring_bytes;
    /** Of the port, without FCS. */
    uint32_t longest_frame;
    double tsc_hz;
};

struct rm_capture_counts {
    /** Frames in the file, and its bytes. */
    uint64_t written;
    uint64_t bytes;
    /** Frames left out: a ring was full. */
    uint64_t ring_full;
    /** Frames left out: the file has its size, or could not be written. */
    uint64_t file_full;
};

struct rm_capture;

/** Makes the file and starts the thread. RM_E_SYSTEM names the file and why it cannot be written. */
enum rm_code rm_capture_start(struct rm_capture_plan const *plan, struct rm_capture **capture, struct rm_error *error);

/** For the polling core that has the number `core` here: where its frames go, by rm_capture_ring_put. */
struct rm_capture_ring *rm_capture_ring_of(struct rm_capture *capture, uint32_t core);

/** At any time, by any thread. */
void rm_capture_count(struct rm_capture const *capture, struct rm_capture_counts *counts);

/** When no core puts frames any more: writes what is in the ring, closes the file, frees all. `counts` are the last.
 * RM_E_SYSTEM: the disk has refused a part; the text says so. */
enum rm_code rm_capture_stop(struct rm_capture *capture, struct rm_capture_counts *counts, struct rm_error *error);

#endif
