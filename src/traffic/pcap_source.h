// SPDX-License-Identifier: Apache-2.0
/** A capture file as a source of frames: over and over, with its own gaps, with gaps in another scale, or at the pace
 * of the port's description. */
#ifndef RM_TRAFFIC_PCAP_SOURCE_H
#define RM_TRAFFIC_PCAP_SOURCE_H

#include <stdint.h>

#include <ringmaster/error.h>

#include "capture/pcap_frames.h"
#include "traffic/source.h"

struct rm_pcap_plan {
    char const *path;
    /** 1: the gaps of the capture; 2: half of them, twice as fast; 0.001 … 1e6. 0: the gaps do not count, and the pace
     * of the description says when frames are due. */
    double speed;
    /** How often; 0: without end. From the last frame to the first of the next time is the mean gap, at least 1 µs. */
    uint64_t laps;
    /** Of the port, without FCS. */
    uint32_t longest_frame;
    double tsc_hz;
};

/** Reads the file and makes the source. Errors as those of rm_pcap_frames_load; RM_E_ARGUMENT for another
 * speed. */
enum rm_code rm_pcap_source_make(struct rm_pcap_plan const *plan, struct rm_source **source, struct rm_error *error);

/** The frames, for what is told of a file: how many, and how many were refused. */
struct rm_pcap_frames const *rm_pcap_source_frames(struct rm_source const *source);

#endif
