// SPDX-License-Identifier: Apache-2.0
/** Parameters: named typed values and arrays, with unit, limits, time stamp, turn and one owner.
 *
 *     double current;
 *     struct rm_parameter_reading when;
 *     rm_parameter_read(parameter, &current, sizeof current, &when);              // any process
 *     rm_parameter_write(parameter, &current, sizeof current, rm_stamp_of(&clock, tsc, turn)); // its owner
 *
 * The owner of the segment writes. Every other process reads, consistently and without a system call. A process that
 * wants another value asks the owner for it: request.h. The unit, the description, the element type and the shape stand
 * in the directory (struct rm_object).
 *
 * Memory ordering: the sequence lock of clock.h. `sequence` is odd while the values change, and grows by two per
 * change, so a reader that keeps the last one knows how many changes it missed. The reader's acquire load of an even
 * `sequence` pairs with the release store that ends a write; its acquire fence after the copy pairs with the release
 * fence that begins a write (src/fabric/sequence_lock.h). All words between are relaxed.
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

/** How far a value is from what it should be, as in EPICS. */
enum rm_severity {
    RM_SEVERITY_NONE = 0,
    RM_SEVERITY_MINOR = 1,
    RM_SEVERITY_MAJOR = 2,
    /** The value is not a number, or its owner marked it as invalid. */
    RM_SEVERITY_INVALID = 3,
};

/** Limits, in the parameter's unit. A limit that is NaN does not exist. */
struct rm_limits {
    /** Range of a gauge that shows the value. */
    double display_low, display_high;
    /** Range that a request must keep. */
    double control_low, control_high;
    /** A value outside of this range has RM_SEVERITY_MINOR. */
    double minor_low, minor_high;
    /** A value outside of this range has RM_SEVERITY_MAJOR. */
    double major_low, major_high;
    /** How far a value must come back within a limit before the severity falls. */
    double hysteresis;
};

/** The same quantity in another unit: other = c[0] + c[1]·v + c[2]·v² + c[3]·v³, where v is in the parameter's unit.
 * The polynomial is strictly monotone over the control limits, which is checked when the parameter is added, so it can
 * be inverted. An empty unit means that there is no conversion. */
struct rm_conversion {
    /** Unit of the other quantity: "µrad". */
    char unit[RM_UNIT_BYTES];
    /** Coefficients: c[n] is in the other unit per (parameter's unit)ⁿ. */
    double c[4];
};

/** What a parameter is. Several may be set. */
enum rm_parameter_flags {
    /** Other processes may ask for it to be set. */
    RM_PARAMETER_WRITABLE = 1,
    /** It is a choice, not a reading: `ringmaster save` keeps it. */
    RM_PARAMETER_SETTING = 2,
    /** It has a minor or major limit. The library sets this flag. */
    RM_PARAMETER_ALARMS = 4,
};

/** Bytes of values that fit into the cache line of the sequence. */
enum { RM_PARAMETER_INLINE_BYTES = 32 };

/** The head of a parameter object. The values lie at `values_offset`, packed, in 8-byte words: in `value` where they
 * fit, else behind the struct. All members before `sequence` are constant. */
struct rm_parameter {
    /** Bytes from the start of this struct to the values. */
    uint64_t values_offset;
    /** Number of elements. */
    uint64_t count;
    /** Bytes of all values: `count` times the bytes of an element. */
    uint64_t value_bytes;
    /** Limits, in the parameter's unit. */
    struct rm_limits limits;
    /** Another unit for the same quantity. */
    struct rm_conversion conversion;
    /** enum rm_parameter_flags */
    uint64_t flags;
    /** enum rm_element_type, as in the directory. */
    uint64_t element_type;
    /** Name of the group object whose members change together with it, or "". */
    char group[RM_NAME_BYTES];
    /** Owner of the segment, which answers requests. */
    char owner[RM_OWNER_BYTES];

    uint64_t reserved[4];

