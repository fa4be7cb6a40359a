// SPDX-License-Identifier: Apache-2.0
#include "fabric/doorbell.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, POLL_NS = 1000000 };

/* Not the PRIVATE operations: sleeper and ringer are two processes that meet in a file. */

void rm_doorbell_ring(_Atomic uint32_t const *doorbell) {
    syscall(SYS_futex, doorbell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static struct timespec timespec_of(uint64_t ns) {
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

/** Where the kernel cannot sleep on a bell: it does not know how, or the file was cut. */
static void doorbell_poll(uint64_t timeout_ns) {
    struct timespec const time = timespec_of(timeout_ns < POLL_NS ? timeout_ns : POLL_NS);
    nanosleep(&time, NULL);
}

static bool cannot_sleep(long result) { return result < 0 && (errno == ENOSYS || errno == EFAULT || errno == EPERM); }

void rm_doorbell_wait_value(_Atomic uint32_t const *doorbell, uint32_t seen, uint64_t timeout_ns) {
    struct timespec const timeout = timespec_of(timeout_ns);
    if (cannot_sleep(syscall(SYS_futex, doorbell, FUTEX_WAIT, seen, &timeout, NULL, 0)))
        doorbell_poll(timeout_ns);
}

void rm_doorbell_wait(_Atomic uint32_t const *doorbell, uint64_t timeout_ns) {
    rm_doorbell_wait_value(doorbell, atomic_load_explicit(doorbell, memory_order_relaxed), timeout_ns);
}

/** Until when, by CLOCK_MONOTONIC. */
static struct timespec deadline_after(uint64_t timeout_ns) {
    struct timespec now, timeout = timespec_of(timeout_ns);
    clock_gettime(CLOCK_MONOTONIC, &now);
    timeout.tv_sec += now.tv_sec + (timeout.tv_nsec + now.tv_nsec) / NS_PER_S;
    timeout.tv_nsec = (timeout.tv_nsec + now.tv_nsec) % NS_PER_S;
    return timeout;
}

void rm_doorbells_wait(struct rm_bell const *bells, uint32_t count, uint64_t timeout_ns) {
    struct futex_waitv wait[RM_DOORBELLS_MAX];
    for (uint32_t i = 0; i < count; ++i)
        wait[i] = (struct futex_waitv){.val = bells[i].seen, .uaddr = (uintptr_t)bells[i].doorbell, .flags = FUTEX_32};
    struct timespec const deadline = deadline_after(timeout_ns);
    if (cannot_sleep(syscall(SYS_futex_waitv, wait, count, 0, &deadline, CLOCK_MONOTONIC)))
        doorbell_poll(timeout_ns);
}
