// SPDX-License-Identifier: Apache-2.0
#define RM_GUARD_TARGET __attribute__((target("avx2")))
#define RM_GUARD_TAKE rm_guard_take_avx2
#define RM_GUARD_STEP rm_guard_step_avx2

#include "engine/guard_pass_alike.h"
