// SPDX-License-Identifier: Apache-2.0
/** What the application tells: parameters tune/NAME, and the streams tune/tune and tune/detail (detail.h). Units and descriptions stand in names.c.
 * A tune without a peak, or before there is a whole window, is NaN. */
#ifndef TUNE_NAMES_H
#define TUNE_NAMES_H

#include <ringmaster/application.h>

/** Readings, and lanes of the stream in the same order as far as it goes. */
enum tune_told {
    TUNE_TOLD_TUNE_X,
    TUNE_TOLD_TUNE_Y,
    TUNE_TOLD_SIGMA_X,
    TUNE_TOLD_SIGMA_Y,
    TUNE_TOLD_AMPLITUDE_X,
    TUNE_TOLD_AMPLITUDE_Y,
    TUNE_TOLD_SNR_X,
    TUNE_TOLD_SNR_Y,
    /** Bits: enum tune_reason. */
    TUNE_TOLD_QUALITY_X,
    TUNE_TOLD_QUALITY_Y,
    /** Most turns that one BPM has lost in the window. */
    TUNE_TOLD_LOST_TURNS,
    /** Fewest BPMs that a plane is of. */
    TUNE_TOLD_BPMS,

    TUNE_TOLD_LANES,

    /** From a tune to the turn of its record. Constant. */
    TUNE_TOLD_DELAY = TUNE_TOLD_LANES,
    /** enum tune_window_kind: with the delay it says what the window lets through (law/response.h). Constant. */
    TUNE_TOLD_WINDOW,

    /** Of the line of a beam that noise drives (law/follow.h); NaN where there is none, or it is not asked for. */
    TUNE_TOLD_DRIVEN_TUNE_X,
    TUNE_TOLD_DRIVEN_TUNE_Y,
    TUNE_TOLD_DRIVEN_SIGMA_X,
    TUNE_TOLD_DRIVEN_SIGMA_Y,
    TUNE_TOLD_DRIVEN_DAMPING_X,
    TUNE_TOLD_DRIVEN_DAMPING_Y,
    TUNE_TOLD_DRIVEN_RMS_X,
    TUNE_TOLD_DRIVEN_RMS_Y,
    /** 1: its errors are to be trusted. */
    TUNE_TOLD_DRIVEN_RESOLVED_X,
    TUNE_TOLD_DRIVEN_RESOLVED_Y,

    /* Arrays, after all that are one number. */

    /** Frequencies of the file, in Hz, and what is left of the tune's ripple there (law/response.h). Constant. */
    TUNE_TOLD_RESPONSE_HZ,
    TUNE_TOLD_RESPONSE,

    TUNE_TOLD,
};

enum tune_stream { TUNE_STREAM_TUNE, TUNE_STREAM_DETAIL, TUNE_STREAMS };

extern struct rm_reading const tune_readings[TUNE_TOLD];
extern struct rm_application_stream const tune_streams[TUNE_STREAMS];

#endif
