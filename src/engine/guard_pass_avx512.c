// SPDX-License-Identifier: Apache-2.0
#define RM_GUARD_TARGET __attribute__((target("avx512f")))
#define RM_GUARD_TAKE rm_guard_take_avx512
#define RM_GUARD_STEP rm_guard_step_avx512

#include "engine/guard_pass_alike.h"
