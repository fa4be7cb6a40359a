// SPDX-License-Identifier: Apache-2.0
/** The server's workspace as the gateway sees it: comes and goes, has a clock, and the frames of two rates. */
#ifndef FA_LIVE_H
#define FA_LIVE_H

#include <ringmaster/clock.h>

#include "frames.h"

enum fa_rate { FA_RATE_FULL, FA_RATE_DECIMATED, FA_RATES };

struct fa_live {
    struct fa_file const *file;
    /** NULL while there is no server. */
    struct rm_workspace *workspace;
    uint64_t generation;
    struct rm_clock const *clock;
    struct rm_clock_reading reading;
    /** Nominal; measured once the clock is anchored. */
    double turn_rate_hz;
    /** TAI − UTC that this host was told, in seconds. */
    int32_t tai_minus_utc_s;
    struct fa_frames frames[FA_RATES];
    bool has_rate[FA_RATES];
    /** Whether a client wants frames of the rate: otherwise none are made. */
    bool is_wanted[FA_RATES];
    uint64_t looked_ns;
    /** What is wrong with a server that is there, for one line of the log. */
    struct rm_error error;
};

/** Attaches where there is a server, and lets go of one that has ended: four times a second. `*changed`: what was known
 * has come or gone. */
void fa_live_look(struct fa_live *live, uint64_t now_ns, bool *changed);
void fa_live_close(struct fa_live *live);

/** Frames per second of a rate; 0 where there is none. */
double fa_live_rate_hz(struct fa_live const *live, enum fa_rate rate);

/** UTC of a turn in microseconds since 1970, by the turn clock. */
uint64_t fa_live_utc_us(struct fa_live const *live, rm_turn turn);

/** UTC of an instant of TAI, both since 1970. */
static inline uint64_t fa_utc_us(uint64_t tai_ns, int32_t tai_minus_utc_s) {
    return (uint64_t)((int64_t)(tai_ns / 1000) - (int64_t)tai_minus_utc_s * 1000000);
}

#endif
