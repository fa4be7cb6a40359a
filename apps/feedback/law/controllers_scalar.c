// SPDX-License-Identifier: Apache-2.0
#define FEEDBACK_TARGET
#define FEEDBACK_UPDATE feedback_update_scalar
#define FEEDBACK_MAP feedback_map_scalar

#include "controllers_alike.h"
