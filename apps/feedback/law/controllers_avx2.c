// SPDX-License-Identifier: Apache-2.0
#define FEEDBACK_TARGET __attribute__((target("avx2")))
#define FEEDBACK_UPDATE feedback_update_avx2
#define FEEDBACK_MAP feedback_map_avx2

#include "controllers_alike.h"
