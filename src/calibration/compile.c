// SPDX-License-Identifier: Apache-2.0
#include "calibration/compiled.h"

#include <math.h>
#include <string.h>

static bool is_affine(struct rm_calibration const *calibration) {
    for (uint32_t i = 0; i < RM_LANES; ++i)
        if (calibration->lane[i].c[2] != 0 || calibration->lane[i].c[3] != 0)
            return false;
    for (uint32_t b = 0; b < (uint32_t)calibration->bpm_count; ++b)
        for (uint32_t order = RM_K10 + 1; order < RM_K_COUNT; ++order)
            if (calibration->bpm[b].x.k[order] != 0 || calibration->bpm[b].y.k[order] != 0)
                return false;
    return true;
}

/** Steps 3 to 5 of one plane: the part of the other plane has the factor `sine`. */
static void set_plane(struct rm_calibration_compiled *compiled, struct rm_calibration_bpm const *bpm,
                      struct rm_calibration_plane const *own, struct rm_calibration_plane const *other, uint32_t lane,
                      double sine) {
    double const cosine = cos(bpm->roll_rad);
    compiled->gain[lane] = (float)cosine;
    compiled->partner_gain[lane] = (float)sine;
    compiled->offset[lane] =
        (float)(-cosine * own->electrical_offset - sine * other->electrical_offset - own->mechanical_offset);
    for (uint32_t order = 0; order < RM_K_COUNT; ++order)
        compiled->k[order][lane] = (float)own->k[order];
}

static void set_bpm(struct rm_calibration_compiled *compiled, struct rm_calibration_bpm const *bpm) {
    uint32_t const x = (uint32_t)bpm->x_lane, y = (uint32_t)bpm->y_lane;
    double const sine = sin(bpm->roll_rad);
    compiled->partner[x] = y;
    compiled->partner[y] = x;
    set_plane(compiled, bpm, &bpm->x, &bpm->y, x, -sine);
    set_plane(compiled, bpm, &bpm->y, &bpm->x, y, sine);
}

static void compile_lane(struct rm_calibration_compiled *compiled, struct rm_calibration const *calibration,
                         struct rm_lane_info const *lanes, uint32_t lane) {
    compiled->partner[lane] = lane;
    compiled->gain[lane] = 1;
    compiled->k[RM_K10][lane] = 1;
    for (uint32_t order = 0; order < 4; ++order)
        compiled->c[order][lane] = (float)calibration->lane[lane].c[order];
    if (lanes[lane].type == RM_LANE_F32)
        compiled->floats |= (uint16_t)(1u << lane);
    if (rm_calibration_has_lane(calibration, lane))
        compiled->calibrated |= (uint16_t)(1u << lane);
}

/** All five steps of one BPM as one affine function, worked out in double precision. */
static void fold_bpm(struct rm_calibration_compiled *compiled, struct rm_calibration const *calibration,
                     struct rm_calibration_bpm const *bpm) {
    uint32_t const lane[2] = {(uint32_t)bpm->x_lane, (uint32_t)bpm->y_lane};
    double const *c[2] = {calibration->lane[(uint32_t)bpm->x_lane].c, calibration->lane[(uint32_t)bpm->y_lane].c};
    struct rm_calibration_plane const *plane[2] = {&bpm->x, &bpm->y};
    double const cosine = cos(bpm->roll_rad), sine = sin(bpm->roll_rad);
    for (int own = 0; own < 2; ++own) {
        int const other = 1 - own;
        double const mix = own == 0 ? -sine : sine;
        double const own_k = plane[own]->k[RM_K10], other_k = plane[other]->k[RM_K10];
        compiled->gain[lane[own]] = (float)(cosine * own_k * c[own][1]);
        compiled->partner_gain[lane[own]] = (float)(mix * other_k * c[other][1]);
        compiled->offset[lane[own]] =
            (float)(cosine * (own_k * c[own][0] - plane[own]->electrical_offset) +
                    mix * (other_k * c[other][0] - plane[other]->electrical_offset) - plane[own]->mechanical_offset);
    }
}

/** For own and partner as they came. */
static void fold_calibration(struct rm_calibration_compiled *compiled, struct rm_calibration const *calibration) {
    for (uint32_t lane = 0; lane < RM_LANES; ++lane) {
        compiled->gain[lane] = (float)calibration->lane[lane].c[1];
        compiled->offset[lane] = (float)calibration->lane[lane].c[0];
    }
    for (uint32_t b = 0; b < (uint32_t)calibration->bpm_count; ++b)
        fold_bpm(compiled, calibration, &calibration->bpm[b]);
}

void rm_calibration_compile(struct rm_calibration const *calibration, struct rm_lane_info const *lanes,
                            struct rm_calibration_compiled *compiled) {
    memset(compiled, 0, sizeof *compiled);
    compiled->affine = is_affine(calibration);
    for (uint32_t lane = 0; lane < RM_LANES; ++lane)
        compile_lane(compiled, calibration, lanes, lane);
    for (uint32_t b = 0; b < (uint32_t)calibration->bpm_count; ++b)
        set_bpm(compiled, &calibration->bpm[b]);
    if (compiled->affine)
        fold_calibration(compiled, calibration);
}
