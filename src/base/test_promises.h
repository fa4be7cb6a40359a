// SPDX-License-Identifier: Apache-2.0
/** Holds a thread to the promises of the hot path: it calls no system, allocates nothing, and touches no page for the
 * first time once it has done everything once.
 *
 *     the thread:    promises_begin();  … its work …
 *     the test:      promises_listen(); …
 *                    promises_warm(); … more of the same … promises_end();  promises_expect_kept("the thread")
 *
 * A seccomp filter of that thread traps every call from promises_begin on; a trapped call comes to nothing. Every
 * allocation goes through the functions below, libraries' too. The thread calls promises_look() between two pieces of
 * work, so that its page faults are counted between promises_warm and promises_end.
 *
 * For one file of a test program, whose allocator this is. A sanitizer brings an allocator of its own and makes calls:
 * there the meson.build leaves such a test out. */
#ifndef RM_BASE_TEST_PROMISES_H
#define RM_BASE_TEST_PROMISES_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cmocka.h>

enum promises_phase { PROMISES_COLD, PROMISES_WARM, PROMISES_ENDED };

/** Of the thread that has promised. */
static _Thread_local bool promises_made;
static _Thread_local enum promises_phase promises_seen;
static _Thread_local long promises_faults_before;

static _Atomic enum promises_phase promises_now;
/** What the thread did against its promises: the number of a call and 1, and counts. */
static _Atomic int promises_call;
static _Atomic int promises_allocations;
static _Atomic long promises_faults;
/** Trapped calls are named. */
static atomic_bool promises_heard;
/** The thread has counted its last page fault. */
static atomic_bool promises_counted;

/** True where this thread's promises hold. When a test has ended, the thread may do what ends it. */
static inline bool promises_hold(void) { return promises_made && atomic_load(&promises_now) != PROMISES_ENDED; }

static void promises_note_call(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)context;
    int none = 0;
    if (promises_hold())
        atomic_compare_exchange_strong(&promises_call, &none, info->si_syscall + 1); // 0 is a call, too
}

// NOLINTBEGIN(bugprone-reserved-identifier): the C library names them so
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
// NOLINTEND(bugprone-reserved-identifier)

static inline void promises_note_allocation(void) { atomic_fetch_add(&promises_allocations, promises_hold()); }

void *malloc(size_t bytes) {
    promises_note_allocation();
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
    promises_note_allocation();
    return __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes) {
    promises_note_allocation();
    return __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    promises_note_allocation();
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    promises_note_allocation();
    *memory = __libc_memalign(alignment, bytes);
    return *memory != NULL ? 0 : ENOMEM;
}

/** From now on trapped calls are named. For the test itself: around its set-up cmocka puts back other handlers. */
static inline void promises_listen(void) {
    struct sigaction const action = {.sa_sigaction = promises_note_call, .sa_flags = SA_SIGINFO};
    assert_int_equal(sigaction(SIGSYS, &action, NULL), 0);
    atomic_store(&promises_heard, true);
}

/** This thread may ask for its page faults, and end; every other call is trapped and comes to nothing. */
static inline void promises_begin(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 3, 0), // of the stack, as the thread ends
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0), // of the handler above
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog const program = {.len = sizeof code / sizeof code[0], .filter = code};
    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    promises_made = true;
}

static inline long promises_faults_so_far(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static inline void promises_look(void) {
    enum promises_phase const now = atomic_load(&promises_now);
    if (now == promises_seen)
        return;
    promises_seen = now;
    if (now == PROMISES_WARM) {
        promises_faults_before = promises_faults_so_far();
    } else {
        atomic_store(&promises_faults, promises_faults_so_far() - promises_faults_before);
        atomic_store(&promises_counted, true);
    }
}

/** The thread has done everything once. */
static inline void promises_warm(void) { atomic_store(&promises_now, PROMISES_WARM); }

/** From now on the thread may end. It must look once more before it does. */
static inline void promises_end(void) { atomic_store(&promises_now, PROMISES_ENDED); }

/** The kernel's NUMA balancing takes pages away from under a thread. */
static inline bool promises_pages_move(void) {
    int balancing = 0;
    FILE *const file = fopen("/proc/sys/kernel/numa_balancing", "r");
    if (file == NULL)
        return false;
    bool const known = fscanf(file, "%d", &balancing) == 1;
    fclose(file);
    return known && balancing != 0;
}

static inline void promises_expect_kept(char const *thread) {
    if (atomic_load(&promises_call) != 0)
        fail_msg("%s made system call %d (asm/unistd_64.h)", thread, atomic_load(&promises_call) - 1);
    assert_int_equal(atomic_load(&promises_allocations), 0);
    assert_true(atomic_load(&promises_counted));
    if (!promises_pages_move())
        assert_int_equal(atomic_load(&promises_faults), 0);
}

#endif
