// SPDX-License-Identifier: Apache-2.0
#include "engine/kind_lanes.h"

#include <stddef.h>

/* One electronics reads two beam position monitors. q is the quadrupole signal. */
static struct rm_kind_lane const bpm[] = {
    {"x1", "nm"}, {"y1", "nm"}, {"sum1", "counts"}, {"q1", "nm"},
    {"x2", "nm"}, {"y2", "nm"}, {"sum2", "counts"}, {"q2", "nm"},
};

/* One electronics reads ten scintillators. */
static struct rm_kind_lane const blm[] = {
    {"loss1", "counts"}, {"loss2", "counts"}, {"loss3", "counts"}, {"loss4", "counts"}, {"loss5", "counts"},
    {"loss6", "counts"}, {"loss7", "counts"}, {"loss8", "counts"}, {"loss9", "counts"}, {"loss10", "counts"},
};

static struct rm_kind_lane const llrf[] = {
    {"cavity_phase", "µrad"},    {"cavity_amp", "V"},    {"forward_phase", "µrad"}, {"forward_amp", "V"},
    {"reflected_phase", "µrad"}, {"reflected_amp", "V"}, {"detuning", "Hz"},        {"beam_phase", "µrad"},
};

static struct rm_kind_lane const photon_bpm[] = {{"x", "nm"}, {"y", "nm"}, {"sum", "counts"}};

static struct rm_kind_lane const interlock[] = {{"flags", "bits"}, {"permits", "bits"}};

static struct rm_kind_lane const power_supply[] = {{"setpoint", "µA"}, {"readback", "µA"}, {"status", "bits"}};

struct rm_kind_lane const *rm_kind_lanes(enum rm_instrument_kind kind, uint32_t *count) {
    switch (kind) {
    case RM_KIND_BPM:
        *count = sizeof bpm / sizeof bpm[0];
        return bpm;
    case RM_KIND_BLM:
        *count = sizeof blm / sizeof blm[0];
        return blm;
    case RM_KIND_LLRF:
        *count = sizeof llrf / sizeof llrf[0];
        return llrf;
    case RM_KIND_PHOTON_BPM:
        *count = sizeof photon_bpm / sizeof photon_bpm[0];
        return photon_bpm;
    case RM_KIND_INTERLOCK:
        *count = sizeof interlock / sizeof interlock[0];
        return interlock;
    case RM_KIND_POWER_SUPPLY:
        *count = sizeof power_supply / sizeof power_supply[0];
        return power_supply;
    }
    *count = 0;
    return NULL;
}
