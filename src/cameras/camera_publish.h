// SPDX-License-Identifier: Apache-2.0
/** How a camera's closed frames are given to readers, described, and recorded on the axis of turns. */
#ifndef RM_CAMERAS_CAMERA_PUBLISH_H
#define RM_CAMERAS_CAMERA_PUBLISH_H

#include "cameras/camera.h"

/** Publishes all frames that have closed, and takes back the slots that the camera needs. */
void rm_camera_publish_closed(struct rm_camera *camera);

/** Adds the stream CAM/frames to the owner. */
void rm_camera_plan_frames(struct rm_camera *camera, struct rm_owner *owner);

/** Stores the record of a published frame, where its turn is known and above the newest. */
void rm_camera_record(struct rm_camera *camera, struct rm_image_slot const *slot, uint64_t sequence);

#endif
