// SPDX-License-Identifier: Apache-2.0
#include "motion.h"

#include <ringmaster/s_curve.h>

#include "law/shape.h"

static double motion_share(struct sequence_motion *motion, struct sequence_table const *tables, uint64_t turns) {
    double const x = (double)turns * motion->inverse_turns;
    switch (motion->kind) {
    case SEQUENCE_MOTION_LINEAR:
        return x;
    case SEQUENCE_MOTION_S_CURVE:
        return rm_s_curve(x);
    case SEQUENCE_MOTION_TABLE:
        return sequence_table_share(tables[motion->table].point, tables[motion->table].points, x);
    case SEQUENCE_MOTION_PULSE:
        return sequence_trapezoid((double)turns, motion->inverse_rise, motion->total_turns);
    default:
        return sequence_sine_at(&motion->sine, turns) *
               sequence_trapezoid((double)turns, motion->inverse_rise, motion->total_turns);
    }
}

uint32_t sequence_motions_step(struct sequence_motion *motion, uint32_t count, struct sequence_channels const *channels,
                               struct sequence_table const *tables, uint64_t turns, double *setpoint) {
    for (uint32_t m = 0; m < count;) {
        struct sequence_motion *const it = &motion[m];
        uint32_t const first = it->channel, end = it->channel + it->channels;
        if ((double)turns >= it->total_turns) {
            for (uint32_t c = first; c < end; ++c)
                setpoint[channels->actuator[c]] = channels->last[c];
            *it = motion[--count];
            continue;
        }
        double const share = motion_share(it, tables, turns);
        for (uint32_t c = first; c < end; ++c)
            setpoint[channels->actuator[c]] = channels->from[c] + channels->delta[c] * share;
        ++m;
    }
    return count;
}
