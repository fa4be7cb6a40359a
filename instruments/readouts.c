// SPDX-License-Identifier: Apache-2.0
#include "readouts.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "noise.h"

enum { PLANES = 2, KEY_READOUT = 13 << 20, KEY_GLITCH = 14 << 20 };

static double const READS_NM = 2e9;         /**< what an i32 holds */
static double const FLICKER_MATTERS = 1e-3; /**< beside the density of the white noise */

/** One plane's 1/f noise. `left[k]` is the sum of the octaves from k on, as of reading `reading`. */
struct flicker {
    uint64_t key, reading;
    double left[RM_READOUT_OCTAVES + 1];
};

struct readout {
    struct rm_readout_config const *config;
    /** RMS of each octave, in nm; and the fastest octave that matters beside the white noise. */
    double octave_nm;
    uint32_t first_octave;
    uint64_t glitch_key;
    /** Of 2^64. */
    uint64_t glitch_share;
    struct flicker flicker[PLANES];
};

struct rm_readouts {
    uint32_t count;
    struct readout readout[];
};

bool rm_readout_matters(struct rm_readout_config const *config) {
    return config->noise_nm >= 0 || config->corner_hz > 0 || config->glitch_per_s > 0 || config->adc_bits != 0 ||
           config->inverted != 0 || config->swapped;
}

static double white_nm(struct rm_readout_config const *config, struct rm_beam_config const *of) {
    return config->noise_nm >= 0 ? config->noise_nm : 1e3 * of->noise_um;
}

/** Octave k is of frequencies around rate / 2^(k+1), where 1/f noise is corner_hz · 2^(k+1) / rate of the white. */
static uint32_t fastest_octave(struct rm_readout_config const *config, struct rm_beam_config const *of) {
    double share = 2 * config->corner_hz * config->period_turns / of->turn_rate_hz;
    uint32_t octave = 0;
    for (; share < FLICKER_MATTERS && octave < RM_READOUT_OCTAVES - 1; share *= 2)
        ++octave;
    return octave;
}

static struct readout readout_of(struct rm_readout_config const *config, struct rm_beam_config const *of) {
    uint64_t const place = (uint64_t)config->instrument * RM_LANES + config->lane;
    double const share = config->glitch_per_s * config->period_turns / of->turn_rate_hz;
    struct readout readout = {
        .config = config,
        .octave_nm = white_nm(config, of) * sqrt(2 * M_LN2 * config->corner_hz / of->turn_rate_hz),
        .first_octave = fastest_octave(config, of),
        .glitch_key = rm_noise_u64(of->seed) ^ rm_noise_u64(KEY_GLITCH + place),
        .glitch_share = share < 1 ? (uint64_t)ldexp(share, 64) : UINT64_MAX,
    };
    for (uint32_t plane = 0; plane < PLANES; ++plane) {
        readout.flicker[plane].key = rm_noise_u64(of->seed) ^ rm_noise_u64(KEY_READOUT + place + plane);
        readout.flicker[plane].reading = UINT64_MAX;
    }
    return readout;
}

enum rm_code rm_readouts_make(struct rm_readout_config const *config, uint32_t count, struct rm_beam_config const *of,
                              struct rm_beam *beam, struct rm_readouts **readouts, struct rm_error *error) {
    struct rm_readouts *made = malloc(sizeof *made + count * sizeof made->readout[0]);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the electronics of %u BPMs", count);
    made->count = count;
    for (uint32_t r = 0; r < count; ++r) {
        made->readout[r] = readout_of(&config[r], of);
        for (uint32_t plane = 0; plane < PLANES && config[r].noise_nm >= 0; ++plane)
            rm_beam_noise(beam, config[r].instrument, config[r].lane + plane, config[r].noise_nm);
    }
    *readouts = made;
    return RM_OK;
}

void rm_readouts_free(struct rm_readouts *readouts) { free(readouts); }

/** Octaves up to the highest bit that differs from the last reading are new; those above stand. */
static double flicker_at(struct flicker *flicker, uint64_t reading, uint32_t first) {
    uint64_t const changed = reading ^ flicker->reading;
    uint32_t octave = changed == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(changed);
    octave = octave < RM_READOUT_OCTAVES ? octave : RM_READOUT_OCTAVES;
    while (octave-- > first)
        flicker->left[octave] =
            flicker->left[octave + 1] + rm_noise_normal(flicker->key ^ rm_noise_u64((reading >> octave) * 64 + octave));
    flicker->reading = reading;
    return flicker->left[first];
}

static double clamped(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

static void add_glitch(struct readout const *readout, uint64_t reading, double position[PLANES]) {
    uint64_t const random = rm_noise_u64(readout->glitch_key ^ rm_noise_u64(reading));
    if (random >= readout->glitch_share)
        return;
    uint64_t const signs = rm_noise_u64(random);
    position[0] += (signs & 1) != 0 ? readout->config->glitch_nm : -readout->config->glitch_nm;
    position[1] += (signs & 2) != 0 ? readout->config->glitch_nm : -readout->config->glitch_nm;
}

static double converted(struct rm_readout_config const *config, double nm) {
    double const half = (double)(1ull << (config->adc_bits - 1)), quantum = config->adc_range_nm / half;
    return quantum * (double)lrint(clamped(nm / quantum, -half, half - 1));
}

static void read_position(struct readout *readout, rm_turn turn, double position[PLANES]) {
    struct rm_readout_config const *config = readout->config;
    uint64_t const reading = turn / config->period_turns;
    if (config->swapped) {
        double const x = position[0];
        position[0] = position[1];
        position[1] = x;
    }
    position[0] = (config->inverted & RM_READOUT_X) != 0 ? -position[0] : position[0];
    position[1] = (config->inverted & RM_READOUT_Y) != 0 ? -position[1] : position[1];
    for (uint32_t plane = 0; plane < PLANES && readout->octave_nm > 0; ++plane)
        position[plane] += readout->octave_nm * flicker_at(&readout->flicker[plane], reading, readout->first_octave);
    if (readout->glitch_share != 0)
        add_glitch(readout, reading, position);
    for (uint32_t plane = 0; plane < PLANES && config->adc_bits != 0; ++plane)
        position[plane] = converted(config, position[plane]);
}

/** The first read-out of instrument `first`, or of one behind it. */
static uint32_t first_readout(struct rm_readouts const *readouts, uint32_t first) {
    uint32_t low = 0, high = readouts->count;
    while (low < high) {
        uint32_t const middle = (low + high) / 2;
        if (readouts->readout[middle].config->instrument < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void rm_readouts_apply(struct rm_readouts *readouts, struct rm_beam *beam, union rm_lane const *values, rm_turn turn,
                       uint32_t first, uint32_t count) {
    if (readouts == NULL)
        return;
    for (uint32_t r = first_readout(readouts, first); r < readouts->count; ++r) {
        struct rm_readout_config const *config = readouts->readout[r].config;
        if (config->instrument - first >= count)
            return;
        union rm_lane const *lane = &values[(config->instrument - first) * RM_LANES + config->lane];
        double position[PLANES] = {lane[0].i, lane[1].i};
        read_position(&readouts->readout[r], turn, position);
        for (uint32_t plane = 0; plane < PLANES; ++plane)
            rm_beam_add(beam, config->instrument, config->lane + plane,
                        (int32_t)(lrint(clamped(position[plane], -READS_NM, READS_NM)) - lane[plane].i));
    }
}
