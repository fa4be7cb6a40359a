// SPDX-License-Identifier: Apache-2.0
#include "fabric/severity.h"

enum rm_severity rm_severity_of(struct rm_limits const *limits, double value, enum rm_severity before) {
    return rm_judge(limits, value, before);
}

/** A limit that is no NaN. */
static bool is_set(double limit) { return limit == limit; }

bool rm_limits_alarm(struct rm_limits const *limits) {
    return is_set(limits->minor_low) || is_set(limits->minor_high) || is_set(limits->major_low) ||
           is_set(limits->major_high);
}
