// SPDX-License-Identifier: Apache-2.0
#include "frames/profile.h"

#include <math.h>
#include <stdlib.h>

#include "frames/line_moments.h"
#include "frames/pixels.h"
#include "frames/profile_survey.h"

__extension__ typedef unsigned __int128 profile_sum;

/** An aperture reaches so many roots of the second moment to each side: half of three widths of four. */
static double const APERTURE_ROOTS = 6;
/** Pixels that it reaches at least. */
static double const APERTURE_REACH_MIN = 4;
/** By which part of its size an edge may still move in the last pass. */
static double const APERTURE_STEADY = 0.02;
/** Part of the image that is outside, of which the background is the mean. */
static double const BACKGROUND_PART = 1.0 / 8;

/** Pixels are unpacked from whole groups on; a group has at most four. */
enum { GROUP_PIXELS = 4 };

struct rm_profiler {
    struct rm_unpackers unpack;
    rm_line_moments_function *line_moments;
    struct profile_survey survey;
    uint16_t *line;
    /** What there is memory for. */
    uint32_t width, height;
};

/** An image to be measured. */
struct profile_image {
    enum rm_pixel_packing packing;
    uint8_t const *bytes;
    uint32_t line_bytes, width, height;
};

struct aperture {
    uint32_t left, top, right, bottom;
};

/** Sums over an aperture, from its own corner. */
struct aperture_sums {
    profile_sum sum, x, y, xx, xy, yy;
    uint32_t peak, full;
};

struct rm_profiler *rm_profiler_new(enum rm_simd simd) {
    struct rm_profiler *const profiler = calloc(1, sizeof *profiler);
    if (profiler != NULL) {
        profiler->unpack = rm_unpackers_for(simd);
        profiler->line_moments = rm_line_moments_for(simd);
    }
    return profiler;
}

static void profiler_clear(struct rm_profiler *profiler) {
    free(profiler->line);
    free(profiler->survey.column);
    free(profiler->survey.greatest);
    free(profiler->survey.block);
    free(profiler->survey.sorted);
    profiler->line = NULL;
    profiler->survey = (struct profile_survey){0};
    profiler->width = profiler->height = 0;
}

void rm_profiler_free(struct rm_profiler *profiler) {
    if (profiler == NULL)
        return;
    profiler_clear(profiler);
    free(profiler);
}

static bool profiler_make_room(struct rm_profiler *profiler, uint32_t width, uint32_t height) {
    if (width <= profiler->width && height <= profiler->height)
        return true;
    profiler_clear(profiler);
    struct profile_survey *const survey = &profiler->survey;
    size_t const blocks = (size_t)(width / SURVEY_BLOCK) * (height / SURVEY_BLOCK);
    profiler->line = calloc(width, sizeof *profiler->line);
    survey->column = calloc(width, sizeof *survey->column);
    survey->greatest = calloc(width, sizeof *survey->greatest);
    survey->block = calloc(blocks, sizeof *survey->block);
    survey->sorted = calloc(blocks, sizeof *survey->sorted);
    if (!profiler->line || !survey->column || !survey->greatest || !survey->block || !survey->sorted) {
        profiler_clear(profiler);
        return false;
    }
    profiler->width = width;
    profiler->height = height;
    return true;
}

static struct survey_result profiler_survey(struct rm_profiler *profiler, struct profile_image const *image) {
    rm_survey_begin(&profiler->survey, image->width, image->height);
    for (uint32_t y = 0; y < image->height; ++y) {
        profiler->unpack.to16(image->packing, image->bytes + (size_t)y * image->line_bytes, image->width,
                              profiler->line);
        rm_survey_line(&profiler->survey, profiler->line);
    }
    return rm_survey_end(&profiler->survey, APERTURE_ROOTS);
}

static struct aperture_sums profiler_pass(struct rm_profiler *profiler, struct profile_image const *image,
                                          struct aperture aperture) {
    struct aperture_sums sums = {0};
    uint32_t const from = aperture.left / GROUP_PIXELS * GROUP_PIXELS, width = aperture.right - aperture.left;
    uint32_t const offset = rm_pixel_line_bytes(image->packing, from);
    uint16_t const full = (uint16_t)((1u << rm_pixel_bits(image->packing)) - 1);
    for (uint32_t y = aperture.top; y < aperture.bottom; ++y) {
        profiler->unpack.to16(image->packing, image->bytes + (size_t)y * image->line_bytes + offset,
                              aperture.right - from, profiler->line);
        struct rm_line_moments const line =
            profiler->line_moments(profiler->line + (aperture.left - from), width, full);
        profile_sum const down = y - aperture.top;
        sums.sum += line.sum0;
        sums.x += line.sum1;
        sums.xx += line.sum2;
        sums.y += down * line.sum0;
        sums.xy += down * line.sum1;
        sums.yy += down * down * line.sum0;
        sums.peak = line.peak > sums.peak ? line.peak : sums.peak;
        sums.full += line.full;
    }
    return sums;
}

/** Of all pixels outside, where these are enough. */
static double background_of(struct profile_survey const *survey, struct aperture aperture, profile_sum inside,
                            double median) {
    double const pixels = (double)survey->width * survey->height;
    double const in = (double)(aperture.right - aperture.left) * (aperture.bottom - aperture.top);
    return pixels - in >= BACKGROUND_PART * pixels ? (double)(survey->total - (uint64_t)inside) / (pixels - in)
                                                   : median;
}

