// SPDX-License-Identifier: Apache-2.0
/** The beam spot of an image of 2.5 megapixels of 12 bits packed: the survey of all pixels, and the passes over an aperture of
 * 600 × 360 pixels. */
#include <math.h>

#include "base/large_pages.h"
#include "cost.h"
#include "frames/profile.h"

enum { PROFILE_WIDTH = 2500, PROFILE_HEIGHT = 1000, PROFILE_BYTES = PROFILE_WIDTH * PROFILE_HEIGHT * 3 / 2 };

static struct rm_image_geometry const profile_geometry = {
    .pixel_format = 0x010C0047, .width = PROFILE_WIDTH, .height = PROFILE_HEIGHT};

struct profile_subject {
    struct rm_profiler *profiler;
    uint8_t const *image;
};

static uint32_t profile_pixel(uint32_t x, uint32_t y) {
    double const dx = ((double)x - 1200) / 50, dy = ((double)y - 500) / 30;
    return (uint32_t)(100 + 3000 * exp(-(dx * dx + dy * dy) / 2));
}

static void profile_draw(uint8_t *image) {
    for (uint32_t y = 0; y < PROFILE_HEIGHT; ++y)
        for (uint32_t x = 0; x < PROFILE_WIDTH; x += 2, image += 3) {
            uint32_t const first = profile_pixel(x, y), second = profile_pixel(x + 1, y);
            image[0] = (uint8_t)first;
            image[1] = (uint8_t)(first >> 8 | second << 4);
            image[2] = (uint8_t)(second >> 4);
        }
}

static uint64_t profile_act(void *argument) {
    struct profile_subject *const subject = argument;
    struct rm_beam_profile profile;
    if (!rm_profiler_measure(subject->profiler, &profile_geometry, subject->image, PROFILE_BYTES, &profile) ||
        profile.marks != 0)
        bench_fail("no spot was found");
    return 1;
}

static size_t profile_prepare(struct bench_case *cases) {
    static char const *const names[] = {"scalar", "AVX2", "AVX-512"};
    static struct profile_subject subjects[3];
    uint8_t *const image = rm_large_pages_map(PROFILE_BYTES);
    if (image == NULL)
        bench_fail("no memory");
    profile_draw(image);
    size_t count = 0;
    for (enum rm_simd simd = RM_SIMD_SCALAR; simd <= rm_simd_best(); ++simd, ++count) {
        subjects[count] = (struct profile_subject){rm_profiler_new(simd), image};
        if (subjects[count].profiler == NULL)
            bench_fail("no memory");
        cases[count] =
            (struct bench_case){names[count], profile_act, &subjects[count], count == 0 ? NULL : &cases[0], NULL};
    }
    return count;
}

struct bench_cost const profile_cost = {.name = "profile",
                                        .about = "of the beam spot in an image of 2.5 megapixels of 12 bits",
                                        .rounds = 31,
                                        .unit = "ms per image",
                                        .unit_ns = 1e6,
                                        .prepare = profile_prepare};
