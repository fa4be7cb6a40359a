// SPDX-License-Identifier: Apache-2.0
/** Assembly of frames in memory from outside, as that of a camera's images in the fabric. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frames/assembly.h"

enum { EACH = 16, TOTAL = 40, FRAGMENTS = 3, GIVEN_SLOTS = 4, GIVEN_FRAME_BYTES = 128, GIVEN_MAP_WORDS = 2 };

struct given_memory {
    _Alignas(64) uint8_t bytes[GIVEN_SLOTS][GIVEN_FRAME_BYTES];
    uint64_t maps[GIVEN_SLOTS][GIVEN_MAP_WORDS];
};

static struct rm_assembly_settings given_settings(struct given_memory *memory) {
    return (struct rm_assembly_settings){
        .slots = GIVEN_SLOTS,
        .bytes_max = 2 * TOTAL,
        .fragments_max = 2 * FRAGMENTS,
        .deadline_ticks = 100,
        .restart_ticks = 200,
        .later = 1,
        .bytes = memory->bytes[0],
        .maps = memory->maps[0],
        .frame_stride_bytes = sizeof memory->bytes[0],
        .map_stride_bytes = sizeof memory->maps[0],
    };
}

/** Part `index` of a frame of 40 bytes, which are `frame` as a byte. */
static enum rm_assembly_counter put_part(struct rm_assembly *assembly, uint64_t frame, uint32_t index) {
    uint8_t bytes[EACH];
    memset(bytes, (int)frame, sizeof bytes);
    struct rm_image_fragment const fragment = {
        .frame = frame,
        .offset = (uint64_t)index * EACH,
        .bytes = bytes,
        .length = index == FRAGMENTS - 1 ? TOTAL - 2 * EACH : EACH,
        .fragment_bytes = EACH,
        .total_bytes = TOTAL,
        .has_geometry = true,
        .geometry = {.width = TOTAL, .height = 1},
    };
    return rm_assembly_put(assembly, &fragment, frame);
}

static void frames_lie_in_given_memory(void **state) {
    (void)state;
    struct given_memory memory;
    memset(&memory, 0xEE, sizeof memory);
    struct rm_assembly_settings const settings = given_settings(&memory);
    struct rm_assembly *const assembly = rm_assembly_new(&settings);
    assert_non_null(assembly);
    uint32_t seen = 0;
    for (uint64_t frame = 1; frame <= GIVEN_SLOTS; ++frame) {
        for (uint32_t part = 0; part < FRAGMENTS; ++part)
            put_part(assembly, frame, part);
        struct rm_image const *const image = rm_assembly_take(assembly);
        assert_non_null(image);
        assert_in_range(image->slot, 0, GIVEN_SLOTS - 1);
        seen |= 1u << image->slot;
        assert_ptr_equal(image->bytes, memory.bytes[image->slot]);
        assert_ptr_equal(image->map, memory.maps[image->slot]);
        assert_true(memory.maps[image->slot][0] == (1u << FRAGMENTS) - 1);
        for (uint32_t i = 0; i < GIVEN_FRAME_BYTES; ++i)
            assert_int_equal(memory.bytes[image->slot][i], i < TOTAL ? frame : 0xEE);
    }
    assert_int_equal(seen, (1u << GIVEN_SLOTS) - 1);
    assert_int_equal(put_part(assembly, 5, 0), RM_FRAGMENT_WITHOUT_ROOM); /* all are leased */
    rm_assembly_free(assembly);
}

static void a_slot_that_is_withheld_is_left_alone(void **state) {
    (void)state;
    struct given_memory memory;
    memset(&memory, 0xEE, sizeof memory);
    struct rm_assembly_settings const settings = given_settings(&memory);
    struct rm_assembly *const assembly = rm_assembly_new(&settings);
    assert_non_null(assembly);
    struct rm_image const *const withheld = rm_assembly_withhold(assembly, 2);
    assert_int_equal(withheld->slot, 2);
    assert_null(rm_assembly_withhold(assembly, 2));
    for (uint64_t frame = 1; frame < GIVEN_SLOTS; ++frame) {
        assert_int_equal(put_part(assembly, frame, 0), RM_FRAGMENT_PLACED);
        assert_int_not_equal(rm_assembly_in_flight(assembly, NULL)->slot, 2);
    }
    assert_int_equal(memory.bytes[2][0], 0xEE);
    rm_assembly_release(assembly, withheld);
    assert_int_equal(put_part(assembly, GIVEN_SLOTS, 0), RM_FRAGMENT_PLACED);
    assert_int_equal(memory.bytes[2][0], GIVEN_SLOTS);
    rm_assembly_free(assembly);
}

static void given_memory_that_is_too_small_is_refused(void **state) {
    (void)state;
    struct given_memory memory;
    struct rm_assembly_settings settings = given_settings(&memory);
    settings.maps = NULL;
    assert_null(rm_assembly_new(&settings));
    settings = given_settings(&memory);
    settings.frame_stride_bytes = 64;
    assert_null(rm_assembly_new(&settings));
    settings = given_settings(&memory);
    settings.frame_stride_bytes = GIVEN_FRAME_BYTES - 1;
    assert_null(rm_assembly_new(&settings));
    settings = given_settings(&memory);
    settings.fragments_max = 64 * GIVEN_MAP_WORDS + 1;
    assert_null(rm_assembly_new(&settings));
}

static void numbers_of_another_width_begin_anew(void **state) {
    (void)state;
    struct given_memory memory;
    struct rm_assembly_settings settings = given_settings(&memory);
    settings.incomplete = RM_INCOMPLETE_DELIVER;
    settings.short_numbers = true;
    struct rm_assembly *const assembly = rm_assembly_new(&settings);
    assert_non_null(assembly);
    assert_int_equal(put_part(assembly, 65535, 0), RM_FRAGMENT_PLACED);
    rm_assembly_renumber(assembly, false, 65535);
    struct rm_image const *const image = rm_assembly_take(assembly);
    assert_int_equal(image->frame, 65535);
    assert_int_equal(image->status, RM_IMAGE_INCOMPLETE);
    assert_int_equal(put_part(assembly, 65536, 0), RM_FRAGMENT_PLACED);
    assert_true(rm_assembly_in_flight(assembly, NULL)->frame == 65536);
    assert_true(rm_assembly_counts(assembly)[RM_CAMERA_RESTARTS] == 1);
    rm_assembly_free(assembly);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(frames_lie_in_given_memory),
        cmocka_unit_test(a_slot_that_is_withheld_is_left_alone),
        cmocka_unit_test(numbers_of_another_width_begin_anew),
        cmocka_unit_test(given_memory_that_is_too_small_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
