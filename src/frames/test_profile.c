// SPDX-License-Identifier: Apache-2.0
/** The beam spot of images that are computed: every packing, instruction set and place; bias and spread under the noise of
 * a sensor; and images without a spot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/line_moments.h"
#include "frames/pixels.h"
#include "frames/profile.h"
#include "frames/unpack.h"
#include "wire/test_guard_page.h"

enum { WIDTH = 400, HEIGHT = 300, IMAGES = 40, FULL_12 = 4095 };

/** A spot on a background, with sigmas along its own axes, and what the sensor adds. */
struct spot {
    double x, y, major, minor, tilt, peak, background;
    /** Standard deviation of what each pixel adds by itself, counts. */
    double noise;
    /** Electrons per count: their number varies by its root. 0: not. */
    double electrons;
};

static double draw_uniform(void) { return ((double)random() + 0.5) / ((double)RAND_MAX + 1); }

static double draw_normal(void) { return sqrt(-2 * log(draw_uniform())) * cos(2 * M_PI * draw_uniform()); }

static double spot_value(struct spot const *spot, double x, double y) {
    double const c = cos(spot->tilt), s = sin(spot->tilt), dx = x - spot->x, dy = y - spot->y;
    double const along = (c * dx + s * dy) / spot->major, across = (c * dy - s * dx) / spot->minor;
    return spot->peak * exp(-(along * along + across * across) / 2);
}

static uint16_t spot_pixel(struct spot const *spot, uint32_t x, uint32_t y, double full) {
    double value = spot_value(spot, x, y);
    if (spot->electrons > 0)
        value += sqrt(value / spot->electrons) * draw_normal();
    value += spot->background + spot->noise * draw_normal();
    return (uint16_t)fmin(full, fmax(0, floor(value + 0.5)));
}

/** Puts pixel `i` of a line into its place; the line was zero. */
static void put_pixel(enum rm_pixel_packing packing, uint8_t *line, uint32_t i, uint32_t value) {
    struct rm_packing_shape const *const shape = rm_packing_shape(packing);
    uint8_t *const group = line + i / shape->group_pixels * shape->group_bytes;
    uint32_t const n = i % shape->group_pixels, top = value << (16 - shape->bits);
    if (shape->keep_high != 0) { /* its upper eight bits have a byte */
        group[shape->high[n]] = (uint8_t)(top >> 8);
        group[shape->low[n]] |= (uint8_t)((top & shape->keep_low) >> shape->lift[n]);
    } else {
        group[shape->low[n]] |= (uint8_t)(top >> shape->lift[n]);
        group[shape->high[n]] |= (uint8_t)(top >> shape->lift[n] >> 8);
    }
}

struct test_image {
    struct rm_image_geometry geometry;
    uint64_t length;
    uint8_t *bytes;
};

static struct test_image image_new(char const *format, uint32_t width, uint32_t height, uint16_t padding) {
    struct test_image image = {.geometry = {.pixel_format = rm_pixel_format_named(format)->number,
                                            .width = width,
                                            .height = height,
                                            .padding_x = padding}};
    image.length = rm_image_bytes(&image.geometry);
    image.bytes = malloc(image.length);
    assert_non_null(image.bytes);
    memset(image.bytes, 0, image.length);
    return image;
}

static void image_put(struct test_image *image, uint32_t x, uint32_t y, uint32_t value) {
    put_pixel(rm_pixel_format_of(image->geometry.pixel_format)->packing,
              image->bytes + (size_t)y * rm_image_line_bytes(&image->geometry), x, value);
}

static void image_draw(struct test_image *image, struct spot const *spot) {
    uint32_t const bits = rm_pixel_bits(rm_pixel_format_of(image->geometry.pixel_format)->packing);
    memset(image->bytes, 0, image->length);
    for (uint32_t y = 0; y < image->geometry.height; ++y)
        for (uint32_t x = 0; x < image->geometry.width; ++x)
            image_put(image, x, y, spot_pixel(spot, x, y, (double)((1u << bits) - 1)));
}

