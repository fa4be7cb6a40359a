// SPDX-License-Identifier: Apache-2.0
/** At which turn a frame's record stands in a stream of its camera. */
#ifndef RM_CAMERAS_RECORD_TURN_H
#define RM_CAMERAS_RECORD_TURN_H

#include <ringmaster/images.h>
#include <ringmaster/record.h>

/** A turn so many periods back is one of a turn counter that has restarted, and not of a late frame. */
enum { RM_CAMERA_RESTART_PERIODS = 1000 };

/** A multiple of the period. `recorded` is the newest record's, RM_TURN_NONE where there is none. RM_TURN_NONE: the frame has
 * no turn, or the turn has its record. */
static inline rm_turn rm_camera_record_turn(uint64_t period, rm_turn recorded, struct rm_image_slot const *slot) {
    if (!(slot->flags & RM_IMAGE_HAS_TURN) || slot->turn >= RM_TURN_END)
        return RM_TURN_NONE;
    rm_turn const turn = slot->turn / period * period;
    bool const restarted = recorded != RM_TURN_NONE && turn + RM_CAMERA_RESTART_PERIODS * period < recorded;
    return recorded == RM_TURN_NONE || turn > recorded || restarted ? turn : RM_TURN_NONE;
}

#endif
