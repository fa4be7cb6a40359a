// SPDX-License-Identifier: Apache-2.0
/** How a value is judged by its parameter's limits. */
#ifndef RM_FABRIC_SEVERITY_H
#define RM_FABRIC_SEVERITY_H

#include <stddef.h>

#include <ringmaster/parameter.h>

/** True when `value` is not within [low, high], made narrower by `inwards` at both ends. A limit that is NaN does not
 * count. */
static inline bool rm_outside(double value, double low, double high, double inwards) {
    return value < low + inwards || value > high - inwards;
}

/** rm_severity_of, inline. A severity that did not come from a number says nothing about limits, so no hysteresis
 * applies: judging begins anew. */
static inline enum rm_severity rm_judge(struct rm_limits const *limits, double value, enum rm_severity before) {
    if (value != value)
        return RM_SEVERITY_INVALID;
    bool const major = before == RM_SEVERITY_MAJOR;
    bool const minor = major || before == RM_SEVERITY_MINOR;
    if (rm_outside(value, limits->major_low, limits->major_high, major ? limits->hysteresis : 0.0))
        return RM_SEVERITY_MAJOR;
    if (rm_outside(value, limits->minor_low, limits->minor_high, minor ? limits->hysteresis : 0.0))
        return RM_SEVERITY_MINOR;
    return RM_SEVERITY_NONE;
}

/** True when one of the limits can cause a severity other than NONE. */
bool rm_limits_alarm(struct rm_limits const *limits);

#endif
