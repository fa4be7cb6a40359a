// SPDX-License-Identifier: Apache-2.0
/** The cameras of a session: which, into which log, and how far each was recorded. */
#ifndef RM_RECORD_SESSION_IMAGES_H
#define RM_RECORD_SESSION_IMAGES_H

#include "recorder.h"

/** Looks the cameras of a log up, and gives it its objects and followers. */
enum rm_code rm_session_images_plan(struct rm_recorder *recorder, unsigned index, struct rm_error *error);

/** Sets the sizes of its buffers and files, of which none is larger than `most`: by the longest frames that there can be,
 * at a nominal rate of 30 a second. */
void rm_session_images_size(struct rm_recorded_log *log, uint64_t most);

/** Takes the frames that have come; returns how many. */
uint64_t rm_session_images_step(struct rm_recorded_log *log, struct rm_record_moment const *moment);

/** Tells in events what was lost of each camera. */
void rm_session_images_tell(struct rm_recorder *recorder, struct rm_recorded_log *log);

/** Whether another owner shows one of the cameras now, in another file. */
bool rm_session_images_moved(struct rm_recorder const *recorder, struct rm_workspace const *now);

/** Remembers how far each camera was recorded. */
void rm_session_images_leave(struct rm_recorder *recorder, unsigned index);

/** Ends the followers; what still waits is lost where the recorder ends. */
void rm_session_images_end(struct rm_recorder *recorder, struct rm_recorded_log *log);

#endif
