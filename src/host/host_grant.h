// SPDX-License-Identifier: Apache-2.0
/** Whether this instance may send rows: what the server's grant says to it (ringmaster/grant.h). */
#ifndef RM_HOST_HOST_GRANT_H
#define RM_HOST_HOST_GRANT_H

#include <stdint.h>

#include <ringmaster/grant.h>

struct rm_host_grant {
    /** rm_segment_header.generation of our segment. */
    uint64_t instance;
    /** Ours. */
    uint64_t pid;
    /** Of the last look. */
    uint64_t sequence;
    /** Granted to us; 0: nothing is. */
    uint64_t grant_number;
};

/** Looks again: one load while nothing has changed. Returns grant->grant_number. A grant that changes just now is
 * looked at the next time: nothing here waits. */
uint64_t rm_host_grant_look(struct rm_host_grant *grant, struct rm_grant const *of);

/** Another server's grant is looked at from now on. */
void rm_host_grant_forget(struct rm_host_grant *grant);

#endif