static struct rm_beam_profile measure(struct rm_profiler *profiler, struct test_image const *image) {
    struct rm_beam_profile profile;
    assert_true(rm_profiler_measure(profiler, &image->geometry, image->bytes, image->length, &profile));
    return profile;
}

static void lines_have_the_same_moments_by_every_instruction_set(void **state) {
    (void)state;
    static uint32_t const wide[] = {1023, 1024, 1025, 2047, 2500, 4097, RM_PROFILE_SIDE_MAX};
    static uint16_t line[RM_PROFILE_SIDE_MAX];
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    for (uint32_t round = 0; round < 150 + sizeof wide / sizeof *wide; ++round) {
        uint32_t const width = round < 150 ? round : wide[round - 150];
        uint16_t *const value = round < 150 ? (uint16_t *)(void *)guard - width : line;
        for (uint32_t i = 0; i < width; ++i) /* the widest has what is the greatest everywhere */
            value[i] = width == RM_PROFILE_SIDE_MAX ? UINT16_MAX : (uint16_t)(random() >> 7);
        struct rm_line_moments const wanted = rm_line_moments_scalar(value, width, 60000);
        for (enum rm_simd simd = RM_SIMD_SCALAR; simd <= rm_simd_best(); ++simd) {
            struct rm_line_moments const got = rm_line_moments_for(simd)(value, width, 60000);
            assert_memory_equal(&got, &wanted, sizeof got);
        }
    }
    guard_page_free(guard);
    uint16_t const plain[] = {0, 10, 0, 20};
    struct rm_line_moments const sums = rm_line_moments_scalar(plain, 4, 20);
    assert_int_equal(sums.sum0, 30);
    assert_int_equal(sums.sum1, 70);
    assert_int_equal(sums.sum2, 190);
    assert_int_equal(sums.peak, 20);
    assert_int_equal(sums.full, 1);
}

static double angle_apart(double a, double b) { return fabs(remainder(a - b, M_PI)); }

static void check_spot(struct rm_beam_profile const *profile, struct spot const *spot, double pixels) {
    assert_int_equal(profile->marks, 0);
    assert_true(fabs(profile->x - spot->x) < pixels);
    assert_true(fabs(profile->y - spot->y) < pixels);
    assert_true(fabs(profile->sigma_major - spot->major) < pixels);
    assert_true(fabs(profile->sigma_minor - spot->minor) < pixels);
    if (spot->major > 1.2 * spot->minor)
        assert_true(angle_apart(profile->tilt_rad, spot->tilt) < 0.02);
}

static void spots_are_found_where_they_are(void **state) {
    (void)state;
    static struct spot const spots[] = {
        {200.3, 150.7, 10, 10, 0, 3000, 100, 0, 0}, {90.25, 200.5, 12, 5, 0.6, 3000, 0, 0, 0},
        {300, 60, 8, 3, -1.2, 2000, 64, 0, 0},      {31.5, 270, 2, 1.5, 0.3, 4000, 10, 0, 0},
        {200, 150, 20, 20, 0, 500, 10, 0, 0},       {201, 148, 22, 4, 0.785, 3900, 100, 0, 0},
        {100, 100, 9, 4, 1.5707, 1000, 100, 0, 0},
    };
    struct rm_profiler *const profiler = rm_profiler_new(RM_SIMD_BEST);
    assert_non_null(profiler);
    struct test_image image = image_new("Mono12p", WIDTH, HEIGHT, 0);
    for (size_t i = 0; i < sizeof spots / sizeof *spots; ++i) {
        image_draw(&image, &spots[i]);
        struct rm_beam_profile const profile = measure(profiler, &image);
        check_spot(&profile, &spots[i], 0.1); /* of tails that round to nothing */
        double const intensity = 2 * M_PI * spots[i].major * spots[i].minor * spots[i].peak;
        assert_true(fabs(profile.intensity / intensity - 1) < 0.01);
        assert_true(fabs(profile.background - spots[i].background) < 0.5);
        assert_true(profile.peak <= spots[i].peak + spots[i].background + 1);
        assert_int_equal(profile.saturated, 0);
    }
    free(image.bytes);
    rm_profiler_free(profiler);
}

