// SPDX-License-Identifier: Apache-2.0
/** Lines of pixels become image fragments: by their numbers, and by a described layout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frames/assembly.h"
#include "frames/lines.h"
#include "wire/test_guard_page.h"

enum { MONO8 = 0x01080001, WIDTH = 10, HEIGHT = 4, PIXELS_AT = 12, DATAGRAM = PIXELS_AT + WIDTH };

static struct rm_line_camera const camera = {
    .geometry = {.pixel_format = MONO8, .width = WIDTH, .height = HEIGHT},
    .first_line = 1,
};

/** That of lines.h. */
static struct rm_layout_description const described = {
    .byte_order = RM_BIG_ENDIAN,
    .bytes = DATAGRAM,
    .constant_count = 1,
    .constant = {{.at = 0, .type = RM_FIELD_U16, .value = 0x4C43}},
    .instrument_count = 1,
    .turn_count = 1,
    .id = {.present = true, .at = 2, .type = RM_FIELD_U16},
    .counter = {.present = true, .at = 4, .type = RM_FIELD_U32},
    .status = {.present = true, .at = 8, .type = RM_FIELD_U16},
    .lane_count = 1,
    .lane = {{.name = "pixels", .at = PIXELS_AT, .type = RM_FIELD_U8}},
};

static struct rm_layout *compiled(struct rm_layout_description const *description) {
    struct rm_layout *layout = NULL;
    struct rm_error error;
    if (rm_layout_compile(description, &layout, &error) != RM_OK)
        fail_msg("%s", error.text);
    return layout;
}

static void a_line_has_its_place(void **state) {
    (void)state;
    uint8_t const pixels[WIDTH] = {1};
    struct rm_image_fragment fragment;
    struct rm_image_line line = {.frame = 70000, .line = 3, .bytes = pixels, .length = WIDTH, .time = 9};
    assert_true(rm_line_fragment(&camera, &line, &fragment));
    assert_true(fragment.frame == 70000 && fragment.offset == 20 && fragment.bytes == pixels && fragment.time == 9);
    assert_true(fragment.length == WIDTH && fragment.fragment_bytes == WIDTH && fragment.total_bytes == 40);
    assert_memory_equal(&fragment.geometry, &camera.geometry, sizeof camera.geometry);
    line.line = 5;
    assert_false(rm_line_fragment(&camera, &line, &fragment));
    line.line = 0;
    assert_false(rm_line_fragment(&camera, &line, &fragment));
    line.line = 4;
    assert_true(rm_line_fragment(&camera, &line, &fragment));
    --line.length;
    assert_false(rm_line_fragment(&camera, &line, &fragment));
}

static void a_geometry_that_is_none_has_no_lines(void **state) {
    (void)state;
    uint8_t const pixels[WIDTH] = {1};
    struct rm_image_fragment fragment;
    struct rm_image_line const line = {.line = 1, .bytes = pixels, .length = WIDTH};
    struct rm_line_camera other = camera;
    other.geometry.padding_y = 1;
    assert_false(rm_line_fragment(&other, &line, &fragment));
    other = camera;
    other.geometry.height = (1 << 20) + 1;
    assert_false(rm_line_fragment(&other, &line, &fragment));
    other = camera;
    other.geometry.pixel_format = 1;
    assert_false(rm_line_fragment(&other, &line, &fragment));
}

static void check_refused(struct rm_layout_description const *description, struct rm_line_camera const *of,
                          char const *wanted) {
    struct rm_layout *const layout = compiled(description);
    struct rm_error error;
    assert_int_equal(rm_line_layout_check(layout, of, &error), RM_E_CONFIG);
    if (strstr(error.text, wanted) == NULL)
        fail_msg("found \"%s\", expected \"%s\"", error.text, wanted);
    rm_layout_free(layout);
}

