// SPDX-License-Identifier: Apache-2.0
#include "frames/profile_survey.h"

#include <string.h>

#include "base/per_instruction_set.h"

/** The brightest block is above the median by more than this many times what the lower sixth is below it: of a normal
 * distribution that is one sigma, and the greatest of a million is five above. */
static double const SURVEY_OUTSTANDING = 8;
/** Full width of a Gaussian at half of its height, in sigma. */
static double const SURVEY_FULL_WIDTH = 2.3548;

void rm_survey_begin(struct profile_survey *survey, uint32_t width, uint32_t height) {
    survey->width = width;
    survey->height = height;
    survey->across = width / SURVEY_BLOCK;
    survey->down = height / SURVEY_BLOCK;
    survey->lines = 0;
    survey->total = 0;
    memset(survey->column, 0, width * sizeof *survey->column);
    memset(survey->greatest, 0, width * sizeof *survey->greatest);
}

RM_PER_INSTRUCTION_SET static void survey_add(uint32_t *restrict column, uint16_t *restrict greatest,
                                              uint16_t const *restrict value, uint32_t width) {
    for (uint32_t i = 0; i < width; ++i) {
        column[i] += value[i];
        greatest[i] = value[i] > greatest[i] ? value[i] : greatest[i];
    }
}

/** Ends a row of blocks; `row` of them NULL: the lines behind the last whole one. */
static void survey_end_row(struct profile_survey *survey, uint32_t *row) {
    for (uint32_t i = 0; i < survey->width; ++i)
        survey->total += survey->column[i];
    for (uint32_t b = 0; row != NULL && b < survey->across; ++b) {
        uint32_t sum = 0, greatest = 0;
        for (uint32_t i = b * SURVEY_BLOCK; i < (b + 1) * SURVEY_BLOCK; ++i) {
            sum += survey->column[i];
            greatest = survey->greatest[i] > greatest ? survey->greatest[i] : greatest;
        }
        row[b] = sum - greatest;
    }
    memset(survey->column, 0, survey->width * sizeof *survey->column);
    memset(survey->greatest, 0, survey->width * sizeof *survey->greatest);
}

void rm_survey_line(struct profile_survey *survey, uint16_t const *value) {
    survey_add(survey->column, survey->greatest, value, survey->width);
    ++survey->lines;
    uint32_t const rows = survey->lines / SURVEY_BLOCK;
    if (survey->lines % SURVEY_BLOCK == 0)
        survey_end_row(survey, survey->block + (size_t)(rows - 1) * survey->across);
    else if (survey->lines == survey->height)
        survey_end_row(survey, NULL);
}

/** The value with `rank` values below it; reorders them. */
static uint32_t survey_ranked(uint32_t *value, size_t count, size_t rank) {
    size_t low = 0, high = count - 1;
    while (low < high) {
        uint32_t const pivot = value[low + (high - low) / 2];
        size_t i = low, j = high;
        while (i <= j) {
            while (value[i] < pivot)
                ++i;
            while (value[j] > pivot)
                --j;
            if (i > j)
                break;
            uint32_t const kept = value[i];
            value[i++] = value[j];
            value[j] = kept;
            if (j == 0)
                break;
            --j;
        }
        if (rank <= j && j < high)
            high = j;
        else if (rank >= i)
            low = i;
        else
            break;
    }
    return value[rank];
}

/** From block `at`, with others `step` apart and `before` of them before it and `after` behind: how many to each side
 * are above `limit`. */
struct survey_extent {
    uint32_t before, after;
};

static struct survey_extent survey_extent_of(uint32_t const *at, size_t step, uint32_t before, uint32_t after,
                                             double limit) {
    struct survey_extent extent = {0, 0};
    while (extent.before < before && at[-(ptrdiff_t)((extent.before + 1) * step)] > limit)
        ++extent.before;
    while (extent.after < after && at[(extent.after + 1) * step] > limit)
        ++extent.after;
    return extent;
}

static double survey_centre(uint32_t block, struct survey_extent extent) {
    return SURVEY_BLOCK * (block + 0.5 + 0.5 * extent.after - 0.5 * extent.before) - 0.5;
}

static double survey_reach(struct survey_extent extent, double widths) {
    return widths * SURVEY_BLOCK * (1 + extent.before + extent.after) / SURVEY_FULL_WIDTH;
}

struct survey_result rm_survey_end(struct profile_survey *survey, double widths) {
    size_t const count = (size_t)survey->across * survey->down;
    size_t brightest = 0;
    for (size_t i = 1; i < count; ++i)
        brightest = survey->block[i] > survey->block[brightest] ? i : brightest;
    memcpy(survey->sorted, survey->block, count * sizeof *survey->block);
    double const median = survey_ranked(survey->sorted, count, count / 2);
    double const low = survey_ranked(survey->sorted, count, count / 6);
    double const above = survey->block[brightest] - median;
    struct survey_result result = {.median = median / (SURVEY_BLOCK_PIXELS - 1),
                                   .found = above > 0 && above > SURVEY_OUTSTANDING * (median - low)};
    uint32_t const x = (uint32_t)(brightest % survey->across), y = (uint32_t)(brightest / survey->across);
    uint32_t const *const at = survey->block + brightest;
    struct survey_extent const along = survey_extent_of(at, 1, x, survey->across - 1 - x, median + above / 2);
    struct survey_extent const down = survey_extent_of(at, survey->across, y, survey->down - 1 - y, median + above / 2);
    result.x = survey_centre(x, along);
    result.y = survey_centre(y, down);
    result.reach_x = survey_reach(along, widths);
    result.reach_y = survey_reach(down, widths);
    return result;
}
