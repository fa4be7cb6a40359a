// SPDX-License-Identifier: Apache-2.0
/** The streams CAM/profile: the beam spot (frames/profile.h) of those cameras whose file asks for it.
 *
 * One thread measures all of them, off the threads that receive: an image of 5 megapixels takes a millisecond. It is a
 * reader of images as any other (ringmaster/images.h). It leases the newest frame of a camera, measures, releases it, and
 * puts a record at the frame's turn. What comes meanwhile is passed over, and counted in the next record. Frames that
 * are not whole are not measured. Without a turn there is no record: the workspace has no server, and the frames do not
 * tell theirs. */
#ifndef RM_CAMERAS_CAMERA_PROFILES_H
#define RM_CAMERAS_CAMERA_PROFILES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <ringmaster/owner.h>
#include <ringmaster/workspace.h>

#include "config/config.h"
#include "frames/profile.h"

/** Lanes of a record, in this order. */
enum rm_camera_profile_lane {
    /** Centroid, pixels from the middle of the first. */
    RM_PROFILE_LANE_X,
    RM_PROFILE_LANE_Y,
    /** Along the spot's own axes, pixels; and how the longer one is turned, rad. */
    RM_PROFILE_LANE_SIGMA_MAJOR,
    RM_PROFILE_LANE_SIGMA_MINOR,
    RM_PROFILE_LANE_TILT,
    /** Counts. */
    RM_PROFILE_LANE_INTENSITY,
    RM_PROFILE_LANE_BACKGROUND,
    RM_PROFILE_LANE_PEAK,
    /** Pixels. */
    RM_PROFILE_LANE_SATURATED,
    /** enum rm_profile_marks */
    RM_PROFILE_LANE_MARKS,
    /** Of the frame, as the camera counts. */
    RM_PROFILE_LANE_NUMBER,
    /** Frames since the record before that were not measured. */
    RM_PROFILE_LANE_SKIPPED,
    RM_PROFILE_LANES,
};

struct rm_profiled_camera {
    struct rm_config_camera const *config;
    rm_owner_index stream;
    /** Turn of the newest record; RM_TURN_NONE: there is none. */
    rm_turn recorded;
    uint64_t skipped;
};

struct rm_camera_profiles {
    struct rm_config const *config;
    struct rm_owner *owner;
    uint32_t count;
    struct rm_profiled_camera *camera;
    /** Of each, in the same order. */
    struct rm_images_reader **reader;
    struct rm_workspace *workspace;
    struct rm_profiler *profiler;
    atomic_bool const *stop;
    pthread_t thread;
    bool is_running;
};

/** False: no memory. */
bool rm_camera_profiles_make(struct rm_camera_profiles *profiles, struct rm_config const *config);

/** Adds the streams to an owner that is not open yet. */
void rm_camera_profiles_plan(struct rm_camera_profiles *profiles, struct rm_owner *owner);

/** The owner is open. Starts the thread where a camera asks for it; it ends some 100 ms after `*stop` is set. */
enum rm_code rm_camera_profiles_start(struct rm_camera_profiles *profiles, struct rm_owner *owner,
                                      atomic_bool const *stop, struct rm_error *error);

/** Waits for its end, and frees all. */
void rm_camera_profiles_end(struct rm_camera_profiles *profiles);

#endif
