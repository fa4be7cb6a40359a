// SPDX-License-Identifier: Apache-2.0
/** The turn clock of the workspace's server, where there is one; it may come, go and return. A thread of the receiver
 * looks at it ten times a second, and those that receive go on from what it saw. */
#ifndef RM_CAMERAS_CAMERA_CLOCK_H
#define RM_CAMERAS_CAMERA_CLOCK_H

#include <pthread.h>
#include <stdbool.h>

#include <ringmaster/clock.h>
#include <ringmaster/workspace.h>

struct rm_camera_clock {
    /** Attached to a server, or NULL. For the thread that watches. */
    struct rm_workspace *workspace;
    struct rm_clock const *memory;
    /** Looks at a workspace without a server. */
    uint32_t looks;

    pthread_mutex_t lock;
    /** Under the lock. */
    bool is_known;
    struct rm_clock_reading reading;
};

void rm_camera_clock_open(struct rm_camera_clock *clock);

/** Looks at the clock, and now and then for the server of a workspace where there was none. */
void rm_camera_clock_watch(struct rm_camera_clock *clock, char const *workspace);
void rm_camera_clock_close(struct rm_camera_clock *clock);

/** The turn at a TSC; RM_TURN_NONE while it is not known. Any thread. */
rm_turn rm_camera_clock_turn(struct rm_camera_clock *clock, uint64_t tsc);

#endif
