// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/calibration.h>

#include <math.h>
#include <string.h>

static void find_calibrated_bpms(struct rm_calibration *calibration, struct rm_lane_info const *lanes,
                                 uint32_t lane_count) {
    uint32_t count = 0;
    for (uint32_t x = 0; x < lane_count; ++x) {
        char const *const name = lanes[x].name;
        if (name[0] != 'x' || name[1 + strspn(name + 1, "0123456789")] != '\0')
            continue;
        for (uint32_t y = 0; y < lane_count && count < RM_CALIBRATION_BPMS; ++y)
            if (lanes[y].name[0] == 'y' && strcmp(lanes[y].name + 1, name + 1) == 0) {
                calibration->bpm[count].x_lane = x;
                calibration->bpm[count].y_lane = y;
                ++count;
            }
    }
    calibration->bpm_count = count;
}

void rm_calibration_identity(struct rm_calibration *calibration, struct rm_lane_info const *lanes,
                             uint32_t lane_count) {
    *calibration = (struct rm_calibration){.version = RM_CALIBRATION_VERSION};
    for (uint32_t i = 0; i < RM_LANES; ++i)
        calibration->lane[i].c[1] = 1;
    for (uint32_t b = 0; b < RM_CALIBRATION_BPMS; ++b)
        calibration->bpm[b].x.k[RM_K10] = calibration->bpm[b].y.k[RM_K10] = 1;
    find_calibrated_bpms(calibration, lanes, lane_count);
}

/** A whole number below `end`. */
static bool is_below(double value, double end) { return value >= 0 && value < end && value == floor(value); }

bool rm_calibration_is_good(struct rm_calibration const *calibration) {
    double value[RM_CALIBRATION_VALUES];
    memcpy(value, calibration, sizeof value);
    for (uint32_t i = 0; i < RM_CALIBRATION_VALUES; ++i)
        if (!isfinite(value[i]))
            return false;
    if (calibration->version != RM_CALIBRATION_VERSION || !is_below(calibration->bpm_count, RM_CALIBRATION_BPMS + 1) ||
        !is_below(calibration->calibrated_lanes, 1 << RM_LANES))
        return false;
    for (uint32_t b = 0; b < (uint32_t)calibration->bpm_count; ++b) {
        struct rm_calibration_bpm const *bpm = &calibration->bpm[b];
        if (!is_below(bpm->x_lane, RM_LANES) || !is_below(bpm->y_lane, RM_LANES) || bpm->x_lane == bpm->y_lane)
            return false;
    }
    return true;
}

static double lane_polynomial(struct rm_calibration_lane const *lane, double raw) {
    return lane->c[0] + raw * (lane->c[1] + raw * (lane->c[2] + raw * lane->c[3]));
}

/** Step 2 of the plane of `own`, then step 3. */
static double straighten_plane(struct rm_calibration_plane const *plane, double own, double other) {
    double const *k = plane->k;
    double const own2 = own * own, other2 = other * other;
    double const factor = k[RM_K10] + own2 * (k[RM_K30] + own2 * k[RM_K50] + other2 * k[RM_K32]) +
                          other2 * (k[RM_K12] + other2 * k[RM_K14]);
    return own * factor - plane->electrical_offset;
}

static void calibrate_bpm(struct rm_calibration_bpm const *bpm, double *out) {
    double *const x = &out[(uint32_t)bpm->x_lane], *const y = &out[(uint32_t)bpm->y_lane];
    double const straight_x = straighten_plane(&bpm->x, *x, *y), straight_y = straighten_plane(&bpm->y, *y, *x);
    double const cosine = cos(bpm->roll_rad), sine = sin(bpm->roll_rad);
    *x = straight_x * cosine - straight_y * sine - bpm->x.mechanical_offset;
    *y = straight_x * sine + straight_y * cosine - bpm->y.mechanical_offset;
}

void rm_calibrate(struct rm_calibration const *calibration, struct rm_record const *record,
                  struct rm_lane_info const *lanes, double out[RM_LANES]) {
    for (uint32_t i = 0; i < RM_LANES; ++i) {
        out[i] = 0;
        if (lanes[i].type == RM_LANE_UNUSED)
            continue;
        out[i] = lanes[i].type == RM_LANE_F32 ? (double)record->lane[i].f : (double)record->lane[i].i;
        if (rm_calibration_has_lane(calibration, i))
            out[i] = lane_polynomial(&calibration->lane[i], out[i]);
    }
    for (uint32_t b = 0; b < (uint32_t)calibration->bpm_count; ++b)
        if (rm_calibration_has_lane(calibration, (uint32_t)calibration->bpm[b].x_lane))
            calibrate_bpm(&calibration->bpm[b], out);
}

void rm_calibrate_window(struct rm_calibration const *calibration, struct rm_record const *records, size_t count,
                         struct rm_lane_info const *lanes, double (*out)[RM_LANES]) {
    for (size_t i = 0; i < count; ++i) {
        if (records[i].turn != RM_TURN_NONE) {
            rm_calibrate(calibration, &records[i], lanes, out[i]);
            continue;
        }
        for (uint32_t lane = 0; lane < RM_LANES; ++lane)
            out[i][lane] = NAN;
    }
}
