// SPDX-License-Identifier: Apache-2.0
/** What virtual cameras will send, and what they have sent, for people and for programs. */
#ifndef RM_CAMERAS_CAMERAS_SUMMARY_H
#define RM_CAMERAS_CAMERAS_SUMMARY_H

#include <stdio.h>

#include "camera_sender.h"
#include "cameras_config.h"

/** A line for each camera. */
void rm_cameras_describe(struct rm_cameras_config const *config, FILE *out);

/** A line for each, or one JSON object: {"cameras": {"cam01": {"frames": …, "faults": {"lose": …}}}}. */
void rm_cameras_summary(struct rm_camera_sender const *senders, uint32_t count, bool json, FILE *out);

#endif