static void layouts_that_are_no_lines_are_refused(void **state) {
    (void)state;
    struct rm_layout_description wrong = described;
    wrong.bytes = DATAGRAM + 1;
    check_refused(&wrong, &camera, "bytes: found 23, expected 22");
    wrong = described;
    wrong.status.present = false;
    check_refused(&wrong, &camera, "status: ");
    wrong = described;
    wrong.turn_count = 2;
    wrong.turn_stride = PIXELS_AT + 1;
    wrong.bytes = 2 * wrong.turn_stride;
    check_refused(&wrong, &camera, "one record");
    wrong = described;
    wrong.counter.type = RM_FIELD_U8;
    check_refused(&wrong, &camera, "counter: found 8 bits, expected 16");
    struct rm_line_camera other = camera;
    other.geometry.height = 0;
    check_refused(&described, &other, "geometry: ");
}

/** A datagram of the layout; returns how it ends as an image fragment. */
static enum rm_port_counter send(struct rm_layout const *layout, uint8_t *guard, uint16_t line, uint32_t length,
                                 struct rm_image_fragment *fragment) {
    uint8_t payload[DATAGRAM + 1] = {0};
    struct rm_sample const sample = {.counter = 0x01020304, .id = 77, .status = line};
    union rm_lane const lanes[RM_LANES] = {0};
    rm_layout_begin(layout, payload, DATAGRAM);
    rm_layout_write(layout, payload, 0, &sample, lanes);
    for (uint32_t i = 0; i < WIDTH; ++i)
        payload[PIXELS_AT + i] = (uint8_t)(10 * line + i);
    uint8_t const *const sent = guard_page_copy(guard, payload, length);
    uint32_t id = 0;
    enum rm_port_counter const verdict = rm_line_layout_fragment(layout, &camera, sent, length, fragment, &id);
    if (verdict == RM_PORT_DECODED) {
        assert_int_equal(id, 77);
        assert_ptr_equal(fragment->bytes, sent + PIXELS_AT);
    }
    return verdict;
}

static void described_datagrams_become_a_frame(void **state) {
    (void)state;
    struct rm_layout *const layout = compiled(&described);
    struct rm_error error;
    assert_int_equal(rm_line_layout_check(layout, &camera, &error), RM_OK);
    struct rm_assembly *const assembly = rm_assembly_new(&(struct rm_assembly_settings){
        .slots = 2, .bytes_max = 64, .fragments_max = 8, .deadline_ticks = 9, .restart_ticks = 9, .later = 1});
    uint8_t *const guard = guard_page_new();
    assert_true(assembly != NULL && guard != NULL);
    struct rm_image_fragment fragment;
    for (uint16_t line = HEIGHT; line >= 1; --line) {
        assert_int_equal(send(layout, guard, line, DATAGRAM, &fragment), RM_PORT_DECODED);
        assert_int_equal(rm_assembly_put(assembly, &fragment, 0), RM_FRAGMENT_PLACED);
    }
    struct rm_image const *const image = rm_assembly_take(assembly);
    assert_non_null(image);
    assert_true(image->frame == 0x01020304 && image->status == RM_IMAGE_WHOLE && image->length == 40);
    for (uint32_t i = 0; i < 40; ++i)
        assert_int_equal(image->bytes[i], 10 + i);
    assert_int_equal(send(layout, guard, HEIGHT + 1, DATAGRAM, &fragment), RM_PORT_BAD_LENGTH);
    assert_int_equal(send(layout, guard, 0, DATAGRAM, &fragment), RM_PORT_BAD_LENGTH);
    assert_int_equal(send(layout, guard, 1, DATAGRAM - 1, &fragment), RM_PORT_TOO_SHORT);
    assert_int_equal(send(layout, guard, 1, DATAGRAM + 1, &fragment), RM_PORT_TOO_LONG);
    uint8_t const other[DATAGRAM] = {0};
    uint32_t id;
    assert_int_equal(rm_line_layout_fragment(layout, &camera, other, DATAGRAM, &fragment, &id), RM_PORT_BAD_MAGIC);
    guard_page_free(guard);
    rm_assembly_free(assembly);
    rm_layout_free(layout);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_line_has_its_place),
        cmocka_unit_test(a_geometry_that_is_none_has_no_lines),
        cmocka_unit_test(layouts_that_are_no_lines_are_refused),
        cmocka_unit_test(described_datagrams_become_a_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
