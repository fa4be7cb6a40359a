// SPDX-License-Identifier: Apache-2.0
/** Pictures are the numbers that picture.h has, in the bytes of their format; a spot has the centroid and the sizes that
 * it was drawn with, wherever it moves. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "spot.h"
#include "test_camera.h"

enum { WIDTH = 203, HEIGHT = 97 };

static struct rm_virtual_camera camera_of(char const *pixel_format, enum rm_camera_pattern pattern) {
    struct rm_virtual_camera camera = test_camera(RM_CAMERA_GVSP, pixel_format);
    camera.geometry.width = WIDTH;
    camera.geometry.height = HEIGHT;
    camera.geometry.padding_x = 3;
    camera.frame_bytes = rm_image_bytes(&camera.geometry);
    camera.pattern = pattern;
    camera.spot = (struct rm_camera_spot){.sigma_x = 9, .sigma_y = 5, .peak = 0.8};
    return camera;
}

static struct rm_pictures pictures_of(struct rm_virtual_camera const *camera) {
    struct rm_pictures pictures;
    struct rm_error error;
    assert_int_equal(rm_pictures_new(camera, &pictures, &error), RM_OK);
    return pictures;
}

/** [WIDTH × HEIGHT] values of a picture. */
static void picture_read(struct rm_pictures const *pictures, uint64_t index, uint16_t *value) {
    for (uint32_t y = 0; y < HEIGHT; ++y)
        rm_unpackers_for(RM_SIMD_SCALAR)
            .to16(pictures->packing, rm_picture(pictures, index) + (uint64_t)y * pictures->line_bytes, WIDTH,
                  value + y * WIDTH);
}

static void pictures_are_their_formulas(void **state) {
    (void)state;
    uint16_t value[WIDTH * HEIGHT];
    for (size_t f = 0; f < RM_PACKINGS; ++f)
        for (int pattern = RM_CAMERA_RAMP; pattern < RM_CAMERA_SPOT; ++pattern) {
            struct rm_virtual_camera const camera =
                camera_of(rm_pixel_format_at(f)->name, (enum rm_camera_pattern)pattern);
            struct rm_pictures pictures = pictures_of(&camera);
            for (uint32_t p = 0; p < RM_PICTURES; ++p) {
                picture_read(&pictures, p + RM_PICTURES, value);
                for (uint32_t i = 0; i < WIDTH * HEIGHT; ++i)
                    assert_int_equal(value[i], rm_pattern_value(&camera, pictures.most, p, i % WIDTH, i / WIDTH));
                assert_int_equal(rm_picture(&pictures, p)[pictures.line_bytes - 1], 0);
            }
            rm_pictures_free(&pictures);
        }
}

static void formulas_have_the_values_that_are_documented(void **state) {
    (void)state;
    uint32_t const most = 4095;
    struct rm_virtual_camera camera = camera_of("Mono12p", RM_CAMERA_RAMP);
    assert_int_equal(rm_pattern_value(&camera, most, 2, 100, 50), 152);
    assert_int_equal(rm_pattern_value(&camera, 255, 2, 200, 90), 36);
    camera.pattern = RM_CAMERA_COUNTER;
    assert_int_equal(rm_pattern_value(&camera, most, 1, 7, 30), (30 * WIDTH + 7 + 1) % 4096);
    camera.pattern = RM_CAMERA_BARS;
    assert_int_equal(rm_pattern_value(&camera, most, 0, 0, 9), 0);
    assert_int_equal(rm_pattern_value(&camera, most, 0, WIDTH - 1, 9), most);
    assert_int_equal(rm_pattern_value(&camera, most, 1, 0, 9), 585);
    camera.pattern = RM_CAMERA_CHECKER;
    assert_int_equal(rm_pattern_value(&camera, most, 0, 31, 31), 0);
    assert_int_equal(rm_pattern_value(&camera, most, 0, 32, 31), most);
}

/** First and second moments of a picture. */
struct moments {
    double x, y, xx, yy, xy;
};

