// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/group.h>

#include "fabric/sequence_lock.h"

void rm_group_begin(struct rm_group *group) { rm_sequence_begin(&group->sequence); }

void rm_group_commit(struct rm_group *group, struct rm_stamp stamp) {
    atomic_store_explicit(&group->timestamp_tai_ns, stamp.tai_ns, memory_order_relaxed);
    atomic_store_explicit(&group->turn, stamp.turn, memory_order_relaxed);
    rm_sequence_end(&group->sequence);
}

bool rm_group_enter(struct rm_group const *group, uint64_t *seen) { return rm_sequence_enter(&group->sequence, seen); }

bool rm_group_leave(struct rm_group const *group, uint64_t seen) { return rm_sequence_leave(&group->sequence, seen); }
