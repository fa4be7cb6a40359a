// SPDX-License-Identifier: Apache-2.0
/** Assembly of frames: random scripts against a model, and what the model leaves out: policies, room, wraps, restarts,
 * deadlines, gaps; streams of both formats from end to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/assembly.h"
#include "frames/fragment.h"
#include "frames/gvsp.h"
#include "frames/stream_copy.h"
#include "frames/test_assembly_model.h"

enum { SCRIPTS = 400, SCRIPT_BYTES = 1500, EACH = 16, TOTAL = 40, FRAGMENTS = 3, DEADLINE = 100, RESTART = 200 };

static void random_scripts_agree_with_the_model(void **state) {
    (void)state;
    struct assembly_seen seen = {0}, hostile = {0};
    srandom(1);
    for (int i = 0; i < SCRIPTS; ++i) {
        uint8_t script[SCRIPT_BYTES];
        for (uint32_t j = 0; j < sizeof script; ++j)
            script[j] = (uint8_t)(random() >> 7);
        char const *wrong = assembly_model_play(script, (size_t)(SCRIPT_BYTES - i % 2), &seen);
        wrong = wrong != NULL ? wrong : assembly_hostile_play(script, sizeof script, &hostile);
        if (wrong != NULL)
            fail_msg("script %d: %s", i, wrong);
    }
    assert_true(seen.accepted > 10000 && seen.duplicate > 1000 && seen.refused > 1000 && seen.late > 1000);
    assert_true(seen.whole > 1000 && seen.incomplete > 1000);
    assert_true(hostile.whole > 100 && hostile.incomplete > 1000 && hostile.late > 100);
}

static struct rm_assembly_settings const plain = {
    .slots = 4,
    .bytes_max = 2 * TOTAL,
    .fragments_max = 2 * FRAGMENTS,
    .deadline_ticks = DEADLINE,
    .restart_ticks = RESTART,
    .later = 1,
    .incomplete = RM_INCOMPLETE_DELIVER,
};

static struct rm_assembly *assembly_make(struct rm_assembly_settings const *settings) {
    struct rm_assembly *const made = rm_assembly_new(settings);
    assert_non_null(made);
    return made;
}

static uint64_t count_of(struct rm_assembly const *assembly, enum rm_assembly_counter counter) {
    return rm_assembly_counts(assembly)[counter];
}

/** Fragment `index` of a frame of 40 bytes, which are `frame` as a byte; -1: its geometry. */
static enum rm_assembly_counter put_part(struct rm_assembly *assembly, uint64_t frame, int index, uint64_t now) {
    uint8_t bytes[EACH];
    memset(bytes, (int)frame, sizeof bytes);
    struct rm_image_fragment fragment = {
        .frame = frame, .total_bytes = TOTAL, .fragment_bytes = EACH, .has_geometry = index < 0, .time = 10 * frame};
    if (index >= 0) {
        fragment.offset = (uint64_t)index * EACH;
        fragment.bytes = bytes;
        fragment.length = index == FRAGMENTS - 1 ? TOTAL - 2 * EACH : EACH;
    } else {
        fragment.geometry.width = TOTAL;
        fragment.geometry.height = 1;
    }
    return rm_assembly_put(assembly, &fragment, now);
}

static void put_whole(struct rm_assembly *assembly, uint64_t frame, uint64_t now) {
    for (int i = -1; i < FRAGMENTS; ++i)
        put_part(assembly, frame, i, now);
}

static struct rm_image const *take_frame(struct rm_assembly *assembly, uint64_t frame, enum rm_image_status status) {
    struct rm_image const *const image = rm_assembly_take(assembly);
    assert_non_null(image);
    assert_true(image->frame == frame);
    assert_int_equal(image->status, status);
    return image;
}

static void release_frame(struct rm_assembly *assembly, uint64_t frame, enum rm_image_status status) {
    rm_assembly_release(assembly, take_frame(assembly, frame, status));
}

static void impossible_settings_make_nothing(void **state) {
    (void)state;
    struct rm_assembly_settings settings = plain;
    settings.slots = 1;
    assert_null(rm_assembly_new(&settings));
    settings.slots = RM_ASSEMBLY_SLOTS_MAX + 1;
    assert_null(rm_assembly_new(&settings));
    settings = plain;
    settings.bytes_max = 0;
    assert_null(rm_assembly_new(&settings));
    settings = plain;
    settings.later = 0;
    assert_null(rm_assembly_new(&settings));
    rm_assembly_free(NULL);
}