static struct moments moments_of(uint16_t const *value) {
    struct moments m = {0};
    double sum = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; ++i) {
        uint32_t const line = i / WIDTH;
        double const x = i % WIDTH, y = line, w = value[i];
        sum += w;
        m.x += w * x;
        m.y += w * y;
        m.xx += w * x * x;
        m.yy += w * y * y;
        m.xy += w * x * y;
    }
    m.x /= sum;
    m.y /= sum;
    m.xx = m.xx / sum - m.x * m.x;
    m.yy = m.yy / sum - m.y * m.y;
    m.xy = m.xy / sum - m.x * m.y;
    return m;
}

static void a_spot_has_its_place_size_and_tilt(void **state) {
    (void)state;
    struct rm_virtual_camera camera = camera_of("Mono16", RM_CAMERA_SPOT);
    camera.spot.tilt_rad = 0.4;
    struct rm_pictures pictures = pictures_of(&camera);
    uint16_t value[WIDTH * HEIGHT];
    rm_spot_draw(&pictures, 0, 95.25, 48.5);
    picture_read(&pictures, 0, value);
    struct moments const m = moments_of(value);
    double const c = cos(0.4), s = sin(0.4), a = 81, b = 25;
    assert_true(fabs(m.x - 95.25) < 0.01 && fabs(m.y - 48.5) < 0.01);
    assert_true(fabs(m.xx - (a * c * c + b * s * s)) < 0.1);
    assert_true(fabs(m.yy - (a * s * s + b * c * c)) < 0.1);
    assert_true(fabs(m.xy - (a - b) * c * s) < 0.1);
    rm_pictures_free(&pictures);
}

/** What a spot has left is as if it had never been there, in formats whose pixels share bytes too. */
static void a_spot_leaves_no_trace(void **state) {
    (void)state;
    static char const *const formats[] = {"Mono8", "Mono10p", "Mono12p", "Mono12Packed", "RAW10"};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; ++f) {
        struct rm_virtual_camera camera = camera_of(formats[f], RM_CAMERA_SPOT);
        camera.spot.background = 0.1;
        camera.spot.noise = 0.01;
        struct rm_pictures moved = pictures_of(&camera), fresh = pictures_of(&camera);
        double const places[][2] = {{50, 40}, {-3, 200}, {202, 0}, {1e5, 1e5}, {101.5, 33}};
        for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i)
            rm_spot_draw(&moved, 1, places[i][0], places[i][1]);
        rm_spot_draw(&fresh, 1, 101.5, 33);
        assert_memory_equal(rm_picture(&moved, 1), rm_picture(&fresh, 1), moved.bytes);
        assert_memory_not_equal(rm_picture(&moved, 1), rm_picture(&moved, 0), moved.bytes);
        rm_pictures_free(&moved);
        rm_pictures_free(&fresh);
    }
}

static void a_spot_that_is_too_bright_is_clipped(void **state) {
    (void)state;
    struct rm_virtual_camera camera = camera_of("Mono12p", RM_CAMERA_SPOT);
    camera.spot.peak = 5;
    struct rm_pictures pictures = pictures_of(&camera);
    uint16_t value[WIDTH * HEIGHT];
    rm_spot_draw(&pictures, 0, 100, 50);
    picture_read(&pictures, 0, value);
    assert_int_equal(value[50 * WIDTH + 100], 4095);
    rm_pictures_free(&pictures);
}

static void a_spot_moves_on_its_sine(void **state) {
    (void)state;
    struct rm_camera_spot const spot = {.centre_x = 10, .centre_y = 20, .move_x = 4, .move_y = -2, .move_hz = 2};
    double x, y;
    rm_spot_place(&spot, 0.125, &x, &y);
    assert_true(fabs(x - 14) < 1e-9 && fabs(y - 18) < 1e-9);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(pictures_are_their_formulas),
        cmocka_unit_test(formulas_have_the_values_that_are_documented),
        cmocka_unit_test(a_spot_has_its_place_size_and_tilt),
        cmocka_unit_test(a_spot_leaves_no_trace),
        cmocka_unit_test(a_spot_that_is_too_bright_is_clipped),
        cmocka_unit_test(a_spot_moves_on_its_sine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
