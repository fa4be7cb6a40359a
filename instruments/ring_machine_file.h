// SPDX-License-Identifier: Apache-2.0
/** The key `machine` of a ring's file as libcyaml loads it; absent keys are NULL. ring_machine.c makes sense of it. */
#ifndef RM_INSTRUMENTS_RING_MACHINE_FILE_H
#define RM_INSTRUMENTS_RING_MACHINE_FILE_H

#include <stdint.h>

#include "base/yaml.h"

struct rm_ring_file_machine_errors {
    double *beta_beat, *bpm_gain, *bpm_offset_um, *bpm_roll_mrad, *bpm_crosstalk, *corrector_gain, *corrector_roll_mrad;
    double *magnet_offset_um, *magnet_roll_mrad, *sextupole, *skew_per_m;
    double *bpm_pincushion_per_mm2, *bpm_inverted, *bpm_swapped, *bpm_turn_shift;
};

struct rm_ring_file_machine_filter {
    double *delay_us, *bandwidth_hz;
};

struct rm_ring_file_machine_motion {
    double *momentum_aperture, *rf_fill_us, *saturation_um, *excitation_um;
};

enum rm_ring_file_plane { RM_RING_FILE_X, RM_RING_FILE_Y };

struct rm_ring_file_correctors {
    char *elements;
    enum rm_ring_file_plane plane;
    char *supplies;
    double urad_per_unit;
    double *eddy_hz, *eddy2_hz;
};

enum rm_ring_file_change { RM_RING_FILE_GRADIENT, RM_RING_FILE_SKEW, RM_RING_FILE_SEXTUPOLE };

struct rm_ring_file_strengths {
    char *elements;
    enum rm_ring_file_change *change;
    char *supplies;
    double per_unit;
};

struct rm_ring_file_aperture {
    char *elements;
    double *x_mm, *y_mm;
};

struct rm_ring_file_chamber {
    double *x_mm, *y_mm;
    struct rm_ring_file_aperture *apertures;
    uint32_t apertures_count;
};

struct rm_ring_file_rf {
    char *supply;
    double *hz_per_unit;
};

struct rm_ring_file_mains {
    double hz, orbit_um;
    double *phase_rad;
};

struct rm_ring_file_ground {
    double rms_nm;
    double *corner_hz;
};

struct rm_ring_file_steps {
    double urad, every_s;
};

struct rm_ring_file_insertion {
    char *at;
    double urad;
    double *ramp_s, *every_s;
};

struct rm_ring_file_topup {
    double urad, every_s;
    uint32_t *turns;
};

struct rm_ring_file_disturbances {
    struct rm_ring_file_mains *mains;
    uint32_t mains_count;
    double *mains_wander;
    struct rm_ring_file_ground *ground;
    struct rm_ring_file_steps *steps;
    struct rm_ring_file_insertion *insertion;
    struct rm_ring_file_topup *topup;
};

struct rm_ring_file_machine {
    char *lattice;
    uint64_t *seed;
    char *bpms;
    uint32_t *step_turns;
    double *refresh_ms, *blend_ms;
    double *current_ma, *lifetime_h;
    struct rm_ring_file_chamber *chamber;
    struct rm_ring_file_machine_filter *filter;
    struct rm_ring_file_machine_motion *motion;
    struct rm_ring_file_machine_errors *errors;
    struct rm_ring_file_correctors *correctors;
    uint32_t correctors_count;
    struct rm_ring_file_strengths *strengths;
    uint32_t strengths_count;
    struct rm_ring_file_rf *rf;
    struct rm_ring_file_disturbances *disturbances;
};

extern cyaml_schema_field_t const rm_ring_machine_fields[];

#endif
