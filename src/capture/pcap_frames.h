// SPDX-License-Identifier: Apache-2.0
/** The frames of a capture file, read into memory before anything is sent: pcap with µs or ns stamps in either byte
 * order, and pcapng, as libpcap reads them. All frames must be Ethernet. */
#ifndef RM_CAPTURE_PCAP_FRAMES_H
#define RM_CAPTURE_PCAP_FRAMES_H

#include <stdint.h>
#include <stdio.h>

#include <ringmaster/error.h>

/** Most memory that the frames of a capture may take. */
#define RM_PCAP_MEMORY_MAX (256ull << 20)
/** Longest time from the first frame to the last: 11 days. Later ones follow at once. */
#define RM_PCAP_SPAN_MAX_NS 1000000000000000ull

/** One frame, without FCS. */
struct rm_pcap_frame {
    /** Since the first frame that is kept, up to RM_PCAP_SPAN_MAX_NS. It never falls. */
    uint64_t at_ns;
    /** Offset of its first byte among the bytes of all: a multiple of RM_PCAP_ALIGNMENT. */
    uint32_t offset;

    uint32_t length;
};

/** A cache line: a port that copies what it sends reads whole ones (rm_port_copies). */
enum { RM_PCAP_ALIGNMENT = 64 };

struct rm_pcap_frames {
    /** At least 1. */
    uint32_t count;
    struct rm_pcap_frame *frame;
    /** Of all frames, on a cache line. */
    uint8_t *bytes;
    /** Not kept: longer than the port's longest frame. */
    uint64_t too_long;
    /** Not kept: shorter than an Ethernet header. */
    uint64_t too_short;
    /** Not kept: the capture has only a part of them. */
    uint64_t cut;
    /** Kept, with a stamp before that of the frame before: they follow it at once. */
    uint64_t backwards;
};

/** Reads a file. `longest_frame` is the port's, without FCS. RM_E_SYSTEM: it cannot be read. RM_E_CONFIG: it is no
 * capture of Ethernet, is broken, or has no frame that the port can send. RM_E_NO_SPACE: its frames take more than
 * `memory_max`; the text says how many would fit. */
enum rm_code rm_pcap_frames_load(char const *path, uint32_t longest_frame, uint64_t memory_max,
                                 struct rm_pcap_frames *frames, struct rm_error *error);

/** The same of an open file, called `name` in errors; closes it. */
enum rm_code rm_pcap_frames_read(FILE *file, char const *name, uint32_t longest_frame, uint64_t memory_max,
                                 struct rm_pcap_frames *frames, struct rm_error *error);

void rm_pcap_frames_free(struct rm_pcap_frames *frames);

#endif
