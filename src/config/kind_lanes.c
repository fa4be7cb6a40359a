// SPDX-License-Identifier: Apache-2.0
#include "config/kind_lanes.h"

#include <stddef.h>

/* One electronics reads two beam position monitors. q is the quadrupole signal. */
static struct rm_kind_lane const bpm[] = {
    {"x1", "nm", RM_REDUCE_FIR},       {"y1", "nm", RM_REDUCE_FIR}, {"sum1", "counts", RM_REDUCE_FIR},
    {"q1", "nm", RM_REDUCE_FIR},       {"x2", "nm", RM_REDUCE_FIR}, {"y2", "nm", RM_REDUCE_FIR},
    {"sum2", "counts", RM_REDUCE_FIR}, {"q2", "nm", RM_REDUCE_FIR},
};

/* One electronics reads ten scintillators. */
static struct rm_kind_lane const blm[] = {
    {"loss1", "counts", RM_REDUCE_FIR},  {"loss2", "counts", RM_REDUCE_FIR}, {"loss3", "counts", RM_REDUCE_FIR},
    {"loss4", "counts", RM_REDUCE_FIR},  {"loss5", "counts", RM_REDUCE_FIR}, {"loss6", "counts", RM_REDUCE_FIR},
    {"loss7", "counts", RM_REDUCE_FIR},  {"loss8", "counts", RM_REDUCE_FIR}, {"loss9", "counts", RM_REDUCE_FIR},
    {"loss10", "counts", RM_REDUCE_FIR},
};

static struct rm_kind_lane const llrf[] = {
    {"cavity_phase", "µrad", RM_REDUCE_FIR},    {"cavity_amp", "V", RM_REDUCE_FIR},
    {"forward_phase", "µrad", RM_REDUCE_FIR},   {"forward_amp", "V", RM_REDUCE_FIR},
    {"reflected_phase", "µrad", RM_REDUCE_FIR}, {"reflected_amp", "V", RM_REDUCE_FIR},
    {"detuning", "Hz", RM_REDUCE_FIR},          {"beam_phase", "µrad", RM_REDUCE_FIR},
};

static struct rm_kind_lane const photon_bpm[] = {
    {"x", "nm", RM_REDUCE_FIR}, {"y", "nm", RM_REDUCE_FIR}, {"sum", "counts", RM_REDUCE_FIR}};

/* loss_turn is the turn of the last beam loss, its low 32 bits; -1: there was none. */
static struct rm_kind_lane const interlock[] = {{"flags", "bits", RM_REDUCE_OR},
                                                {"permits", "bits", RM_REDUCE_AND},
                                                {"loss_turn", "turn", RM_REDUCE_LAST},
                                                {"current", "µA", RM_REDUCE_FIR}};

static struct rm_kind_lane const power_supply[] = {
    {"setpoint", "µA", RM_REDUCE_FIR}, {"readback", "µA", RM_REDUCE_FIR}, {"status", "bits", RM_REDUCE_OR}};

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
    case RM_KIND_APPLICATION:
        break; // no instrument sends that
    }
    *count = 0;
    return NULL;
}