    /** Odd while the members below change. Two more per change. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence;
    /** When the last change was: nanoseconds of TAI since 1970-01-01. */
    _Atomic uint64_t timestamp_tai_ns;
    /** Turn that the last change belongs to, or RM_TURN_NONE. */
    _Atomic uint64_t turn;
    /** enum rm_severity. Of an array it is that of the worst element. */
    _Atomic uint64_t severity;
    /** The values, where they fit. */
    _Atomic uint64_t value[RM_PARAMETER_INLINE_BYTES / 8];
};

/** When a change was: nanoseconds of TAI since 1970-01-01, and the turn that it belongs to, or RM_TURN_NONE. */
struct rm_stamp {
    uint64_t tai_ns;
    rm_turn turn;
};

/** A consistent copy of everything but the values. */
struct rm_parameter_reading {
    /** An even number. (new − old) / 2 changes lie between two readings. */
    uint64_t sequence;

    uint64_t timestamp_tai_ns;
    rm_turn turn;
    enum rm_severity severity;
};

/** Copies at most `bytes` bytes of values to `values`, and to `reading` when they were set. Returns the number of bytes
 * that the parameter has, or 0 when its writer was killed inside a change. It waits while the writer is inside a
 * change, a tenth of a second at most. */
size_t rm_parameter_read(struct rm_parameter const *parameter, void *values, size_t bytes,
                         struct rm_parameter_reading *reading);

/** The same for readers who have checked where the values lie, and how many bytes they are, when they attached: what
 * memory of another process says of itself later is not to be trusted. `values` is in that memory, `copy` the caller's.
 * Returns `bytes`, or 0. */
size_t rm_parameter_copy(struct rm_parameter const *parameter, void const *values, size_t bytes, void *copy,
                         struct rm_parameter_reading *reading);

/** As rm_parameter_read for real-time threads: it never sleeps. Returns 0 also where the writer has just lost its core inside a
 * change; `values` are none then. */
size_t rm_parameter_look(struct rm_parameter const *parameter, void *values, size_t bytes,
                         struct rm_parameter_reading *reading);

/** Reads one double, and nothing else: the fastest way. Of an array it is the first element. An element of another type
 * is converted to double, which takes longer. NaN when the writer was killed inside a change. */
double rm_parameter_read_f64(struct rm_parameter const *parameter);

/** Writes `bytes` ≤ value_bytes bytes of values, judges their severity, and stamps the change. For the owner alone,
 * from one thread. A NaN is RM_SEVERITY_INVALID; where there are alarms the limits decide. Control limits are not
 * applied: they bind requests, not the owner. An array leaves an alarm when all its elements have come back by the
 * hysteresis. */
void rm_parameter_write(struct rm_parameter *parameter, void const *values, size_t bytes, struct rm_stamp stamp);

/** Writes one double. For an element of another type it is rounded and clamped to the range of that type. */
void rm_parameter_write_f64(struct rm_parameter *parameter, double value, struct rm_stamp stamp);

/** Marks the value as RM_SEVERITY_INVALID, without changing it. For the owner alone. The next write judges anew. */
void rm_parameter_invalidate(struct rm_parameter *parameter, struct rm_stamp stamp);

/** A stamp of `tsc` by a copy of the clock. No system call; some 5 ns. */
static inline struct rm_stamp rm_stamp_of(struct rm_clock_reading const *clock, uint64_t tsc, rm_turn turn) {
    return (struct rm_stamp){rm_clock_tai_ns(clock, tsc), turn};
}

/** A stamp of now by the system's clock, without a turn. No system call; some 30 ns. */
struct rm_stamp rm_stamp_now(void);

/** The severity of one value after `before`. A value that was outside of a limit must come back by `hysteresis`. */
enum rm_severity rm_severity_of(struct rm_limits const *limits, double value, enum rm_severity before);

/** Converts to the other unit, and back. The way back is solved between the control limits, to the last bit that the
 * polynomial gives. It is NaN for a value that lies outside of what the control limits convert to. */
double rm_convert(struct rm_conversion const *conversion, double value);
double rm_convert_back(struct rm_conversion const *conversion, struct rm_limits const *limits, double other);

/** True when the polynomial is strictly monotone between the control limits. A polynomial that is not linear needs both
 * control limits. */
bool rm_conversion_is_good(struct rm_conversion const *conversion, struct rm_limits const *limits);

#endif