/** Numbers of a pass; false: there is nothing above the background. */
static bool profile_of_sums(struct rm_beam_profile *profile, struct aperture aperture,
                            struct aperture_sums const *sums) {
    double const w = aperture.right - aperture.left, h = aperture.bottom - aperture.top, b = profile->background;
    /* what a background of 1 adds to each sum */
    double const x = w * (w - 1) / 2, y = h * (h - 1) / 2, xx = x * (2 * w - 1) / 3, yy = y * (2 * h - 1) / 3;
    double const sum = (double)sums->sum - b * w * h;
    double const mean_x = ((double)sums->x - b * x * h) / sum, mean_y = ((double)sums->y - b * y * w) / sum;
    double const vary_x = ((double)sums->xx - b * xx * h) / sum - mean_x * mean_x;
    double const vary_y = ((double)sums->yy - b * yy * w) / sum - mean_y * mean_y;
    double const both = ((double)sums->xy - b * x * y) / sum - mean_x * mean_y;
    profile->peak = sums->peak;
    profile->saturated = sums->full;
    profile->left = aperture.left;
    profile->top = aperture.top;
    profile->width = aperture.right - aperture.left;
    profile->height = aperture.bottom - aperture.top;
    if (!(sum > 0 && vary_x > 0 && vary_y > 0 && mean_x >= 0 && mean_x < w && mean_y >= 0 && mean_y < h))
        return false;
    double const half = (vary_x + vary_y) / 2, apart = sqrt((vary_x - vary_y) * (vary_x - vary_y) / 4 + both * both);
    profile->intensity = sum;
    profile->x = aperture.left + mean_x;
    profile->y = aperture.top + mean_y;
    profile->sigma_x = sqrt(vary_x);
    profile->sigma_y = sqrt(vary_y);
    profile->sigma_major = sqrt(half + apart);
    profile->sigma_minor = sqrt(fmax(0, half - apart));
    profile->tilt_rad = atan2(2 * both, vary_x - vary_y) / 2;
    return true;
}

/** The pixels of one side, [*from, *to), that are in it. True: it is cut by the edge of the image. */
static bool aperture_side(double centre, double reach, uint32_t size, uint32_t *from, uint32_t *to) {
    double const far = fmax(reach, APERTURE_REACH_MIN);
    double const first = floor(centre - far + 0.5), last = floor(centre + far + 0.5);
    *from = first < 0 ? 0 : (uint32_t)fmin(first, size - 1);
    *to = last < *from ? *from + 1 : (uint32_t)fmin(last, size - 1) + 1;
    return first < 0 || last > size - 1;
}

static bool side_is_steady(uint32_t from, uint32_t to, uint32_t next_from, uint32_t next_to) {
    double const most = fmax(1, APERTURE_STEADY * (to - from));
    return fabs((double)from - next_from) <= most && fabs((double)to - next_to) <= most;
}

/** The aperture of the next pass; false: it is steady. */
static bool aperture_next(struct aperture *aperture, struct profile_image const *image,
                          struct rm_beam_profile *profile) {
    struct aperture next;
    bool const cut_x =
        aperture_side(profile->x, APERTURE_ROOTS * profile->sigma_x, image->width, &next.left, &next.right);
    bool const cut_y =
        aperture_side(profile->y, APERTURE_ROOTS * profile->sigma_y, image->height, &next.top, &next.bottom);
    bool const steady = side_is_steady(aperture->left, aperture->right, next.left, next.right) &&
                        side_is_steady(aperture->top, aperture->bottom, next.top, next.bottom);
    profile->marks = cut_x || cut_y ? RM_PROFILE_CUT : 0;
    *aperture = next;
    return !steady;
}

/** All passes. */
static void profiler_iterate(struct rm_profiler *profiler, struct profile_image const *image,
                             struct survey_result const *seen, struct rm_beam_profile *profile) {
    struct aperture aperture;
    aperture_side(seen->x, seen->reach_x, image->width, &aperture.left, &aperture.right);
    aperture_side(seen->y, seen->reach_y, image->height, &aperture.top, &aperture.bottom);
    for (profile->passes = 1;; ++profile->passes) {
        struct aperture_sums const sums = profiler_pass(profiler, image, aperture);
        profile->background = background_of(&profiler->survey, aperture, sums.sum, seen->median);
        if (!profile_of_sums(profile, aperture, &sums)) {
            *profile = (struct rm_beam_profile){.background = profile->background,
                                                .peak = sums.peak,
                                                .saturated = sums.full,
                                                .passes = profile->passes,
                                                .marks = RM_PROFILE_NO_SPOT};
            return;
        }
        if (!aperture_next(&aperture, image, profile))
            return;
        if (profile->passes == RM_PROFILE_PASSES_MAX) {
            profile->marks |= RM_PROFILE_UNSTEADY;
            return;
        }
    }
}

bool rm_profiler_measure(struct rm_profiler *profiler, struct rm_image_geometry const *geometry, uint8_t const *bytes,
                         uint64_t length, struct rm_beam_profile *profile) {
    *profile = (struct rm_beam_profile){0};
    struct rm_pixel_format const *const format = rm_pixel_format_of(geometry->pixel_format);
    uint64_t const needed = rm_image_bytes(geometry);
    if (format == NULL || needed == 0 || length < needed || geometry->width > RM_PROFILE_SIDE_MAX ||
        geometry->height > RM_PROFILE_SIDE_MAX || geometry->width < RM_PROFILE_SIDE_MIN ||
        geometry->height < RM_PROFILE_SIDE_MIN || !profiler_make_room(profiler, geometry->width, geometry->height))
        return false;
    struct profile_image const image = {.packing = format->packing,
                                        .bytes = bytes,
                                        .line_bytes = rm_image_line_bytes(geometry),
                                        .width = geometry->width,
                                        .height = geometry->height};
    struct survey_result const seen = profiler_survey(profiler, &image);
    profile->background = seen.median;
    if (seen.found)
        profiler_iterate(profiler, &image, &seen, profile);
    else
        profile->marks = RM_PROFILE_NO_SPOT;
    return true;
}
