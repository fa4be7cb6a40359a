// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/clock.h>

#include <string.h>

#include "fabric/clock_writer.h"
#include "fabric/sequence_lock.h"

static uint64_t clock_rate_bits(double value) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static double clock_value_of(uint64_t word) {
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static void clock_put_word(_Atomic uint64_t *word, uint64_t value) {
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t clock_get_word(_Atomic uint64_t const *word) {
    return atomic_load_explicit(word, memory_order_relaxed);
}

void rm_clock_publish(struct rm_clock *clock, struct rm_clock_reading const *reading) {
    rm_sequence_begin(&clock->sequence);
    clock_put_word(&clock->anchored, reading->anchored);
    clock_put_word(&clock->turn_epoch, reading->turn_epoch);
    clock_put_word(&clock->turn, reading->turn);
    clock_put_word(&clock->turn_tsc, reading->turn_tsc);
    clock_put_word(&clock->ticks_per_turn_bits, clock_rate_bits(reading->ticks_per_turn));
    clock_put_word(&clock->residual_ticks_bits, clock_rate_bits(reading->residual_ticks));
    clock_put_word(&clock->tsc_hz_bits, clock_rate_bits(reading->tsc_hz));
    clock_put_word(&clock->tai_tsc, reading->tai_tsc);
    clock_put_word(&clock->tai_ns, reading->tai_ns);
    clock_put_word(&clock->measured_ticks_per_turn_bits, clock_rate_bits(reading->measured_ticks_per_turn));
    clock_put_word(&clock->supported, reading->supported);
    rm_sequence_end(&clock->sequence);
}

/** True when the copy is consistent. */
static bool copy_clock(struct rm_clock const *clock, uint64_t seen, struct rm_clock_reading *reading) {
    *reading = (struct rm_clock_reading){
        .anchored = clock_get_word(&clock->anchored) != 0,
        .turn_epoch = clock_get_word(&clock->turn_epoch),
        .turn = clock_get_word(&clock->turn),
        .turn_tsc = clock_get_word(&clock->turn_tsc),
        .ticks_per_turn = clock_value_of(clock_get_word(&clock->ticks_per_turn_bits)),
        .residual_ticks = clock_value_of(clock_get_word(&clock->residual_ticks_bits)),
        .tsc_hz = clock_value_of(clock_get_word(&clock->tsc_hz_bits)),
        .tai_tsc = clock_get_word(&clock->tai_tsc),
        .tai_ns = clock_get_word(&clock->tai_ns),
        .measured_ticks_per_turn = clock_value_of(clock_get_word(&clock->measured_ticks_per_turn_bits)),
        .supported = clock_get_word(&clock->supported) != 0,
    };
    return rm_sequence_leave(&clock->sequence, seen);
}

bool rm_clock_read(struct rm_clock const *clock, struct rm_clock_reading *reading) {
    uint64_t seen, end_ns = 0;
    for (int tries = 0; rm_sequence_may_copy(tries, &end_ns) && rm_sequence_enter(&clock->sequence, &seen); ++tries)
        if (copy_clock(clock, seen, reading))
            return true;
    return false;
}

bool rm_clock_look(struct rm_clock const *clock, struct rm_clock_reading *reading) {
    struct rm_clock_reading copy;
    uint64_t seen;
    for (int tries = 0; tries < RM_SEQUENCE_SPINS && rm_sequence_try_enter(&clock->sequence, &seen); ++tries)
        if (copy_clock(clock, seen, &copy)) {
            *reading = copy;
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
