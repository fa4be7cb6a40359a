// SPDX-License-Identifier: Apache-2.0
/** The groups of a configured ring as a sender takes them, with the faults that befall each. */
#ifndef RM_INSTRUMENTS_MEMBERS_H
#define RM_INSTRUMENTS_MEMBERS_H

#include "ring_config.h"
#include "sender.h"

struct rm_members {
    /** [group]; the caller fills in the ports of its outlets. */
    struct rm_sender_member *member;
    /** Faults of all outlets. */
    struct rm_fault *faults;
};

/** Makes the members. `ring` and `counters` [group · network_count + network] stay in use. They must be freed even
 * when it fails: RM_E_NO_SPACE. */
enum rm_code rm_members_make(struct rm_ring_config const *ring, rm_counter *const *counters, struct rm_members *members,
                             struct rm_error *error);
void rm_members_free(struct rm_members *members);

#endif
