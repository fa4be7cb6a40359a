// SPDX-License-Identifier: Apache-2.0
/** A spot that follows a stream of positions, as a virtual ring's BPM publishes them. While the stream is not there, the
 * spot is where it would be without. */
#ifndef RM_CAMERAS_FOLLOW_H
#define RM_CAMERAS_FOLLOW_H

#include <ringmaster/stream.h>
#include <ringmaster/workspace.h>

#include "virtual_camera.h"

struct rm_spot_follow {
    struct rm_camera_spot const *spot;
    /** "" where nothing is followed. */
    char workspace[64];
    struct rm_workspace *attached;
    struct rm_stream_view view;
    int lane_x, lane_y;
    /** Monotonic time of the next look for it. */
    uint64_t look_ns;
};

void rm_spot_follow_begin(struct rm_spot_follow *follow, struct rm_camera_spot const *spot, char const *workspace);
void rm_spot_follow_end(struct rm_spot_follow *follow);

/** Moves (x, y) by the newest position, and tells its turn. False: nothing is followed, or there is none now. */
bool rm_spot_follow_read(struct rm_spot_follow *follow, double *x, double *y, rm_turn *turn);

#endif
