// SPDX-License-Identifier: Apache-2.0
/** Our format: every block of vectors/images.txt (the argument), and back; every cut and surplus length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frames/fragment.h"
#include "frames/test_frames_vectors.h"
#include "wire/test_guard_page.h"

static char const *const fault_names[] = {"good",         "too_short",     "bad_magic", "unknown_version",
                                          "unknown_kind", "unknown_flags", "bad_place", "bad_geometry",
                                          "bad_length"};

enum { FAULTS = sizeof fault_names / sizeof fault_names[0] };

static char const *vectors_path;

static void check_datagram(struct frames_vector *vector, struct rm_image_datagram const *datagram) {
    struct rm_image_fragment const *const fragment = &datagram->fragment;
    frames_vector_is(vector, "kind", datagram->kind);
    frames_vector_is(vector, "flags", datagram->flags);
    frames_vector_is(vector, "camera", datagram->camera);
    frames_vector_is(vector, "exposure_start_ns", datagram->exposure_start_ns);
    frames_vector_is(vector, "exposure_end_ns", datagram->exposure_end_ns);
    frames_vector_is(vector, "frame", fragment->frame);
    frames_vector_is(vector, "time", fragment->time);
    frames_vector_is(vector, "total_bytes", fragment->total_bytes);
    frames_vector_is(vector, "fragment_bytes", fragment->fragment_bytes);
    frames_vector_is(vector, "offset", fragment->offset);
    frames_vector_is(vector, "length", fragment->length);
    frames_vector_geometry(vector, &fragment->geometry);
    assert_int_equal(fragment->has_geometry, datagram->kind == RM_IMAGE_CONFIGURATION);
    frames_vector_all_used(vector);
}

/** Written back to the bit, and refused with one byte less or more. */
static void check_lengths(struct frames_vector const *vector, struct rm_image_datagram const *datagram,
                          uint8_t *guard) {
    uint8_t written[VECTOR_PAYLOAD] = {0};
    uint32_t const header = rm_image_write(written, datagram);
    assert_int_equal(header + datagram->fragment.length, vector->length);
    assert_memory_equal(written, vector->payload, header);
    struct rm_image_datagram again;
    for (uint32_t length = 0; length <= vector->length + 1; ++length) {
        uint8_t const *const payload = guard_page_copy(guard, vector->payload, length);
        assert_int_equal(rm_image_parse(payload, length, &again), length < RM_IMAGE_HEAD_BYTES ? RM_IMAGE_TOO_SHORT
                                                                  : length == vector->length   ? RM_IMAGE_GOOD
                                                                                               : RM_IMAGE_BAD_LENGTH);
    }
}

static void every_vector_gets_its_verdict(void **state) {
    (void)state;
    FILE *const file = fopen(vectors_path, "r");
    assert_non_null(file);
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    unsigned seen[FAULTS] = {0};
    for (struct frames_vector vector; frames_vector_read(file, &vector);) {
        uint8_t const *const payload = guard_page_copy(guard, vector.payload, vector.length);
        struct rm_image_datagram datagram = {.camera = 3};
        enum rm_image_fault const fault = rm_image_parse(payload, vector.length, &datagram);
        if (strcmp(vector.verdict, fault_names[fault]) != 0)
            fail_msg("%s: expected %s, got %s", vector.name, vector.verdict, fault_names[fault]);
        ++seen[fault];
        if (fault != RM_IMAGE_GOOD) {
            assert_int_equal(datagram.camera, 3);
            continue;
        }
        check_datagram(&vector, &datagram);
        if (datagram.fragment.length != 0)
            assert_ptr_equal(datagram.fragment.bytes, payload + RM_IMAGE_FRAGMENT_HEADER_BYTES);
        check_lengths(&vector, &datagram, guard);
    }
    guard_page_free(guard);
    fclose(file);
    for (unsigned i = 0; i < FAULTS; ++i)
        if (!seen[i])
            fail_msg("no vector for the verdict %s", fault_names[i]);
}

static void frames_have_the_bytes_of_their_lines(void **state) {
    (void)state;
    struct rm_image_geometry geometry = {
        .pixel_format = 0x010C0047, .width = 5, .height = 3, .padding_x = 2, .padding_y = 7};
    assert_true(rm_image_bytes(&geometry) == 3 * (8 + 2) + 7);
    geometry.height = (1 << 20) + 1;
    assert_true(rm_image_bytes(&geometry) == 0);
    geometry.height = 1 << 20;
    geometry.width = 1 << 20;
    assert_true(rm_image_bytes(&geometry) == ((uint64_t)3 << 39) + ((uint64_t)2 << 20) + 7);
    geometry.width = (1 << 20) + 1;
    assert_true(rm_image_bytes(&geometry) == 0);
    geometry.width = 0;
    assert_true(rm_image_bytes(&geometry) == 0);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s images.txt\n", argv[0]);
        return 2;
    }
    vectors_path = argv[1];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_vector_gets_its_verdict),
        cmocka_unit_test(frames_have_the_bytes_of_their_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
