// SPDX-License-Identifier: Apache-2.0
#define RM_LANES 1
#define RM_RAYS 1
#define RM_TRACK rm_track_scalar

#include "tracker.h"
