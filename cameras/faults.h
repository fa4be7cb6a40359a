// SPDX-License-Identifier: Apache-2.0
/** What goes wrong with a camera's packets, on request. A frame is planned before it is sent: faults change the frame, and
 * then the list of its packets. So a fault depends on seed, frame and packet, and not on when the frame is sent.
 *
 *     of each packet
 *     lose        it is not sent
 *     duplicate   it is sent twice, one right behind the other
 *     reorder     it is sent behind the packet that follows it
 *     delay       it is sent at the end of its frame
 *     corrupt     one bit of its bytes behind the headers is another one
 *     of each frame
 *     no_leader   its leader is not sent; of our format, its configuration
 *     no_trailer  its trailer is not sent; of our format, its last fragment
 *     false_size  its leader says that it has twice as many lines; of our format, all say twice as many bytes
 *     beyond      one packet more, with a place beyond its end, behind the first packet
 *     geometry    it and the frames behind it have half as many lines, until the next such fault
 *     restart     its number is that of the first frame
 *     jumbo       its packets have RM_JUMBO_BYTES, whatever the link takes
 */
#ifndef RM_CAMERAS_FAULTS_H
#define RM_CAMERAS_FAULTS_H

#include "packets.h"

enum { RM_JUMBO_BYTES = 8896 };

/** A packet as it is to be sent. */
struct rm_planned_packet {
    uint32_t index;
    bool corrupt;
};

struct rm_packet_plan {
    uint32_t count, capacity;
    struct rm_planned_packet *packet;
};

/** Of one camera. */
struct rm_camera_faults {
    struct rm_virtual_camera const *camera;
    /** [fault] packets or frames that it could have happened to. */
    uint64_t seen[RM_VIRTUAL_FAULTS_MAX];
    /** How often each kind happened. */
    uint64_t happened[RM_CAMERA_FAULT_KINDS];
    bool half_height;
};

/** "lose", "no_leader" … */
char const *rm_camera_fault_name(enum rm_camera_fault_kind kind);

/** Changes frame `index` of the run, from 0 on. */
void rm_camera_faults_frame(struct rm_camera_faults *faults, uint64_t index, struct rm_camera_frame *frame);

/** Lists its packets. False: there is no memory. */
bool rm_camera_faults_plan(struct rm_camera_faults *faults, uint64_t index, struct rm_camera_frame const *frame,
                           struct rm_packet_plan *plan);

/** Turns one bit of the last byte of a packet. */
void rm_camera_faults_corrupt(uint8_t *payload, uint32_t length);

void rm_packet_plan_free(struct rm_packet_plan *plan);

#endif
