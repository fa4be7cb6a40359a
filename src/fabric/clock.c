// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/clock.h>

#include <string.h>

#include "fabric/clock_writer.h"
#include "fabric/sequence_lock.h"

static uint64_t bits(double value) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static double value_of(uint64_t word) {
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static void put(_Atomic uint64_t *word, uint64_t value) { atomic_store_explicit(word, value, memory_order_relaxed); }

static uint64_t get(_Atomic uint64_t const *word) { return atomic_load_explicit(word, memory_order_relaxed); }

void rm_clock_publish(struct rm_clock *clock, struct rm_clock_reading const *reading) {
    rm_sequence_begin(&clock->sequence);
    put(&clock->anchored, reading->anchored);
    put(&clock->turn_epoch, reading->turn_epoch);
    put(&clock->turn, reading->turn);
    put(&clock->turn_tsc, reading->turn_tsc);
    put(&clock->ticks_per_turn_bits, bits(reading->ticks_per_turn));
    put(&clock->residual_ticks_bits, bits(reading->residual_ticks));
    put(&clock->tsc_hz_bits, bits(reading->tsc_hz));
    put(&clock->tai_tsc, reading->tai_tsc);
    put(&clock->tai_ns, reading->tai_ns);
    put(&clock->measured_ticks_per_turn_bits, bits(reading->measured_ticks_per_turn));
    put(&clock->supported, reading->supported);
    rm_sequence_end(&clock->sequence);
}

bool rm_clock_read(struct rm_clock const *clock, struct rm_clock_reading *reading) {
    for (int tries = 0; tries < RM_SEQUENCE_COPIES; ++tries) {
        uint64_t seen;
        if (!rm_sequence_enter(&clock->sequence, &seen))
            return false;
        *reading = (struct rm_clock_reading){
            .anchored = get(&clock->anchored) != 0,
            .turn_epoch = get(&clock->turn_epoch),
            .turn = get(&clock->turn),
            .turn_tsc = get(&clock->turn_tsc),
            .ticks_per_turn = value_of(get(&clock->ticks_per_turn_bits)),
            .residual_ticks = value_of(get(&clock->residual_ticks_bits)),
            .tsc_hz = value_of(get(&clock->tsc_hz_bits)),
            .tai_tsc = get(&clock->tai_tsc),
            .tai_ns = get(&clock->tai_ns),
            .measured_ticks_per_turn = value_of(get(&clock->measured_ticks_per_turn_bits)),
            .supported = get(&clock->supported) != 0,
        };
        if (rm_sequence_leave(&clock->sequence, seen))
            return true;
    }
    return false;
}

rm_turn rm_clock_turn(struct rm_clock_reading const *reading, uint64_t tsc) {
    double const turns = __builtin_floor((double)(int64_t)(tsc - reading->turn_tsc) / reading->ticks_per_turn);
    bool const before_zero = turns < 0.0 && -turns > (double)reading->turn;
    return before_zero ? 0 : reading->turn + (uint64_t)(int64_t)turns;
}

uint64_t rm_clock_tsc(struct rm_clock_reading const *reading, rm_turn turn) {
    double const ticks = (double)(int64_t)(turn - reading->turn) * reading->ticks_per_turn;
    return reading->turn_tsc + (uint64_t)(int64_t)__builtin_rint(ticks);
}

uint64_t rm_clock_tai_ns(struct rm_clock_reading const *reading, uint64_t tsc) {
    double const ns = (double)(int64_t)(tsc - reading->tai_tsc) * 1e9 / reading->tsc_hz;
    return reading->tai_ns + (uint64_t)(int64_t)__builtin_rint(ns);
}
