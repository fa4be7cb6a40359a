// SPDX-License-Identifier: Apache-2.0
/** The beam spot in an image: where it is, how large, how it is turned, how bright.
 *
 * The definition is that of ISO 11146-1: first and second moments of the values above the background,
 *
 *     x  = Σ v x / Σ v        xx = Σ v (x - x̄)² / Σ v        xy = Σ v (x - x̄)(y - ȳ) / Σ v
 *
 * over an aperture of three beam widths, each of which is four times the root of its second moment. So the aperture
 * reaches six of these roots to each side of the centroid. Values below the background count as negative, or noise
 * would widen the spot. Aperture and moments depend on each other, so they are found by passes.
 *
 *  - Survey: means of blocks of 16 × 16 pixels. The brightest block is in the spot, and half of its height ends the
 *    first estimate. A single hot pixel makes no bright block.
 *  - Pass: moments over the aperture of the pass before. The background is the mean of all pixels outside, where these
 *    are an eighth of the image; else the median of the blocks. It ends when the aperture stays as it is, within a
 *    fiftieth of its size or a pixel.
 *
 * Simpler than ISO 11146: the aperture's sides are along lines and columns, also where the spot is turned. Background is
 * one number for the whole image. A spot at an edge loses what is outside: RM_PROFILE_CUT.
 *
 * A pixel adds up the light on its area, which adds 1/12 pixel² to each second moment. That is not taken off.
 *
 * Sums of a pass are whole numbers, so all instruction sets give the same bits. Pixels of a Bayer pattern are taken as
 * they are, whatever their colour. */
#ifndef RM_FRAMES_PROFILE_H
#define RM_FRAMES_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/simd.h>

#include "frames/image.h"

enum {
    /** Least and most pixels of a line, and lines. */
    RM_PROFILE_SIDE_MIN = 16,
    RM_PROFILE_SIDE_MAX = 1 << 14,
    RM_PROFILE_PASSES_MAX = 12,
};

enum rm_profile_marks {
    /** No block stands out of the noise of the others: there are no numbers but the background. */
    RM_PROFILE_NO_SPOT = 1,
    /** The aperture is cut by the edge of the image. */
    RM_PROFILE_CUT = 2,
    /** The aperture still changed in the last pass. */
    RM_PROFILE_UNSTEADY = 4,
};

struct rm_beam_profile {
    /** Of the centroid, pixels: the middle of the image's first pixel is 0. `y` grows with the lines. */
    double x, y;
    /** Roots of the second moments along lines and columns, pixels: of a Gaussian its sigma. */
    double sigma_x, sigma_y;
    /** The same along the spot's own axes, the larger first. */
    double sigma_major, sigma_minor;
    /** From the direction of x to the longer axis, towards y: -π/2 … π/2, radians. */
    double tilt_rad;
    /** Sum of the values above the background, counts. */
    double intensity;
    /** Counts. */
    double background;
    /** The greatest value in the aperture, counts; and the number of pixels there that have the greatest value which the format
     * can hold. */
    uint32_t peak, saturated;
    /** The aperture, pixels. */
    uint32_t left, top, width, height;
    uint32_t passes;
    /** enum rm_profile_marks */
    uint32_t marks;
};

/** Memory for one image after another; for one thread. */
struct rm_profiler;

/** NULL: no memory. `simd` is as in rm_unpackers_for. */
struct rm_profiler *rm_profiler_new(enum rm_simd simd);

/** NULL is allowed. */
void rm_profiler_free(struct rm_profiler *profiler);

/** Measures an image. False: the geometry is unknown, a side is not RM_PROFILE_SIDE_MIN to RM_PROFILE_SIDE_MAX, the `length` bytes are too few
 * for it, or there is no memory, which is taken when an image is larger than those before it. */
bool rm_profiler_measure(struct rm_profiler *profiler, struct rm_image_geometry const *geometry, uint8_t const *bytes,
                         uint64_t length, struct rm_beam_profile *profile);

#endif
