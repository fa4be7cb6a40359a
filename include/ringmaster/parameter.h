// SPDX-License-Identifier: Apache-2.0
/** Parameters: named typed values and arrays, with unit, limits, time stamp, turn and one owner.
 *
 *     double current;
 *     struct rm_parameter_reading when;
 *     rm_parameter_read(parameter, &current, sizeof current, &when);              // anybody
 *     rm_parameter_write(parameter, &current, sizeof current, rm_stamp_of(&clock, tsc, turn)); // its owner
 *
 * The owner of the segment writes; everybody reads, without a system call and consistently: `sequence` is odd while the
 * values change (the same sequence lock as clock.h) and grows by two per change, so a reader who keeps the last one
 * knows how many changes were missed. Whoever else wants another value asks the owner for it: request.h. The unit, the
 * description, the element type and the shape stand in the directory.
 *
 * Values of up to RM_PARAMETER_INLINE_BYTES lie in the cache line of the sequence: a reader on another core takes one
 * miss, not two.
 */
#ifndef RINGMASTER_PARAMETER_H
#define RINGMASTER_PARAMETER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/clock.h>
#include <ringmaster/record.h>

enum rm_severity {
    RM_SEVERITY_NONE = 0,
    RM_SEVERITY_MINOR = 1,
    RM_SEVERITY_MAJOR = 2,
    /** Not a number, or marked so by its owner. */
    RM_SEVERITY_INVALID = 3,
};

/** NaN in a limit means: no such limit. */
struct rm_limits {
    /** Range of a gauge that shows it. */
    double display_low, display_high;
    /** Range that a write must keep. */
    double control_low, control_high;
    /** outside: RM_SEVERITY_MINOR. */
    double minor_low, minor_high;
    /** outside: RM_SEVERITY_MAJOR. */
    double major_low, major_high;
    /** Distance by which a value must return before the severity falls. */
    double hysteresis;
};

/** The same quantity in another unit: other = c[0] + c[1]·v + c[2]·v² + c[3]·v³, where v is in the parameter's unit.
 * Strictly monotone over the control limits (checked when it is planned), so it goes back too. An empty unit: there is
 * none. */
struct rm_conversion {
    /** "µrad" */
    char unit[RM_UNIT_BYTES];

    double c[4];
};

enum rm_parameter_flags {
    /** Others may ask for it to be set. */
    RM_PARAMETER_WRITABLE = 1,
    /** A choice, not a reading: `ringmaster save` keeps it. */
    RM_PARAMETER_SETTING = 2,
    /** Has a minor or major limit: set when it is planned. */
    RM_PARAMETER_ALARMS = 4,
};

enum { RM_PARAMETER_INLINE_BYTES = 32 };

/** The head of a parameter object. Values lie at `values_offset`, packed, in 8-byte words: in `value` where they fit,
 * behind the struct where not. */
struct rm_parameter {
    /** Bytes from the start of this struct. */
    uint64_t values_offset;
    /** Elements. */
    uint64_t count;
    /** Count × size of an element. */
    uint64_t value_bytes;
    /** Constant, in the parameter's unit. */
    struct rm_limits limits;

    struct rm_conversion conversion;
    /** enum rm_parameter_flags */
    uint64_t flags;
    /** enum rm_element_type, as in the directory. */
    uint64_t element_type;
    /** The group object whose members change together with it, or "". */
    char group[RM_NAME_BYTES];
    /** Of the segment; requests by others go to it. */
    char owner[RM_OWNER_BYTES];

    uint64_t reserved[4];

    /** Odd while it changes. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence;
    /** Of the last change. */
    _Atomic uint64_t timestamp_tai_ns;
    /** Of the last change, or RM_TURN_NONE. */
    _Atomic uint64_t turn;
    /** enum rm_severity; of an array that of its worst element. */
    _Atomic uint64_t severity;

    _Atomic uint64_t value[RM_PARAMETER_INLINE_BYTES / 8];
};

/** When a change was: TAI nanoseconds, and the turn it belongs to or RM_TURN_NONE. */
struct rm_stamp {
    uint64_t tai_ns;
    rm_turn turn;
};

/** A consistent copy of everything but the values. */
struct rm_parameter_reading {
    /** Even; (new - old) / 2 changes lie between two readings. */
    uint64_t sequence;

    uint64_t timestamp_tai_ns;
    rm_turn turn;
    enum rm_severity severity;
};

/** Copies the values (at most `bytes` of them) to `values` and says when they were set. Returns the number of bytes
 * that the parameter has, or 0 when its writer was killed inside a change. */
size_t rm_parameter_read(struct rm_parameter const *parameter, void *values, size_t bytes,
                         struct rm_parameter_reading *reading);

/** The same for one double, the shortest way: no look at the clock, nothing but the value. Of an array the first
 * element; of another type that as a double, which takes longer. NaN when its writer was killed inside a change. */
double rm_parameter_read_f64(struct rm_parameter const *parameter);

/** For the owner alone, from one thread: copies `bytes` ≤ value_bytes of values in, judges their severity (a NaN is
 * RM_SEVERITY_INVALID; by the limits where there are alarms), and stamps the change. Control limits are not applied:
 * the owner knows what it does. An array leaves an alarm when all its elements have come back by the hysteresis. */
void rm_parameter_write(struct rm_parameter *parameter, void const *values, size_t bytes, struct rm_stamp stamp);

/** One double. Of another type it is rounded, and brought into what that can hold. */
void rm_parameter_write_f64(struct rm_parameter *parameter, double value, struct rm_stamp stamp);

/** For the owner alone: marks the value as not to be trusted, without changing it. The next write judges anew. */
void rm_parameter_invalidate(struct rm_parameter *parameter, struct rm_stamp stamp);

/** A stamp from a copy of the clock, without a system call: some 5 ns. */
static inline struct rm_stamp rm_stamp_of(struct rm_clock_reading const *clock, uint64_t tsc, rm_turn turn) {
    return (struct rm_stamp){rm_clock_tai_ns(clock, tsc), turn};
}

/** A stamp from the system's clock, of no turn: some 30 ns, no system call. */
struct rm_stamp rm_stamp_now(void);

/** The severity of one value, coming from `before`: a limit that was left is left by `hysteresis` more. */
enum rm_severity rm_severity_of(struct rm_limits const *limits, double value, enum rm_severity before);

/** To the other unit and back. The way back is solved between the control limits to the last bit that the polynomial
 * gives, and NaN for what lies outside of what they convert to. */
double rm_convert(struct rm_conversion const *conversion, double value);
double rm_convert_back(struct rm_conversion const *conversion, struct rm_limits const *limits, double other);

/** True when the polynomial is strictly monotone between the control limits, which must then be there where it is not
 * linear. */
bool rm_conversion_is_good(struct rm_conversion const *conversion, struct rm_limits const *limits);

#endif
