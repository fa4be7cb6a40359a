// SPDX-License-Identifier: Apache-2.0
/** Whether this instance may send vectors: what the server's grant says about it (ringmaster/grant.h). */
#ifndef RM_HOST_HOST_GRANT_H
#define RM_HOST_HOST_GRANT_H

#include <stdint.h>

#include <ringmaster/grant.h>

struct rm_host_grant {
    /** rm_segment_header.generation of our segment. */
    uint64_t instance;
    /** Our process id. */
    uint64_t pid;
    /** Sequence of the grant at the last look. */
    uint64_t sequence;
    /** The number granted to us; 0: none. */
    uint64_t grant_number;
};

/** Looks at the grant: one load while nothing has changed. Returns grant->grant_number. It does not wait: a grant that
 * changes just now is read at the next look. */
uint64_t rm_host_grant_look(struct rm_host_grant *grant, struct rm_grant const *of);

/** Forgets the grant, because another server's is looked at from now on. */
void rm_host_grant_forget(struct rm_host_grant *grant);

#endif
