// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/parameter.h>

#include <math.h>
#include <string.h>

#include "base/timebase.h"
#include "fabric/element.h"
#include "fabric/parameter_parts.h"
#include "fabric/sequence_lock.h"
#include "fabric/severity.h"

static uint64_t parameter_bits(double value) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static double parameter_value_of(uint64_t word) {
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static void parameter_put_word(_Atomic uint64_t *word, uint64_t value) {
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t parameter_get_word(_Atomic uint64_t const *word) {
    return atomic_load_explicit(word, memory_order_relaxed);
}

static _Atomic uint64_t const *values_of(struct rm_parameter const *parameter) {
    return (_Atomic uint64_t const *)((uint8_t const *)parameter + parameter->values_offset);
}

static _Atomic uint64_t *own_values(struct rm_parameter *parameter) {
    return (_Atomic uint64_t *)((uint8_t *)parameter + parameter->values_offset);
}

static size_t min_bytes(size_t a, size_t b) { return a < b ? a : b; }

/** True for doubles in the line of the sequence: their place is known without asking. */
static bool inline_f64(struct rm_parameter const *parameter) {
    return parameter->element_type == RM_ELEMENT_F64 &&
           parameter->values_offset == offsetof(struct rm_parameter, value);
}

static enum rm_severity severity_before(struct rm_parameter const *parameter) {
    return (enum rm_severity)parameter_get_word(&parameter->severity);
}

/** Of one value of a parameter with alarms or without. */
static enum rm_severity parameter_severity_of(struct rm_parameter const *parameter, double value,
                                              enum rm_severity before) {
    if (parameter->flags & RM_PARAMETER_ALARMS)
        return rm_judge(&parameter->limits, value, before);
    return value != value ? RM_SEVERITY_INVALID : RM_SEVERITY_NONE;
}

/** An element in a word: of doubles it is the word. */
static double element_of(enum rm_element_type type, uint64_t word, size_t inside) {
    return type == RM_ELEMENT_F64 ? parameter_value_of(word) : rm_element_value(type, (uint8_t const *)&word + inside);
}

/** The worst element's. An array that was in alarm leaves it when all its elements have come back far enough. */
static enum rm_severity judge_all(struct rm_parameter const *parameter, enum rm_severity before) {
    enum rm_element_type const type = (enum rm_element_type)parameter->element_type;
    if ((parameter->flags & RM_PARAMETER_ALARMS) == 0 && !rm_element_floats(type))
        return RM_SEVERITY_NONE;
    _Atomic uint64_t const *word = values_of(parameter);
    size_t const each = rm_element_bytes(type);
    enum rm_severity worst = RM_SEVERITY_NONE;
    for (size_t at = 0; at + each <= parameter->value_bytes && worst < RM_SEVERITY_INVALID; at += each) {
        enum rm_severity const severity =
            parameter_severity_of(parameter, element_of(type, parameter_get_word(&word[at / 8]), at % 8), before);
        worst = severity > worst ? severity : worst;
    }
    return worst;
}

/** Some bytes of one word that others read; its other bytes stay as they are. */
static void copy_into_word(_Atomic uint64_t *word, size_t inside, uint8_t const *values, size_t bytes) {
    uint64_t value = parameter_get_word(word);
    memcpy((uint8_t *)&value + inside, values, bytes);
    parameter_put_word(word, value);
}

static void copy_in(_Atomic uint64_t *word, size_t from, uint8_t const *values, size_t bytes) {
    word += from / 8;
    size_t const head = from % 8 ? min_bytes(8 - from % 8, bytes) : 0;
    if (head > 0)
        copy_into_word(word++, from % 8, values, head);
    size_t done = head;
    for (; bytes - done >= sizeof(uint64_t); done += sizeof(uint64_t)) {
        uint64_t value;
        memcpy(&value, values + done, sizeof value);
        parameter_put_word(word++, value);
    }
    if (done < bytes)
        copy_into_word(word, 0, values + done, bytes - done);
}

static void stamp_change(struct rm_parameter *parameter, enum rm_severity severity, struct rm_stamp stamp) {
    parameter_put_word(&parameter->timestamp_tai_ns, stamp.tai_ns);
    parameter_put_word(&parameter->turn, stamp.turn);
    parameter_put_word(&parameter->severity, severity);
}

void rm_parameter_write_part(struct rm_parameter *parameter, size_t from, void const *values, size_t bytes,
                             struct rm_stamp stamp) {
    if (from > parameter->value_bytes)
        return;
    size_t const wanted = min_bytes(bytes, parameter->value_bytes - from);
    enum rm_severity const before = severity_before(parameter);
    rm_sequence_begin(&parameter->sequence);
    copy_in(own_values(parameter), from, values, wanted);
    stamp_change(parameter, judge_all(parameter, before), stamp);
    rm_sequence_end(&parameter->sequence);
}

void rm_parameter_write(struct rm_parameter *parameter, void const *values, size_t bytes, struct rm_stamp stamp) {
    rm_parameter_write_part(parameter, 0, values, bytes, stamp);
}

/** A parameter of another type, or a longer one: its first element. */
static __attribute__((noinline)) void write_other(struct rm_parameter *parameter, double value, struct rm_stamp stamp) {
    enum rm_element_type const type = (enum rm_element_type)parameter->element_type;
    uint8_t element[sizeof value] = {0};
    if (type == RM_ELEMENT_RECORD)
        return;
    rm_element_put(type, element, value);
    rm_parameter_write_part(parameter, 0, element, rm_element_bytes(type), stamp);
}

void rm_parameter_write_f64(struct rm_parameter *parameter, double value, struct rm_stamp stamp) {
    if (__builtin_expect(!inline_f64(parameter) || parameter->count != 1, 0)) {
        write_other(parameter, value, stamp);
        return;
    }
    enum rm_severity const severity = parameter_severity_of(parameter, value, severity_before(parameter));
    rm_sequence_begin(&parameter->sequence);
    parameter_put_word(&parameter->value[0], parameter_bits(value));
    stamp_change(parameter, severity, stamp);
    rm_sequence_end(&parameter->sequence);
}

void rm_parameter_invalidate(struct rm_parameter *parameter, struct rm_stamp stamp) {
    rm_sequence_begin(&parameter->sequence);
    stamp_change(parameter, RM_SEVERITY_INVALID, stamp);
    rm_sequence_end(&parameter->sequence);
}

void rm_parameter_heal(struct rm_parameter *parameter) {
    if ((parameter_get_word(&parameter->sequence) & 1) == 0)
        return;
    bool const whole = parameter->value_bytes <= sizeof(uint64_t); // one word is the old or the new one
    parameter_put_word(&parameter->severity, whole ? judge_all(parameter, RM_SEVERITY_NONE) : RM_SEVERITY_INVALID);
    rm_sequence_end(&parameter->sequence);
}

static void copy_out(uint8_t *values, _Atomic uint64_t const *word, size_t bytes) {
    for (size_t done = 0; done < bytes; done += sizeof(uint64_t)) {
        uint64_t const value = parameter_get_word(word++);
        memcpy(values + done, &value, min_bytes(sizeof value, bytes - done));
    }
}

/** True when the copy is consistent. */
static bool try_copy(struct rm_parameter const *parameter, uint64_t seen, void const *values, size_t bytes, void *copy,
                     struct rm_parameter_reading *reading) {
    copy_out(copy, values, bytes);
    *reading = (struct rm_parameter_reading){
        .sequence = seen,
        .timestamp_tai_ns = parameter_get_word(&parameter->timestamp_tai_ns),
        .turn = parameter_get_word(&parameter->turn),
        .severity = severity_before(parameter),
    };
    return rm_sequence_leave(&parameter->sequence, seen);
}

size_t rm_parameter_copy(struct rm_parameter const *parameter, void const *values, size_t bytes, void *copy,
                         struct rm_parameter_reading *reading) {
    uint64_t seen, end_ns = 0;
    for (int tries = 0; rm_sequence_may_copy(tries, &end_ns) && rm_sequence_enter(&parameter->sequence, &seen); ++tries)
        if (try_copy(parameter, seen, values, bytes, copy, reading))
            return bytes;
    return 0;
}

size_t rm_parameter_read(struct rm_parameter const *parameter, void *values, size_t bytes,
                         struct rm_parameter_reading *reading) {
    size_t const wanted = min_bytes(bytes, parameter->value_bytes);
    bool const good = rm_parameter_copy(parameter, values_of(parameter), wanted, values, reading) == wanted;
    return good ? parameter->value_bytes : 0;
}

size_t rm_parameter_look(struct rm_parameter const *parameter, void *values, size_t bytes,
                         struct rm_parameter_reading *reading) {
    size_t const wanted = min_bytes(bytes, parameter->value_bytes);
    uint64_t seen;
    for (int tries = 0; tries < RM_SEQUENCE_SPINS && rm_sequence_try_enter(&parameter->sequence, &seen); ++tries)
        if (try_copy(parameter, seen, values_of(parameter), wanted, values, reading))
            return parameter->value_bytes;
    return 0;
}

/** While it changes, or of another type: the first element as a double. */
static __attribute__((noinline)) double read_other(struct rm_parameter const *parameter) {
    uint64_t element = 0;
    struct rm_parameter_reading reading;
    size_t const each = rm_element_bytes((enum rm_element_type)parameter->element_type);
    if (each == 0 || each > sizeof element || rm_parameter_read(parameter, &element, each, &reading) < each)
        return NAN;
    return rm_element_value((enum rm_element_type)parameter->element_type, &element);
}

double rm_parameter_read_f64(struct rm_parameter const *parameter) {
    uint64_t const seen = atomic_load_explicit(&parameter->sequence, memory_order_acquire);
    uint64_t const word = parameter_get_word(&parameter->value[0]);
    bool const good = rm_sequence_leave(&parameter->sequence, seen) && (seen & 1) == 0 && inline_f64(parameter);
    return __builtin_expect(good, 1) ? parameter_value_of(word) : read_other(parameter);
}

struct rm_stamp rm_stamp_now(void) {
    return (struct rm_stamp){rm_tai_ns(), RM_TURN_NONE};
}
