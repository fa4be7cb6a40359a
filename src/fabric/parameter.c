// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/parameter.h>

#include <string.h>

#include "base/timebase.h"
#include "fabric/sequence_lock.h"

static _Atomic uint64_t const *values_of(struct rm_parameter const *parameter) {
    return (_Atomic uint64_t const *)((uint8_t const *)parameter + parameter->values_offset);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

void rm_parameter_write(struct rm_parameter *parameter, void const *values, size_t bytes, struct rm_stamp stamp) {
    _Atomic uint64_t *word = (_Atomic uint64_t *)((uint8_t *)parameter + parameter->values_offset);
    size_t const wanted = smaller(bytes, parameter->value_bytes);
    rm_sequence_begin(&parameter->sequence);
    for (size_t done = 0; done < wanted; done += sizeof(uint64_t)) {
        uint64_t value = 0;
        memcpy(&value, (uint8_t const *)values + done, smaller(sizeof value, wanted - done));
        atomic_store_explicit(word++, value, memory_order_relaxed);
    }
    atomic_store_explicit(&parameter->timestamp_tai_ns, stamp.tai_ns, memory_order_relaxed);
    atomic_store_explicit(&parameter->turn, stamp.turn, memory_order_relaxed);
    rm_sequence_end(&parameter->sequence);
}

void rm_parameter_write_f64(struct rm_parameter *parameter, double value, struct rm_stamp stamp) {
    rm_parameter_write(parameter, &value, sizeof value, stamp);
}

size_t rm_parameter_read(struct rm_parameter const *parameter, void *values, size_t bytes,
                         struct rm_parameter_reading *reading) {
    _Atomic uint64_t const *word = values_of(parameter);
    size_t const wanted = smaller(bytes, parameter->value_bytes);
    for (int tries = 0; tries < RM_SEQUENCE_COPIES; ++tries) {
        uint64_t seen;
        if (!rm_sequence_enter(&parameter->sequence, &seen))
            return 0;
        for (size_t done = 0; done < wanted; done += sizeof(uint64_t)) {
            uint64_t const value = atomic_load_explicit(&word[done / sizeof(uint64_t)], memory_order_relaxed);
            memcpy((uint8_t *)values + done, &value, smaller(sizeof value, wanted - done));
        }
        *reading = (struct rm_parameter_reading){
            .sequence = seen,
            .timestamp_tai_ns = atomic_load_explicit(&parameter->timestamp_tai_ns, memory_order_relaxed),
            .turn = atomic_load_explicit(&parameter->turn, memory_order_relaxed),
            .severity = (enum rm_severity)atomic_load_explicit(&parameter->severity, memory_order_relaxed),
        };
        if (rm_sequence_leave(&parameter->sequence, seen))
            return parameter->value_bytes;
    }
    return 0;
}

struct rm_stamp rm_stamp_now(void) {
    return (struct rm_stamp){rm_tai_ns(), RM_TURN_NONE};
}
