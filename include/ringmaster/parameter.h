// SPDX-License-Identifier: Apache-2.0
/** Parameters: named typed values and arrays, with limits, time stamp, turn and one owner.
 *
 * The owner of the segment writes; everybody reads, without a system call and consistently: `sequence` is odd while the
 * values change (the same sequence lock as clock.h) and grows by two per change, so a reader who keeps the last one
 * knows how many changes were missed. The unit, the description, the element type and the shape stand in the directory.
 */
#ifndef RINGMASTER_PARAMETER_H
#define RINGMASTER_PARAMETER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>

enum rm_severity {
    RM_SEVERITY_NONE = 0,
    RM_SEVERITY_MINOR = 1,
    RM_SEVERITY_MAJOR = 2,
    RM_SEVERITY_INVALID = 3,
};

/** NaN in a limit means: no such limit. */
struct rm_limits {
    double display_low, display_high; /**< range of a gauge that shows it */
    double control_low, control_high; /**< range that a write must keep */
    double minor_low, minor_high;     /**< outside: RM_SEVERITY_MINOR */
    double major_low, major_high;     /**< outside: RM_SEVERITY_MAJOR */
    double hysteresis;                /**< distance by which a value must return before the severity falls */
};

/** The head of a parameter object. Values follow at `values_offset`, packed, in 8-byte words. */
struct rm_parameter {
    uint64_t values_offset;     /**< bytes from the start of this struct */
    uint64_t count;             /**< elements */
    uint64_t value_bytes;       /**< count × size of an element */
    struct rm_limits limits;    /**< constant */
    char owner[RM_OWNER_BYTES]; /**< of the segment; requests by others go to it */

    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence; /**< odd while it changes */
    _Atomic uint64_t timestamp_tai_ns;                 /**< of the last change */
    _Atomic uint64_t turn;                             /**< of the last change, or RM_TURN_NONE */
    _Atomic uint64_t severity;                         /**< enum rm_severity */
    uint64_t reserved[4];
};

/** A consistent copy of everything but the values. */
struct rm_parameter_reading {
    uint64_t sequence; /**< even; (new - old) / 2 changes lie between two readings */
    uint64_t timestamp_tai_ns;
    rm_turn turn;
    enum rm_severity severity;
};

/** Copies the values (at most `bytes` of them) to `values` and says when they were set. Returns the number of bytes
 * that the parameter has, or 0 when its writer was killed inside a change. */
size_t rm_parameter_read(struct rm_parameter const *parameter, void *values, size_t bytes,
                         struct rm_parameter_reading *reading);

#endif