static void a_frame_is_whole_with_its_last_part_in_any_order(void **state) {
    (void)state;
    static int const orders[][4] = {{-1, 0, 1, 2}, {0, 1, 2, -1}, {2, -1, 0, 1}, {1, 2, 0, -1}};
    struct rm_assembly *const assembly = assembly_make(&plain);
    for (uint32_t o = 0; o < 4; ++o) {
        for (int i = 0; i < 4; ++i) {
            assert_null(rm_assembly_take(assembly));
            assert_int_equal(put_part(assembly, 7 + o, orders[o][i], 50 + (uint64_t)i),
                             orders[o][i] < 0 ? RM_FRAGMENT_INFORMED : RM_FRAGMENT_PLACED);
        }
        struct rm_image const *const image = take_frame(assembly, 7 + o, RM_IMAGE_WHOLE);
        assert_true(image->length == TOTAL && image->time == 10 * (7 + o) && image->geometry.width == TOTAL);
        assert_true(image->first_ticks == 50 && image->newest_ticks == 53 && image->closed_ticks == 53);
        for (uint32_t i = 0; i < TOTAL; ++i)
            assert_int_equal(image->bytes[i], 7 + o);
        rm_assembly_release(assembly, image);
        assert_int_equal(put_part(assembly, 7 + o, 0, 60), RM_FRAGMENT_LATE);
        assert_int_equal(put_part(assembly, 7 + o, -1, 60), RM_FRAGMENT_TRAILING);
    }
    rm_assembly_free(assembly);
}

static void a_frame_closes_at_its_deadline(void **state) {
    (void)state;
    struct rm_assembly *const assembly = assembly_make(&plain);
    put_part(assembly, 3, 1, 1000);
    put_part(assembly, 3, 2, 1000 + DEADLINE - 1);
    rm_assembly_expire(assembly, 1000 + DEADLINE - 1);
    assert_null(rm_assembly_take(assembly));
    uint32_t first, end = 0;
    assert_true(rm_image_next_gap(rm_assembly_in_flight(assembly, NULL), &first, &end));
    assert_true(first == 0 && end == 1);
    assert_false(rm_image_next_gap(rm_assembly_in_flight(assembly, NULL), &first, &end));
    rm_assembly_expire(assembly, 1000 + DEADLINE);
    struct rm_image const *const image = take_frame(assembly, 3, RM_IMAGE_INCOMPLETE);
    assert_true(image->fragments == FRAGMENTS && image->placed == 2 && !image->has_geometry);
    assert_true(image->bytes[0] == 0 && image->bytes[EACH - 1] == 0 && image->bytes[EACH] == 3);
    assert_true(count_of(assembly, RM_FRAMES_AT_DEADLINE) == 1);
    rm_assembly_free(assembly);
}

static void a_frame_closes_behind_so_many_later_ones(void **state) {
    (void)state;
    struct rm_assembly_settings settings = plain;
    settings.later = 2;
    struct rm_assembly *const assembly = assembly_make(&settings);
    put_part(assembly, 1, 0, 0);
    put_whole(assembly, 2, 1);
    release_frame(assembly, 2, RM_IMAGE_WHOLE);
    assert_null(rm_assembly_take(assembly));
    assert_int_equal(put_part(assembly, 1, 1, 2), RM_FRAGMENT_PLACED); /* still in flight */
    put_whole(assembly, 3, 3);
    release_frame(assembly, 1, RM_IMAGE_INCOMPLETE); /* before the one that closed it */
    release_frame(assembly, 3, RM_IMAGE_WHOLE);
    assert_true(count_of(assembly, RM_FRAMES_BEHIND_LATER) == 1);
    rm_assembly_free(assembly);
}

