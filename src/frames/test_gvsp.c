// SPDX-License-Identifier: Apache-2.0
/** GVSP: every block of vectors/gvsp.txt and resend.txt (the arguments), and back; every cut length; fragments; chunks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frames/gvsp.h"
#include "frames/test_frames_vectors.h"
#include "wire/test_guard_page.h"

static char const *const fault_names[] = {"good",     "too_short",     "other_format",
                                          "no_block", "other_payload", "bad_packet_id"};

enum { FAULTS = sizeof fault_names / sizeof fault_names[0] };

static struct { char const *gvsp, *resend; } files;

static void check_packet(struct frames_vector *vector, struct rm_gvsp_packet const *packet) {
    frames_vector_is(vector, "status", packet->status);
    frames_vector_is(vector, "extended_ids", packet->extended_ids);
    frames_vector_is(vector, "format", packet->format);
    frames_vector_is(vector, "flags", packet->flags);
    frames_vector_is(vector, "block", packet->block);
    frames_vector_is(vector, "packet", packet->packet);
    frames_vector_is(vector, "payload_type", packet->payload_type);
    frames_vector_is(vector, "time", packet->time);
    frames_vector_is(vector, "lines", packet->height);
    frames_vector_is(vector, "block_bytes", packet->block_bytes);
    frames_vector_is(vector, "layout", packet->layout);
    frames_vector_is(vector, "length", packet->length);
    frames_vector_geometry(vector, &packet->geometry);
    assert_int_equal(packet->has_geometry, packet->geometry.width != 0);
    frames_vector_all_used(vector);
}

static void check_written(uint8_t const *payload, uint32_t length, struct rm_gvsp_packet const *packet) {
    uint8_t written[RM_GVSP_LONGEST];
    uint32_t const header = rm_gvsp_write(written, packet);
    assert_int_equal(header + packet->length, length);
    assert_memory_equal(written, payload, header);
    if (packet->length != 0)
        assert_ptr_equal(packet->bytes, payload + header);
}

static void every_vector_gets_its_verdict(void **state) {
    (void)state;
    FILE *const file = fopen(files.gvsp, "r");
    assert_non_null(file);
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    unsigned seen[FAULTS] = {0};
    for (struct frames_vector vector; frames_vector_read(file, &vector);) {
        uint8_t const *const payload = guard_page_copy(guard, vector.payload, vector.length);
        struct rm_gvsp_packet packet = {.block = 0};
        enum rm_gvsp_fault const fault = rm_gvsp_parse(payload, vector.length, &packet);
        if (strcmp(vector.verdict, fault_names[fault]) != 0)
            fail_msg("%s: expected %s, got %s", vector.name, vector.verdict, fault_names[fault]);
        ++seen[fault];
        if (fault != RM_GVSP_GOOD) {
            assert_int_equal(packet.block, 0);
            continue;
        }
        check_packet(&vector, &packet);
        check_written(payload, vector.length, &packet);
    }
    guard_page_free(guard);
    fclose(file);
    for (unsigned i = 0; i < FAULTS; ++i)
        if (!seen[i])
            fail_msg("no vector for the verdict %s", fault_names[i]);
}

/** A good packet that is cut is too short, or has less bytes; nothing is read beyond. */
static void every_cut_is_judged_without_reading_on(void **state) {
    (void)state;
    FILE *const file = fopen(files.gvsp, "r");
    assert_non_null(file);
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    for (struct frames_vector vector; frames_vector_read(file, &vector);) {
        struct rm_gvsp_packet whole, cut;
        if (rm_gvsp_parse(vector.payload, vector.length, &whole) != RM_GVSP_GOOD ||
            whole.status >= RM_GVSP_STATUS_ERROR)
            continue;
        uint32_t const least =
            vector.length - whole.length + (whole.format == RM_GVSP_PAYLOAD); /* a payload needs a byte */
        for (uint32_t length = 0; length < vector.length; ++length) {
            uint8_t const *const payload = guard_page_copy(guard, vector.payload, length);
            assert_int_equal(rm_gvsp_parse(payload, length, &cut), length < least ? RM_GVSP_TOO_SHORT : RM_GVSP_GOOD);
        }
    }
    guard_page_free(guard);
    fclose(file);
}

