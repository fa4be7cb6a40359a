// SPDX-License-Identifier: Apache-2.0
#include "fabric/truncation.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include <ringmaster/abi.h>

#include "base/fail.h"

enum { MAPPINGS_MAX = 1024 };

/** A watched mapping; `start` is 0 where there is none, and stored last with release. */
struct mapping {
    _Atomic uintptr_t start;
    _Atomic uint64_t bytes;
};

/* A signal's handler is given nothing but the fault: what it needs to know can only be the process's. */
static struct mapping mappings[MAPPINGS_MAX];
static _Atomic bool installed;
static struct sigaction before;

void rm_truncation_watch(void const *start, uint64_t bytes) {
    uintptr_t const taken = 1; // no mapping starts there: the place is being filled
    for (int i = 0; i < MAPPINGS_MAX; ++i) {
        uintptr_t none = 0;
        if (!atomic_compare_exchange_strong(&mappings[i].start, &none, taken))
            continue;
        atomic_store_explicit(&mappings[i].bytes, bytes, memory_order_relaxed);
        atomic_store_explicit(&mappings[i].start, (uintptr_t)start, memory_order_release);
        return;
    }
}

void rm_truncation_forget(void const *start) {
    for (int i = 0; i < MAPPINGS_MAX; ++i)
        if (atomic_load_explicit(&mappings[i].start, memory_order_relaxed) == (uintptr_t)start)
            atomic_store_explicit(&mappings[i].start, 0, memory_order_release);
}

/** Lays zeros over a mapping from `from` on. Where its pages are huge ones it is replaced as a whole. */
static bool lay_zeros(uintptr_t start, uint64_t bytes, uintptr_t from) {
    int const how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    return mmap((void *)from, start + bytes - from, PROT_READ, how, -1, 0) != MAP_FAILED ||
           mmap((void *)start, bytes, PROT_READ, how, -1, 0) != MAP_FAILED;
}

static bool repair(uintptr_t address) {
    for (int i = 0; i < MAPPINGS_MAX; ++i) {
        uintptr_t const start = atomic_load_explicit(&mappings[i].start, memory_order_acquire);
        uint64_t const bytes = atomic_load_explicit(&mappings[i].bytes, memory_order_relaxed);
        if (start > 1 && address >= start && address - start < bytes)
            return lay_zeros(start, bytes, address / RM_PAGE_BYTES * RM_PAGE_BYTES);
    }
    return false;
}

/** A fault that is none of these: as if there were no handler. Returning meets it again. */
static void handle(int number, siginfo_t *information, void *context) {
    (void)context;
    int const saved = errno;
    if (!repair((uintptr_t)information->si_addr))
        sigaction(number, &before, NULL);
    errno = saved;
}

enum rm_code rm_truncation_survive(struct rm_error *error) {
    if (atomic_exchange(&installed, true))
        return RM_OK;
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, &action, &before) == 0)
        return RM_OK;
    atomic_store(&installed, false);
    return rm_fail(error, RM_E_SYSTEM, "no handler for SIGBUS: %s", strerror(errno));
}
