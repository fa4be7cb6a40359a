// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/truncation.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include <ringmaster/abi.h>

/** A watched mapping. `start` is 0 where there is none; it is stored last, with release. */
struct mapping {
    _Atomic uintptr_t start;
    _Atomic uint64_t bytes;
    _Atomic bool cut;
};

/* A signal handler gets only the fault, so what it needs to know belongs to the process. */
static struct mapping mappings[RM_WATCHED_MAX];
static struct sigaction before;
static bool installed;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct mapping *mapping_at(void const *start) {
    for (int i = 0; i < RM_WATCHED_MAX; ++i)
        if (atomic_load_explicit(&mappings[i].start, memory_order_relaxed) == (uintptr_t)start)
            return &mappings[i];
    return NULL;
}

/** Lays zeros over a mapping from `from` on. Where its pages are huge ones it is replaced as a whole. */
static bool lay_zeros(uintptr_t start, uint64_t bytes, uintptr_t from) {
    int const how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    return mmap((void *)from, start + bytes - from, PROT_READ, how, -1, 0) != MAP_FAILED ||
           mmap((void *)start, bytes, PROT_READ, how, -1, 0) != MAP_FAILED;
}

static bool repair_mapping(uintptr_t address) {
    for (int i = 0; i < RM_WATCHED_MAX; ++i) {
        uintptr_t const start = atomic_load_explicit(&mappings[i].start, memory_order_acquire);
        uint64_t const bytes = atomic_load_explicit(&mappings[i].bytes, memory_order_relaxed);
        if (start <= 1 || address < start || address - start >= bytes)
            continue;
        atomic_store_explicit(&mappings[i].cut, true, memory_order_relaxed);
        return lay_zeros(start, bytes, address / RM_PAGE_BYTES * RM_PAGE_BYTES);
    }
    return false;
}

/** A fault that is none of these goes to the handler that was there before. Without one the default is put back: the
 * instruction runs again, meets the fault again, and the process ends as it would have. */
static void pass_on(int number, siginfo_t *information, void *context) {
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, information, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
    else if (information->si_code > 0 || before.sa_handler == SIG_DFL) {
        signal(number, SIG_DFL);
        if (information->si_code <= 0)
            raise(number); // sent by a process: no instruction would meet it again
    }
}

static void handle_fault(int number, siginfo_t *information, void *context) {
    int const saved = errno;
    bool const fault = information->si_code > 0; // by the kernel; else si_addr says nothing
    if (!fault || !repair_mapping((uintptr_t)information->si_addr))
        pass_on(number, information, context);
    errno = saved;
}

static void install_handler(void) {
    struct sigaction action = {.sa_sigaction = handle_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    /* `before` is known before ours can be called. */
    installed = sigaction(SIGBUS, NULL, &before) == 0 && sigaction(SIGBUS, &action, NULL) == 0;
}

bool rm_truncation_watch(void const *start, uint64_t bytes) {
    pthread_once(&once, install_handler);
    if (!installed)
        return false;
    uintptr_t const taken = 1; // no mapping starts there: the place is being filled
    for (int i = 0; i < RM_WATCHED_MAX; ++i) {
        uintptr_t none = 0;
        if (!atomic_compare_exchange_strong(&mappings[i].start, &none, taken))
            continue;
        atomic_store_explicit(&mappings[i].bytes, bytes, memory_order_relaxed);
        atomic_store_explicit(&mappings[i].cut, false, memory_order_relaxed);
        atomic_store_explicit(&mappings[i].start, (uintptr_t)start, memory_order_release);
        return true;
    }
    return false;
}

void rm_truncation_forget(void const *start) {
    struct mapping *const mapping = mapping_at(start);
    if (mapping != NULL)
        atomic_store_explicit(&mapping->start, 0, memory_order_release);
}

bool rm_truncation_cut(void const *start) {
    struct mapping const *const mapping = mapping_at(start);
    return mapping != NULL && atomic_load_explicit(&mapping->cut, memory_order_relaxed);
}
