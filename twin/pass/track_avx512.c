// SPDX-License-Identifier: Apache-2.0
#define RM_LANES 8
#define RM_RAYS 4
#define RM_TRACK rm_track_avx512

#include "tracker.h"
