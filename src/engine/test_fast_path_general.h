// SPDX-License-Identifier: Apache-2.0
/** The ways that a packet may take through a receive role, and a count of those that took the general one: for tests
 * that are linked with rm_receive_one wrapped. */
#ifndef RM_ENGINE_TEST_FAST_PATH_GENERAL_H
#define RM_ENGINE_TEST_FAST_PATH_GENERAL_H

#include "engine/receive_one.h"
#include "engine/test_receive_rig.h"

/** The general path, and the versions of the fast path. */
enum { FAST_PATH_WAYS = 4 };

static enum rig_fast_path const FAST_PATH[FAST_PATH_WAYS] = {RIG_FAST_PATH_SHUT, RIG_FAST_PATH_SCALAR,
                                                             RIG_FAST_PATH_AVX2, RIG_FAST_PATH_AVX512};

/** How many of these ways this CPU has. */
static inline uint32_t fast_path_ways(void) { return 1 + (uint32_t)rm_simd_best(); }

/** Packets that took the general path; the test sets it back to 0. */
static uint64_t fast_path_general;

// NOLINTBEGIN(bugprone-reserved-identifier): the linker names them so
void __real_rm_receive_one(struct rm_receive *receive, struct rm_receive_queue *queue, uint32_t index, uint64_t tsc,
                           struct rm_burst_sum *sum);
void __wrap_rm_receive_one(struct rm_receive *receive, struct rm_receive_queue *queue, uint32_t index, uint64_t tsc,
                           struct rm_burst_sum *sum);

void __wrap_rm_receive_one(struct rm_receive *receive, struct rm_receive_queue *queue, uint32_t index, uint64_t tsc,
                           struct rm_burst_sum *sum) {
    ++fast_path_general;
    __real_rm_receive_one(receive, queue, index, tsc, sum);
}
// NOLINTEND(bugprone-reserved-identifier)

#endif
