// SPDX-License-Identifier: Apache-2.0
/** The parts of a session. */
#ifndef RM_RECORD_SESSION_H
#define RM_RECORD_SESSION_H

#include "recorder.h"

/** Looks the streams up, and gives every log its objects, followers and buffers. */
enum rm_code rm_session_plan(struct rm_recorder *recorder, struct rm_error *error);

/** Sets the sizes of a log's buffers and files, by its rate, its objects and what it may take. */
void rm_session_size(struct rm_recorder const *recorder, struct rm_recorded_log *log);

#endif
