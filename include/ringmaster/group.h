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
 * The group's sequence lock is around those of its members, so a reader of one member alone need not know of the
 * group. A member names its group in rm_parameter.group.
 *
 * Memory ordering is that of clock.h. The acquire load in rm_group_enter pairs with the release store in
 * rm_group_commit; the acquire fence in rm_group_leave pairs with the release fence in rm_group_begin.
 */
#ifndef RINGMASTER_GROUP_H
#define RINGMASTER_GROUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/parameter.h>

/** A group object "NAME" in the owner's segment. */
struct rm_group {
    /** Number of parameters that name this group. Constant. */
    uint64_t member_count;

    uint64_t reserved[7];
    /** Odd while members change. Two more per change of the group. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence;
    /** When the last change was: nanoseconds of TAI since 1970-01-01. */
    _Atomic uint64_t timestamp_tai_ns;
    /** Turn of the last change, or RM_TURN_NONE. */
    _Atomic uint64_t turn;

    uint64_t reserved_live[5];
};

/** Begins and ends a change of members. For the owner alone, from one thread. Groups do not nest. */
void rm_group_begin(struct rm_group *group);
void rm_group_commit(struct rm_group *group, struct rm_stamp stamp);

/** Begins a look at several members, and waits while they change. Returns false after a tenth of a second: the owner
 * was killed inside a change. */
bool rm_group_enter(struct rm_group const *group, uint64_t *seen);

/** True when all that was read since rm_group_enter belongs together. `seen` is what rm_group_enter gave. */
bool rm_group_leave(struct rm_group const *group, uint64_t seen);

#endif
