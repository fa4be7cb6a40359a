// SPDX-License-Identifier: Apache-2.0
#include "calibration/compiled.h"

static float straighten_compiled(struct rm_calibration_compiled const *compiled, uint32_t i, float own, float other) {
    float const own2 = own * own, other2 = other * other;
    float const own_part =
        own2 * ((compiled->k[RM_K30][i] + own2 * compiled->k[RM_K50][i]) + other2 * compiled->k[RM_K32][i]);
    float const other_part = other2 * (compiled->k[RM_K12][i] + other2 * compiled->k[RM_K14][i]);
    return own * ((compiled->k[RM_K10][i] + own_part) + other_part);
}

/** Steps 1 and 2. */
static void apply_orders(struct rm_calibration_compiled const *compiled, float value[RM_LANES]) {
    float linear[RM_LANES];
    for (uint32_t i = 0; i < RM_LANES; ++i) {
        float const r = value[i];
        linear[i] = compiled->c[0][i] + r * (compiled->c[1][i] + r * (compiled->c[2][i] + r * compiled->c[3][i]));
    }
    for (uint32_t i = 0; i < RM_LANES; ++i)
        value[i] = straighten_compiled(compiled, i, linear[i], linear[compiled->partner[i]]);
}

void rm_calibrate_record(struct rm_calibration_compiled const *compiled, struct rm_record *record) {
    float value[RM_LANES];
    for (uint32_t i = 0; i < RM_LANES; ++i) {
        union rm_lane const lane = record->lane[i];
        value[i] = (compiled->floats >> i & 1u) != 0 ? lane.f : (float)lane.i;
    }
    if (!compiled->affine)
        apply_orders(compiled, value);
    for (uint32_t i = 0; i < RM_LANES; ++i) {
        float const partner = value[compiled->partner[i]];
        if ((compiled->calibrated >> i & 1u) != 0)
            record->lane[i].f =
                (compiled->gain[i] * value[i] + compiled->partner_gain[i] * partner) + compiled->offset[i];
    }
}
