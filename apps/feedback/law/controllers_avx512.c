// SPDX-License-Identifier: Apache-2.0
#define FEEDBACK_TARGET __attribute__((target("avx512f,avx512dq")))
#define FEEDBACK_UPDATE feedback_update_avx512
#define FEEDBACK_MAP feedback_map_avx512

#include "controllers_alike.h"
