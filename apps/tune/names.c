// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include "detail.h"

#define IS_TRUSTED                                                                                                     \
    { .minor_low = -1.0, .minor_high = 0.5 }
#define IS_A_TUNE                                                                                                      \
    { .display_low = 0.0, .display_high = 0.5 }

struct rm_reading const tune_readings[TUNE_TOLD] = {
    [TUNE_TOLD_TUNE_X] = {.name = "tune_x", .description = "horizontal oscillations per turn", .limits = IS_A_TUNE},
    [TUNE_TOLD_TUNE_Y] = {.name = "tune_y", .description = "vertical oscillations per turn", .limits = IS_A_TUNE},
    [TUNE_TOLD_SIGMA_X] = {.name = "sigma_x", .description = "standard deviation of tune_x"},
    [TUNE_TOLD_SIGMA_Y] = {.name = "sigma_y", .description = "standard deviation of tune_y"},
    [TUNE_TOLD_AMPLITUDE_X] = {.name = "amplitude_x", .description = "in the unit of positions; of several BPMs √(2J)"},
    [TUNE_TOLD_AMPLITUDE_Y] = {.name = "amplitude_y", .description = "in the unit of positions; of several BPMs √(2J)"},
    [TUNE_TOLD_SNR_X] = {.name = "snr_x", .description = "amplitude_x over its standard deviation"},
    [TUNE_TOLD_SNR_Y] = {.name = "snr_y", .description = "amplitude_y over its standard deviation"},
    [TUNE_TOLD_QUALITY_X] = {.name = "quality_x",
                             .description = "bits: reasons not to trust tune_x; 0: none",
                             .limits = IS_TRUSTED},
    [TUNE_TOLD_QUALITY_Y] = {.name = "quality_y",
                             .description = "bits: reasons not to trust tune_y; 0: none",
                             .limits = IS_TRUSTED},
    [TUNE_TOLD_LOST_TURNS] = {.name = "lost_turns",
                              .unit = "turn",
                              .description = "of the window, of the BPM in use that lost most"},
    [TUNE_TOLD_BPMS] = {.name = "bpms", .description = "in use, in the plane that has fewer"},
    [TUNE_TOLD_WINDOW] = {.name = "window", .description = "0: rectangular; 1: Hann"},
    [TUNE_TOLD_DELAY] = {.name = "delay", .unit = "turn", .description = "from a tune to the turn of its record"},
    [TUNE_TOLD_DRIVEN_TUNE_X] = {.name = "driven_tune_x", .description = "horizontal tune of a beam that noise drives"},
    [TUNE_TOLD_DRIVEN_TUNE_Y] = {.name = "driven_tune_y", .description = "vertical tune of a beam that noise drives"},
    [TUNE_TOLD_DRIVEN_SIGMA_X] = {.name = "driven_sigma_x", .description = "standard deviation of driven_tune_x"},
    [TUNE_TOLD_DRIVEN_SIGMA_Y] = {.name = "driven_sigma_y", .description = "standard deviation of driven_tune_y"},
    [TUNE_TOLD_DRIVEN_DAMPING_X] = {.name = "driven_damping_x",
                                    .unit = "1/turn",
                                    .description = "rate at which its amplitude falls"},
    [TUNE_TOLD_DRIVEN_DAMPING_Y] = {.name = "driven_damping_y",
                                    .unit = "1/turn",
                                    .description = "rate at which its amplitude falls"},
    [TUNE_TOLD_DRIVEN_RMS_X] = {.name = "driven_rms_x", .description = "of its motion, in the unit of amplitude_x"},
    [TUNE_TOLD_DRIVEN_RMS_Y] = {.name = "driven_rms_y", .description = "of its motion, in the unit of amplitude_y"},
    [TUNE_TOLD_DRIVEN_RESOLVED_X] = {.name = "driven_resolved_x",
                                     .description =
                                         "1: the line is wider than two bins, and its errors are to be trusted"},
    [TUNE_TOLD_DRIVEN_RESOLVED_Y] = {.name = "driven_resolved_y",
                                     .description =
                                         "1: the line is wider than two bins, and its errors are to be trusted"},
    [TUNE_TOLD_RESPONSE_HZ] = {.name = "response_hz",
                               .unit = "Hz",
                               .description = "of the ripple that response is of",
                               .is_array = true},
    [TUNE_TOLD_RESPONSE] = {.name = "response",
                            .description = "measured ripple of the tune over its own, at response_hz",
                            .is_array = true},
};

struct rm_application_stream const tune_streams[TUNE_STREAMS] = {
    [TUNE_STREAM_TUNE] = {.name = "tune",
                          .description = "tune of the window that ends with the record's turn",
                          .lane = {[TUNE_TOLD_TUNE_X] = {.name = "tune_x"},
                                   [TUNE_TOLD_TUNE_Y] = {.name = "tune_y"},
                                   [TUNE_TOLD_SIGMA_X] = {.name = "sigma_x"},
                                   [TUNE_TOLD_SIGMA_Y] = {.name = "sigma_y"},
                                   [TUNE_TOLD_AMPLITUDE_X] = {.name = "amplitude_x"},
                                   [TUNE_TOLD_AMPLITUDE_Y] = {.name = "amplitude_y"},
                                   [TUNE_TOLD_SNR_X] = {.name = "snr_x"},
                                   [TUNE_TOLD_SNR_Y] = {.name = "snr_y"},
                                   [TUNE_TOLD_QUALITY_X] = {.name = "quality_x"},
                                   [TUNE_TOLD_QUALITY_Y] = {.name = "quality_y"},
                                   [TUNE_TOLD_LOST_TURNS] = {.name = "lost_turns", .unit = "turn"},
                                   [TUNE_TOLD_BPMS] = {.name = "bpms"}}},
    [TUNE_STREAM_DETAIL] = {.name = "detail",
                            .description =
                                "of the peaks of tune: phases at the middle of the window, errors, other lines",
                            .lane = {[TUNE_DETAIL_PHASE_X] = {.name = "phase_x", .unit = "rad"},
                                     [TUNE_DETAIL_PHASE_Y] = {.name = "phase_y", .unit = "rad"},
                                     [TUNE_DETAIL_PHASE_SIGMA_X] = {.name = "phase_sigma_x", .unit = "rad"},
                                     [TUNE_DETAIL_PHASE_SIGMA_Y] = {.name = "phase_sigma_y", .unit = "rad"},
                                     [TUNE_DETAIL_AMPLITUDE_SIGMA_X] = {.name = "amp_sigma_x"},
                                     [TUNE_DETAIL_AMPLITUDE_SIGMA_Y] = {.name = "amp_sigma_y"},
                                     [TUNE_DETAIL_OTHER_TUNE_X] = {.name = "other_tune_x"},
                                     [TUNE_DETAIL_OTHER_TUNE_Y] = {.name = "other_tune_y"},
                                     [TUNE_DETAIL_OTHER_RATIO_X] = {.name = "other_ratio_x"},
                                     [TUNE_DETAIL_OTHER_RATIO_Y] = {.name = "other_ratio_y"}}},
};
