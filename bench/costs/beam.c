// SPDX-License-Identifier: Apache-2.0
/** A turn of the virtual beam that nine instruments of two BPMs each read; then the same with electronics at all BPMs, of
 * which each case has more. */
#include <ringmaster/stream.h>

#include "cost.h"
#include "instruments/readouts.h"

enum { INSTRUMENTS = 9, BPMS = 2 * INSTRUMENTS, TURNS = 4096 };

static double const TURN_RATE_HZ = 1157000;

struct bench_beam {
    struct rm_beam_config config;
    struct rm_readout_config electronics[BPMS];
    struct rm_beam *beam;
    struct rm_readouts *readouts;
    rm_turn turn;
};

static uint64_t read_turns(void *subject) {
    struct bench_beam *bench = subject;
    for (uint32_t t = 0; t < TURNS; ++t, ++bench->turn) {
        union rm_lane const *lanes = rm_beam_turn(bench->beam, bench->turn, 0, INSTRUMENTS);
        rm_readouts_apply(bench->readouts, bench->beam, lanes, bench->turn, 0, INSTRUMENTS);
    }
    return TURNS;
}

static struct bench_beam *bench_beam_make(struct rm_readout_config const *electronics) {
    struct bench_beam *bench = bench_allocate(sizeof *bench);
    struct rm_virtual_instrument instruments[INSTRUMENTS] = {0};
    struct rm_error error = {0};
    bench->config = (struct rm_beam_config){.turn_rate_hz = TURN_RATE_HZ,
                                            .tune_x = 0.2994,
                                            .tune_y = 0.1612,
                                            .betatron_um = 5,
                                            .kick_every_turns = 1e6,
                                            .damping_turns = 1e4,
                                            .drift_period_s = 60,
                                            .noise_um = 0.5,
                                            .seed = 1};
    for (uint32_t i = 0; i < INSTRUMENTS; ++i)
        instruments[i].kind = RM_KIND_BPM;
    bench_must(rm_beam_make(&bench->config, instruments, INSTRUMENTS, &bench->beam, &error), &error);
    for (uint32_t b = 0; electronics != NULL && b < BPMS; ++b) {
        bench->electronics[b] = *electronics;
        bench->electronics[b].instrument = b / 2;
        bench->electronics[b].lane = b % 2 * 4;
    }
    if (electronics != NULL)
        bench_must(rm_readouts_make(bench->electronics, BPMS, &bench->config, bench->beam, &bench->readouts, &error),
                   &error);
    return bench;
}

static size_t beam_prepare(struct bench_case *cases) {
    struct rm_readout_config electronics = {.period_turns = 1, .noise_nm = -1, .swapped = true};
    size_t count = 0;
    cases[count++] = (struct bench_case){"beam", read_turns, bench_beam_make(NULL), NULL, NULL};
    cases[count++] = (struct bench_case){"and swapped planes", read_turns, bench_beam_make(&electronics), NULL, NULL};
    electronics.corner_hz = 10;
    cases[count++] =
        (struct bench_case){"and 1/f noise of 10 Hz", read_turns, bench_beam_make(&electronics), NULL, NULL};
    electronics.glitch_per_s = 1;
    electronics.glitch_nm = 1e4;
    cases[count++] = (struct bench_case){"and glitches", read_turns, bench_beam_make(&electronics), NULL, NULL};
    electronics.adc_bits = 24;
    electronics.adc_range_nm = 1e7;
    cases[count++] = (struct bench_case){"and an ADC", read_turns, bench_beam_make(&electronics), NULL, NULL};
    return count;
}

struct bench_cost const beam_cost = {.name = "beam",
                                     .about = "to read a turn of the virtual beam by nine instruments",
                                     .rounds = 15,
                                     .unit = "ns a turn of nine instruments",
                                     .unit_ns = 1,
                                     .prepare = beam_prepare};