static void incomplete_frames_are_dropped_or_filled(void **state) {
    (void)state;
    struct rm_assembly_settings settings = plain;
    settings.incomplete = RM_INCOMPLETE_DROP;
    struct rm_assembly *assembly = assembly_make(&settings);
    put_part(assembly, 1, 0, 0);
    rm_assembly_expire(assembly, DEADLINE);
    assert_null(rm_assembly_take(assembly));
    assert_true(count_of(assembly, RM_FRAMES_DROPPED) == 1);
    rm_assembly_free(assembly);

    settings.incomplete = RM_INCOMPLETE_FILL;
    assembly = assembly_make(&settings);
    put_part(assembly, 1, 0, 0);
    rm_assembly_expire(assembly, DEADLINE);
    release_frame(assembly, 1, RM_IMAGE_INCOMPLETE); /* there is no last one yet */
    put_whole(assembly, 2, DEADLINE);
    release_frame(assembly, 2, RM_IMAGE_WHOLE);
    for (uint64_t frame = 3; frame < 20; ++frame) { /* each from the one before, and so from frame 2 */
        put_part(assembly, frame, 1, DEADLINE * frame);
        rm_assembly_expire(assembly, DEADLINE * (frame + 1));
        struct rm_image const *const image = take_frame(assembly, frame, RM_IMAGE_FILLED);
        assert_true(image->bytes[0] == 2 && image->bytes[EACH] == frame && image->bytes[TOTAL - 1] == 2);
        assert_true(image->placed == 1);
        rm_assembly_release(assembly, image);
    }
    put_part(assembly, 20, 1, DEADLINE * 20);
    put_whole(assembly, 21, DEADLINE * 20);
    struct rm_image const *const image = take_frame(assembly, 20, RM_IMAGE_FILLED);
    assert_true(image->bytes[0] == 2); /* of a frame before it, and not of the one that closed it */
    rm_assembly_release(assembly, image);
    rm_assembly_free(assembly);
}

static void leases_are_never_taken_back(void **state) {
    (void)state;
    struct rm_assembly *const assembly = assembly_make(&plain);
    struct rm_image const *lease[4];
    for (uint32_t i = 0; i < 4; ++i) {
        put_whole(assembly, 1 + i, i);
        lease[i] = take_frame(assembly, 1 + i, RM_IMAGE_WHOLE);
    }
    assert_int_equal(put_part(assembly, 5, 0, 9), RM_FRAGMENT_WITHOUT_ROOM);
    for (uint32_t i = 0; i < 4; ++i)
        assert_int_equal(lease[i]->bytes[TOTAL - 1], 1 + i);
    rm_assembly_release(assembly, lease[2]);
    put_whole(assembly, 5, 10);
    put_whole(assembly, 6, 11); /* takes the place of 5, which nobody took */
    release_frame(assembly, 6, RM_IMAGE_WHOLE);
    assert_true(count_of(assembly, RM_FRAMES_UNREAD) == 1);
    put_part(assembly, 7, 0, 12);
    put_part(assembly, 8, 0, 13); /* the place of 7, in flight */
    assert_true(count_of(assembly, RM_FRAMES_FOR_ROOM) == 1 && count_of(assembly, RM_FRAMES_DROPPED) == 1);
    assert_int_equal(put_part(assembly, 7, 1, 14), RM_FRAGMENT_LATE);
    rm_assembly_free(assembly);
}

static void numbers_wrap_around(void **state) {
    (void)state;
    struct rm_assembly_settings settings = plain;
    settings.short_numbers = true;
    struct rm_assembly *const assembly = assembly_make(&settings);
    static uint64_t const numbers[] = {65534, 65535, 1, 2};
    put_part(assembly, 65533, 0, 0);
    for (uint32_t i = 0; i < 4; ++i) {
        put_whole(assembly, numbers[i], i);
        if (i == 0)
            release_frame(assembly, 65533, RM_IMAGE_INCOMPLETE);
        release_frame(assembly, numbers[i], RM_IMAGE_WHOLE);
    }
    assert_int_equal(put_part(assembly, 65535, 0, 5), RM_FRAGMENT_LATE);
    assert_true(count_of(assembly, RM_FRAMES_SKIPPED) == 0 && count_of(assembly, RM_CAMERA_RESTARTS) == 0);
    put_whole(assembly, 5, 6);
    assert_true(count_of(assembly, RM_FRAMES_SKIPPED) == 2);
    rm_assembly_free(assembly);
}