static void every_packing_and_instruction_set_gives_the_same(void **state) {
    (void)state;
    static char const *const formats[] = {"Mono8",  "Mono10",  "Mono10p",      "Mono10Packed", "RAW10",
                                          "Mono12", "Mono12p", "Mono12Packed", "RAW12",        "Mono16"};
    /* of 8 bits, so that it is the same in each */
    struct spot const spot = {51.3, 40.2, 6, 4, 0.5, 200, 20, 3, 0};
    struct rm_beam_profile wanted = {0};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i)
        for (enum rm_simd simd = RM_SIMD_SCALAR; simd <= rm_simd_best(); ++simd) {
            struct rm_profiler *const profiler = rm_profiler_new(simd);
            struct test_image image = image_new(formats[i], 107, 83, 5);
            srandom(7);
            for (uint32_t y = 0; y < 83; ++y)
                for (uint32_t x = 0; x < 107; ++x)
                    image_put(&image, x, y, spot_pixel(&spot, x, y, 254));
            struct rm_beam_profile const profile = measure(profiler, &image);
            if (wanted.passes == 0)
                wanted = profile;
            assert_memory_equal(&profile, &wanted, sizeof profile);
            check_spot(&profile, &spot, 0.3);
            free(image.bytes);
            rm_profiler_free(profiler);
        }
}

/** Of one number over many images. */
struct errors {
    double sum, squares;
};

static void errors_take(struct errors *errors, double error) {
    errors->sum += error;
    errors->squares += error * error;
}

static double errors_bias(struct errors const *errors) { return errors->sum / IMAGES; }

static double errors_spread(struct errors const *errors) {
    return sqrt(fmax(0, errors->squares / IMAGES - errors_bias(errors) * errors_bias(errors)));
}

static void bias_and_spread_are_small(void **state) {
    (void)state;
    /* a bright spot and a faint one: a sensor of 10 000 electrons, 3 counts of noise by itself */
    static struct spot const spots[] = {{200.3, 150.7, 10, 6, 0.4, 3000, 100, 3, 2.5},
                                        {200.3, 150.7, 10, 6, 0.4, 300, 100, 3, 2.5}};
    static double const bound[] = {0.1, 0.5};
    struct rm_profiler *const profiler = rm_profiler_new(RM_SIMD_BEST);
    struct test_image image = image_new("Mono12p", WIDTH, HEIGHT, 0);
    for (size_t i = 0; i < 2; ++i) {
        struct errors place = {0, 0}, major = {0, 0}, minor = {0, 0}, tilt = {0, 0}, bright = {0, 0};
        srandom(3);
        for (int round = 0; round < IMAGES; ++round) {
            image_draw(&image, &spots[i]);
            struct rm_beam_profile const profile = measure(profiler, &image);
            check_spot(&profile,
                       &(struct spot){.x = 200.3, .y = 150.7, .major = 10, .minor = 6, .tilt = profile.tilt_rad},
                       5 * bound[i]);
            errors_take(&place, profile.x - spots[i].x);
            errors_take(&major, profile.sigma_major - spots[i].major);
            errors_take(&minor, profile.sigma_minor - spots[i].minor);
            errors_take(&tilt, remainder(profile.tilt_rad - spots[i].tilt, M_PI));
            errors_take(&bright, profile.intensity / (2 * M_PI * 60 * spots[i].peak) - 1);
        }
        struct errors const *const all[] = {&place, &major, &minor, &tilt, &bright};
        static char const *const names[] = {"x, px", "major, px", "minor, px", "tilt, rad", "intensity"};
        for (size_t n = 0; n < 5; ++n) {
            print_message("peak %.0f: %-10s bias %+.4f, spread %.4f\n", spots[i].peak, names[n], errors_bias(all[n]),
                          errors_spread(all[n]));
            assert_true(fabs(errors_bias(all[n])) < bound[i]);
            assert_true(errors_spread(all[n]) < bound[i]);
        }
    }
    free(image.bytes);
    rm_profiler_free(profiler);
}

