// SPDX-License-Identifier: Apache-2.0
#include "host/host_grant.h"

#include <stdatomic.h>

static uint64_t const NEVER = UINT64_MAX; /**< no even sequence */

void rm_host_grant_forget(struct rm_host_grant *grant) {
    grant->sequence = NEVER;
    grant->grant_number = 0;
}

uint64_t rm_host_grant_look(struct rm_host_grant *grant, struct rm_grant const *of) {
    /* The sequence lock of clock.h, of which this reader makes one try. */
    uint64_t const seen = atomic_load_explicit(&of->sequence, memory_order_acquire);
    if (seen == grant->sequence || (seen & 1) != 0)
        return grant->grant_number;
    uint64_t const grant_number = atomic_load_explicit(&of->grant_number, memory_order_relaxed);
    uint64_t const instance = atomic_load_explicit(&of->instance, memory_order_relaxed);
    uint64_t const pid = atomic_load_explicit(&of->pid, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&of->sequence, memory_order_relaxed) != seen)
        return grant->grant_number;
    grant->sequence = seen;
    grant->grant_number = instance == grant->instance && pid == grant->pid ? grant_number : 0;
    return grant->grant_number;
}
