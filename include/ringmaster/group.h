// SPDX-License-Identifier: Apache-2.0
/** Groups: parameters of one owner that change together, at one turn.
 *
 *     rm_group_begin(group);
 *     rm_parameter_write_f64(kp, 0.3, stamp);
 *     rm_parameter_write_f64(ki, 0.01, stamp);
 *     rm_group_commit(group, stamp);
 *
 *     do {
 *         if (!rm_group_enter(group, &seen)) …        // its owner was killed in a change
 *         a = rm_parameter_read_f64(kp), b = rm_parameter_read_f64(ki);
 *     } while (!rm_group_leave(group, seen));
 *
 * The group's sequence lock is around those of its members, so who reads one member alone needs not know of the group.
 * Ordering is that of clock.h: enter's acquire pairs with commit's release, leave's acquire fence with begin's release
 * fence. A member names its group in rm_parameter.group.
 */
#ifndef RINGMASTER_GROUP_H
#define RINGMASTER_GROUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/parameter.h>

struct rm_group {
    uint64_t member_count;
    uint64_t reserved[7];
    /** Odd while members change; two more per change. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence;
    /** Of the last change. */
    _Atomic uint64_t timestamp_tai_ns;
    /** Of the last change, or RM_TURN_NONE. */
    _Atomic uint64_t turn;

    uint64_t reserved_live[5];
};

/** For the owner alone, from one thread. Groups do not nest. */
void rm_group_begin(struct rm_group *group);
void rm_group_commit(struct rm_group *group, struct rm_stamp stamp);

/** Waits while it changes; false after a tenth of a second: its owner was killed there. */
bool rm_group_enter(struct rm_group const *group, uint64_t *seen);

/** True when all that was read since rm_group_enter belongs together. */
bool rm_group_leave(struct rm_group const *group, uint64_t seen);

#endif
