// SPDX-License-Identifier: Apache-2.0
/** A run of virtual cameras: ports, senders, and what ends it. */
#ifndef RM_CAMERAS_SESSION_H
#define RM_CAMERAS_SESSION_H

#include "cameras_config.h"

struct rm_cameras_session {
    struct rm_cameras_config const *config;
    /** Of each camera; 0: no end. */
    uint64_t frames;
    double seconds;
    bool json;
};

/** Sends until it is told to stop; prints what is sent at the beginning, and in the end how much it was. */
enum rm_code rm_cameras_run(struct rm_cameras_session const *session, struct rm_error *error);

#endif
