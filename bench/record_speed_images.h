// SPDX-License-Identifier: Apache-2.0
/** Eight cameras in a workspace of their own, of whose frames the next one always lies ready: 2500 × 1000 pixels of 12
 * bits, 3.75 MB. Nothing is written into the slots anew: it is the recorder that is measured. */
#ifndef RM_BENCH_RECORD_SPEED_IMAGES_H
#define RM_BENCH_RECORD_SPEED_IMAGES_H

#include "archive/record/follow_images.h"

enum {
    SPEED_CAMERAS = 8,
    SPEED_FRAME_BYTES = 3750000,
    SPEED_FRAGMENTS = 2612,
    /** Of a log of such frames, as the recorder has them: four frames, in whole sectors. */
    SPEED_IMAGE_BUFFER_BYTES = 15007744,
};

struct speed_images;

/** Makes workspace, cameras and followers into the log, and describes them in `object`, SPEED_CAMERAS of them. */
enum rm_code speed_images_open(struct rm_log *log, struct rm_archived_object *object, struct speed_images **images,
                               struct rm_error *error);

/** Takes what lies ready of each camera, and publishes the next frames. Returns how many frames. */
uint64_t speed_images_step(struct speed_images *images, struct rm_record_moment const *moment);

/** Frames that were passed over. */
uint64_t speed_images_lost(struct speed_images const *images);

/** Removes the workspace. */
void speed_images_close(struct speed_images *images);

#endif