static void requests_are_written_as_the_vectors_have_them(void **state) {
    (void)state;
    FILE *const file = fopen(files.resend, "r");
    assert_non_null(file);
    unsigned count = 0;
    for (struct frames_vector vector; frames_vector_read(file, &vector); ++count) {
        struct rm_gvcp_resend const resend = {
            .request = (uint16_t)frames_vector_field(&vector, "request"),
            .channel = (uint16_t)frames_vector_field(&vector, "channel"),
            .extended_ids = frames_vector_field(&vector, "extended_ids"),
            .block = frames_vector_field(&vector, "block"),
            .first = (uint32_t)frames_vector_field(&vector, "first"),
            .last = (uint32_t)frames_vector_field(&vector, "last"),
        };
        frames_vector_all_used(&vector);
        uint8_t written[RM_GVCP_RESEND_LONGEST];
        assert_int_equal(rm_gvcp_write_resend(written, &resend), vector.length);
        assert_memory_equal(written, vector.payload, vector.length);
    }
    assert_int_equal(count, 2);
    fclose(file);
}

static struct rm_gvsp_packet const image_leader = {
    .format = RM_GVSP_LEADER,
    .block = 5,
    .payload_type = RM_GVSP_IMAGE,
    .time = 77,
    .has_geometry = true,
    .geometry = {.pixel_format = 0x01100005, .width = 100, .height = 10},
};

static void packets_become_fragments(void **state) {
    (void)state;
    struct rm_image_fragment fragment;
    assert_true(rm_gvsp_fragment(&image_leader, 1440, &fragment));
    assert_true(fragment.frame == 5 && fragment.total_bytes == 2000 && fragment.time == 77 && fragment.has_geometry);
    assert_int_equal(fragment.length, 0);

    uint8_t const bytes[560] = {0};
    struct rm_gvsp_packet const second = {
        .format = RM_GVSP_PAYLOAD, .block = 5, .packet = 2, .bytes = bytes, .length = 560};
    assert_true(rm_gvsp_fragment(&second, 1440, &fragment));
    assert_true(fragment.offset == 1440 && fragment.length == 560 && fragment.fragment_bytes == 1440);
    assert_true(fragment.bytes == bytes && fragment.total_bytes == 0 && !fragment.has_geometry);
    assert_int_equal(rm_gvsp_payload_packets(2000, 1440), 2);
    assert_int_equal(rm_gvsp_payload_packets(2880, 1440), 2);

    struct rm_gvsp_packet const gone = {.status = RM_GVSP_STATUS_UNAVAILABLE, .format = RM_GVSP_PAYLOAD, .block = 5};
    assert_false(rm_gvsp_fragment(&gone, 1440, &fragment));
}

/** With chunks the leader's geometry is not all; the trailer has the total. */
static void chunks_make_the_trailer_know(void **state) {
    (void)state;
    struct rm_image_fragment fragment;
    struct rm_gvsp_packet packet = image_leader;
    packet.payload_type |= RM_GVSP_CHUNKS;
    assert_true(rm_gvsp_fragment(&packet, 1440, &fragment));
    assert_true(fragment.total_bytes == 0 && fragment.has_geometry);
    struct rm_gvsp_packet const trailer = {.format = RM_GVSP_TRAILER, .block = 5, .packet = 3, .block_bytes = 2024};
    assert_true(rm_gvsp_fragment(&trailer, 1440, &fragment));
    assert_true(fragment.total_bytes == 2024 && fragment.length == 0);
}

static void chunks_are_found_from_the_end(void **state) {
    (void)state;
    static uint8_t const block[] = {
        1, 2, 3, 4, 5, /* the image */ 0, 0, 0, 0xA, 0, 0, 0, 5, 9, 9, 9, 9, /* a time */ 0, 0, 0, 0xB, 0, 0, 0, 4};
    struct rm_gvsp_chunk chunk;
    assert_true(rm_gvsp_last_chunk(block, sizeof block, &chunk));
    assert_true(chunk.id == 0xB && chunk.length == 4 && chunk.bytes == block + 13);
    assert_true(rm_gvsp_last_chunk(block, (uint64_t)(chunk.bytes - block), &chunk));
    assert_true(chunk.id == 0xA && chunk.length == 5 && chunk.bytes == block);
    assert_false(rm_gvsp_last_chunk(block, 0, &chunk));
    assert_false(rm_gvsp_last_chunk(block + 1, 12, &chunk)); /* says that it is longer than what there is */
    assert_false(rm_gvsp_last_chunk(block + 6, 7, &chunk));
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s gvsp.txt resend.txt\n", argv[0]);
        return 2;
    }
    files.gvsp = argv[1];
    files.resend = argv[2];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_vector_gets_its_verdict),
        cmocka_unit_test(every_cut_is_judged_without_reading_on),
        cmocka_unit_test(requests_are_written_as_the_vectors_have_them),
        cmocka_unit_test(packets_become_fragments),
        cmocka_unit_test(chunks_make_the_trailer_know),
        cmocka_unit_test(chunks_are_found_from_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
