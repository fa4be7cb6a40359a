// SPDX-License-Identifier: Apache-2.0
/** For profile.c: the first look at an image, by means of blocks (profile.h). */
#ifndef RM_FRAMES_PROFILE_SURVEY_H
#define RM_FRAMES_PROFILE_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SURVEY_BLOCK = 16, SURVEY_BLOCK_PIXELS = SURVEY_BLOCK * SURVEY_BLOCK };

/** Its memory is the caller's. */
struct profile_survey {
    /** Of each column, over the lines of one row of blocks: the sum, and the greatest value. */
    uint32_t *column;
    uint16_t *greatest;
    /** Of each whole block, line after line: the sum without its greatest pixel, so that a hot pixel is none of it; and the same,
     * to be sorted. */
    uint32_t *block, *sorted;
    /** Pixels; and whole blocks. */
    uint32_t width, height, across, down;
    /** Lines so far, and the sum of all their values. */
    uint32_t lines;
    uint64_t total;
};

struct survey_result {
    /** Of the blocks' pixels. */
    double median;
    /** A block stands out of the others' noise; and its centre and the half-widths of the first aperture, pixels. */
    bool found;
    double x, y, reach_x, reach_y;
};

/** Begins an image of at least one whole block. */
void rm_survey_begin(struct profile_survey *survey, uint32_t width, uint32_t height);

/** Takes the next line. */
void rm_survey_line(struct profile_survey *survey, uint16_t const *value);

/** After all lines. `widths` is how many roots of the second moment an aperture reaches to each side. */
struct survey_result rm_survey_end(struct profile_survey *survey, double widths);

#endif
