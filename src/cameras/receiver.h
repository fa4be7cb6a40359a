// SPDX-License-Identifier: Apache-2.0
/** The receiver of cameras: threads that poll the ports of a file, put fragments of frames to their places in shared
 * memory, ask for what is missing, and publish frames (ringmaster/images.h).
 *
 * It owns the segment `cameras` of the workspace. In it each camera has
 *
 *     images/CAM             its frames
 *     stream/CAM/frames      a record for each: what it is, on the axis of turns (filter "on-change"); empty
 *                            while no turn is known: neither do frames tell theirs, nor is there a server's turn clock,
 *                            which is looked for once a second
 *     stream/CAM/profile     centroid, size and tilt of the beam spot, where the file asks for it
 *     counters/camera/CAM    what became of fragments and frames
 *     counters/port/PORT     what became of every datagram
 *     cameras/tsc_hz         rate of the TSC, which frames are stamped with: there may be no server's clock
 *
 * A camera belongs to one port, and a port to one thread. */
#ifndef RM_CAMERAS_RECEIVER_H
#define RM_CAMERAS_RECEIVER_H

#include <ringmaster/error.h>

#include "config/config.h"

struct rm_camera_receiver;

/** Opens ports and segment, and begins to receive. `config` stays until the receiver is stopped. RM_E_BUSY: another
 * process receives for this workspace. */
enum rm_code rm_camera_receiver_start(struct rm_config const *config, struct rm_camera_receiver **receiver,
                                      struct rm_error *error);

/** Ends its threads, and closes all. NULL is allowed. */
void rm_camera_receiver_stop(struct rm_camera_receiver *receiver);

#endif
