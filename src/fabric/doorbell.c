// SPDX-License-Identifier: Apache-2.0
#include "fabric/doorbell.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Not the PRIVATE operations: sleeper and ringer are two processes that meet in a file. */

void rm_doorbell_ring(_Atomic uint32_t const *doorbell) {
    syscall(SYS_futex, doorbell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void rm_doorbell_wait(_Atomic uint32_t const *doorbell, uint64_t timeout_ns) {
    struct timespec const timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
                                     .tv_nsec = (long)(timeout_ns % 1000000000u)};
    uint32_t const now = atomic_load_explicit(doorbell, memory_order_relaxed);
    syscall(SYS_futex, doorbell, FUTEX_WAIT, now, &timeout, NULL, 0);
}