static void noise_and_hot_pixels_are_no_spot(void **state) {
    (void)state;
    struct rm_profiler *const profiler = rm_profiler_new(RM_SIMD_BEST);
    struct test_image image = image_new("Mono12p", WIDTH, HEIGHT, 0);
    assert_int_equal(measure(profiler, &image).marks, RM_PROFILE_NO_SPOT);
    srandom(11);
    image_draw(&image, &(struct spot){.major = 1, .minor = 1, .background = 100, .noise = 10});
    struct rm_beam_profile const dark = measure(profiler, &image);
    assert_int_equal(dark.marks, RM_PROFILE_NO_SPOT);
    assert_true(fabs(dark.background - 100) < 2);
    image_put(&image, 40, 50, FULL_12);
    assert_int_equal(measure(profiler, &image).marks, RM_PROFILE_NO_SPOT);
    free(image.bytes);
    rm_profiler_free(profiler);
}

static void marks_tell_of_edges_and_saturation(void **state) {
    (void)state;
    struct rm_profiler *const profiler = rm_profiler_new(RM_SIMD_BEST);
    struct test_image image = image_new("Mono12p", WIDTH, HEIGHT, 0);
    image_draw(&image, &(struct spot){.x = 5, .y = 150, .major = 8, .minor = 8, .peak = 2000, .background = 50});
    struct rm_beam_profile const cut = measure(profiler, &image);
    assert_int_equal(cut.marks, RM_PROFILE_CUT);
    assert_int_equal(cut.left, 0);
    image_draw(&image, &(struct spot){.x = 200, .y = 150, .major = 9, .minor = 9, .peak = 5000, .background = 50});
    struct rm_beam_profile const full = measure(profiler, &image);
    uint32_t saturated = 0;
    for (uint32_t y = 0; y < HEIGHT; ++y)
        for (uint32_t x = 0; x < WIDTH; ++x)
            saturated +=
                spot_pixel(&(struct spot){.x = 200, .y = 150, .major = 9, .minor = 9, .peak = 5000, .background = 50},
                           x, y, FULL_12) == FULL_12;
    assert_true(saturated > 0);
    assert_int_equal(full.saturated, saturated);
    assert_int_equal(full.peak, FULL_12);
    free(image.bytes);
    rm_profiler_free(profiler);
}

static void what_cannot_be_measured_is_refused(void **state) {
    (void)state;
    struct rm_profiler *const profiler = rm_profiler_new(RM_SIMD_BEST);
    struct test_image image = image_new("Mono8", 64, 64, 0);
    struct rm_image_geometry wrong = image.geometry;
    struct rm_beam_profile profile;
    assert_false(rm_profiler_measure(profiler, &image.geometry, image.bytes, image.length - 1, &profile));
    wrong.pixel_format = 0;
    assert_false(rm_profiler_measure(profiler, &wrong, image.bytes, image.length, &profile));
    wrong = image.geometry;
    wrong.width = RM_PROFILE_SIDE_MIN - 1;
    assert_false(rm_profiler_measure(profiler, &wrong, image.bytes, image.length, &profile));
    wrong.width = RM_PROFILE_SIDE_MAX + 1;
    assert_false(rm_profiler_measure(profiler, &wrong, image.bytes, UINT64_MAX, &profile));
    assert_true(rm_profiler_measure(profiler, &image.geometry, image.bytes, image.length, &profile));
    free(image.bytes);
    rm_profiler_free(profiler);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(lines_have_the_same_moments_by_every_instruction_set),
        cmocka_unit_test(spots_are_found_where_they_are),
        cmocka_unit_test(every_packing_and_instruction_set_gives_the_same),
        cmocka_unit_test(bias_and_spread_are_small),
        cmocka_unit_test(noise_and_hot_pixels_are_no_spot),
        cmocka_unit_test(marks_tell_of_edges_and_saturation),
        cmocka_unit_test(what_cannot_be_measured_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