static void a_camera_restarts_its_numbers(void **state) {
    (void)state;
    struct rm_assembly *const assembly = assembly_make(&plain);
    put_whole(assembly, 30, 0);
    release_frame(assembly, 30, RM_IMAGE_WHOLE);
    put_part(assembly, 31, 0, 1);
    assert_int_equal(put_part(assembly, 1, 0, RESTART), RM_FRAGMENT_LATE); /* not silent for so long yet */
    put_whole(assembly, 1, 1 + RESTART);
    release_frame(assembly, 31, RM_IMAGE_INCOMPLETE);
    release_frame(assembly, 1, RM_IMAGE_WHOLE);
    assert_true(count_of(assembly, RM_FRAMES_AT_RESTART) == 1 && count_of(assembly, RM_CAMERA_RESTARTS) == 1);
    put_whole(assembly, 2 + RM_ASSEMBLY_WINDOW, 2 + RESTART); /* so far away at once */
    release_frame(assembly, 2 + RM_ASSEMBLY_WINDOW, RM_IMAGE_WHOLE);
    assert_true(count_of(assembly, RM_CAMERA_RESTARTS) == 2 && count_of(assembly, RM_FRAMES_SKIPPED) == 0);
    rm_assembly_free(assembly);
}

static void what_is_refused_is_named_and_begins_nothing(void **state) {
    (void)state;
    struct rm_assembly *const assembly = assembly_make(&plain);
    uint8_t const bytes[2 * TOTAL] = {0};
    struct rm_image_fragment const good = {.frame = 9, .bytes = bytes, .length = EACH, .fragment_bytes = EACH};
    struct {
        uint64_t offset, total;
        uint32_t length, each;
        enum rm_assembly_counter verdict;
    } const wrong[] = {
        {8, 0, EACH, EACH, RM_FRAGMENT_MISPLACED},
        {0, 0, EACH, EACH - 1, RM_FRAGMENT_MISPLACED},
        {0, 0, EACH, 0, RM_FRAGMENT_MISPLACED},
        {0, 2 * TOTAL + 1, EACH, EACH, RM_FRAGMENT_BEYOND},
        {2 * TOTAL, 0, EACH, EACH, RM_FRAGMENT_BEYOND},
        {UINT64_MAX - 15, 0, EACH, EACH, RM_FRAGMENT_BEYOND},
        {12, 0, 2, 2, RM_FRAGMENT_BEYOND},
        {0, 40, 2, 2, RM_FRAGMENT_BEYOND},
        {48, TOTAL, EACH, EACH, RM_FRAGMENT_BEYOND},
        {0, TOTAL, EACH - 1, EACH, RM_FRAGMENT_CONTRADICTING},
    };
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        struct rm_image_fragment fragment = good;
        fragment.offset = wrong[i].offset;
        fragment.total_bytes = wrong[i].total;
        fragment.length = wrong[i].length;
        fragment.fragment_bytes = wrong[i].each;
        assert_int_equal(rm_assembly_put(assembly, &fragment, 0), wrong[i].verdict);
    }
    assert_true(count_of(assembly, RM_FRAMES_BEGUN) == 0);
    assert_int_equal(put_part(assembly, 9, -1, 0), RM_FRAGMENT_INFORMED);
    struct rm_image_fragment fragment = {.frame = 9, .total_bytes = TOTAL, .has_geometry = true, .geometry.width = 1};
    assert_int_equal(rm_assembly_put(assembly, &fragment, 0), RM_FRAGMENT_CONTRADICTING);
    fragment = (struct rm_image_fragment){.frame = 9, .total_bytes = TOTAL + 1};
    assert_int_equal(rm_assembly_put(assembly, &fragment, 0), RM_FRAGMENT_CONTRADICTING);
    rm_assembly_free(assembly);
}

/** So that a reader who goes by the geometry stays within the bytes. */
static void a_total_below_the_geometry_s_is_refused(void **state) {
    (void)state;
    enum { MONO8 = 0x01080001 };
    struct rm_assembly *const assembly = assembly_make(&plain);
    uint8_t const bytes[TOTAL] = {0};
    struct rm_image_geometry const geometry = {.pixel_format = MONO8, .width = TOTAL, .height = 1};
    struct rm_image_fragment all = {.frame = 5,
                                    .bytes = bytes,
                                    .length = TOTAL - 1,
                                    .fragment_bytes = TOTAL - 1,
                                    .total_bytes = TOTAL - 1,
                                    .has_geometry = true,
                                    .geometry = geometry};
    assert_int_equal(rm_assembly_put(assembly, &all, 0), RM_FRAGMENT_CONTRADICTING);
    struct rm_image_fragment const leader = {.frame = 6, .has_geometry = true, .geometry = geometry};
    struct rm_image_fragment trailer = {.frame = 6, .total_bytes = TOTAL - 1};
    assert_int_equal(rm_assembly_put(assembly, &leader, 0), RM_FRAGMENT_INFORMED);
    assert_int_equal(rm_assembly_put(assembly, &trailer, 0), RM_FRAGMENT_CONTRADICTING);
    trailer.frame = 7;
    assert_int_equal(rm_assembly_put(assembly, &trailer, 0), RM_FRAGMENT_INFORMED);
    struct rm_image_fragment late = leader;
    late.frame = 7;
    assert_int_equal(rm_assembly_put(assembly, &late, 0), RM_FRAGMENT_CONTRADICTING);
    all.length = all.fragment_bytes = TOTAL;
    all.total_bytes = TOTAL;
    assert_int_equal(rm_assembly_put(assembly, &all, 0), RM_FRAGMENT_PLACED);
    rm_assembly_free(assembly);
}

static void another_geometry_is_told(void **state) {
    (void)state;
    struct rm_assembly *const assembly = assembly_make(&plain);
    uint8_t const bytes[EACH] = {0};
    for (uint64_t frame = 1; frame <= 4; ++frame) {
        struct rm_image_fragment const only = {.frame = frame,
                                               .bytes = bytes,
                                               .length = 8,
                                               .fragment_bytes = 8,
                                               .total_bytes = 8,
                                               .has_geometry = true,
                                               .geometry.width = frame < 3 ? 8 : 4};
        assert_int_equal(rm_assembly_put(assembly, &only, frame), RM_FRAGMENT_PLACED);
        struct rm_image const *const image = take_frame(assembly, frame, RM_IMAGE_WHOLE);
        assert_int_equal(image->geometry_changed, frame == 3);
        rm_assembly_release(assembly, image);
    }
    assert_true(count_of(assembly, RM_GEOMETRY_CHANGES) == 1);
    rm_assembly_free(assembly);
}

static void every_counter_has_a_name_of_its_own(void **state) {
    (void)state;
    for (uint32_t i = 0; i < RM_ASSEMBLY_COUNTERS; ++i)
        for (uint32_t j = 0; j <= i; ++j) {
            char const *const name = rm_assembly_counter_name((enum rm_assembly_counter)i);
            assert_non_null(name);
            assert_int_equal(strcmp(name, rm_assembly_counter_name((enum rm_assembly_counter)j)) == 0, i == j);
        }
}

static void streams_are_copied_at_any_length_and_alignment(void **state) {
    (void)state;
    uint8_t from[400], to[400], wanted[400];
    for (uint32_t i = 0; i < sizeof from; ++i)
        from[i] = (uint8_t)(i * 7 + 1);
    for (enum rm_simd simd = RM_SIMD_SCALAR; simd <= rm_simd_best(); ++simd)
        for (uint32_t length = 0; length < 200; ++length)
            for (uint32_t at = 0; at < 70; ++at) {
                memset(to, 0, sizeof to);
                memset(wanted, 0, sizeof wanted);
                memcpy(wanted + at, from + at % 9, length);
                rm_stream_copy_for(simd)(to + at, from + at % 9, length);
                assert_memory_equal(to, wanted, sizeof to);
            }
    rm_stream_copy_end();
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(random_scripts_agree_with_the_model),
        cmocka_unit_test(impossible_settings_make_nothing),
        cmocka_unit_test(a_frame_is_whole_with_its_last_part_in_any_order),
        cmocka_unit_test(a_frame_closes_at_its_deadline),
        cmocka_unit_test(a_frame_closes_behind_so_many_later_ones),
        cmocka_unit_test(incomplete_frames_are_dropped_or_filled),
        cmocka_unit_test(leases_are_never_taken_back),
        cmocka_unit_test(numbers_wrap_around),
        cmocka_unit_test(a_camera_restarts_its_numbers),
        cmocka_unit_test(what_is_refused_is_named_and_begins_nothing),
        cmocka_unit_test(a_total_below_the_geometry_s_is_refused),
        cmocka_unit_test(another_geometry_is_told),
        cmocka_unit_test(every_counter_has_a_name_of_its_own),
        cmocka_unit_test(streams_are_copied_at_any_length_and_alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
