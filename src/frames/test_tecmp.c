// SPDX-License-Identifier: Apache-2.0
/** TECMP: every block of vectors/tecmp.txt (the argument), and back; every cut length; lines of a camera. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frames/tecmp.h"
#include "frames/test_frames_vectors.h"
#include "wire/test_guard_page.h"

static char const *const fault_names[] = {"good", "too_short", "is_cmp", "other_message"};

enum { FAULTS = sizeof fault_names / sizeof fault_names[0], RAW12 = 0x810C0100 };

static char const *vectors_path;

static uint32_t count_entries(uint8_t const *packet, uint32_t length, struct rm_tecmp_entry *first) {
    uint32_t count = 0, at = RM_TECMP_HEADER_BYTES;
    for (struct rm_tecmp_entry entry; rm_tecmp_next(packet, length, &at, &entry); ++count) {
        assert_true(at <= length && entry.bytes + entry.length == packet + at);
        if (count == 0)
            *first = entry;
    }
    return count;
}

static void check_packet(struct frames_vector *vector, uint8_t const *packet, struct rm_tecmp_header const *header) {
    frames_vector_is(vector, "device", header->device);
    frames_vector_is(vector, "counter", header->counter);
    frames_vector_is(vector, "version", header->version);
    frames_vector_is(vector, "message_type", header->message_type);
    frames_vector_is(vector, "data_type", header->data_type);
    frames_vector_is(vector, "flags", header->flags);
    frames_vector_is(vector, "part", rm_tecmp_part(header));
    struct rm_tecmp_entry entry = {0};
    frames_vector_is(vector, "entries", count_entries(packet, vector->length, &entry));
    frames_vector_is(vector, "interface", entry.interface);
    frames_vector_is(vector, "time_ns", entry.time_ns);
    frames_vector_is(vector, "unsynchronised", entry.is_unsynchronised);
    frames_vector_is(vector, "entry_flags", entry.flags);
    frames_vector_is(vector, "length", entry.length);
    frames_vector_all_used(vector);
    uint8_t written[RM_TECMP_HEADER_BYTES + RM_TECMP_ENTRY_BYTES];
    assert_int_equal(rm_tecmp_write(written, header), RM_TECMP_HEADER_BYTES);
    assert_int_equal(rm_tecmp_write_entry(written + RM_TECMP_HEADER_BYTES, &entry), RM_TECMP_ENTRY_BYTES);
    assert_memory_equal(written, packet, entry.length != 0 ? sizeof written : RM_TECMP_HEADER_BYTES);
}

static void every_vector_gets_its_verdict(void **state) {
    (void)state;
    FILE *const file = fopen(vectors_path, "r");
    assert_non_null(file);
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    unsigned seen[FAULTS] = {0};
    for (struct frames_vector vector; frames_vector_read(file, &vector);) {
        uint8_t const *const packet = guard_page_copy(guard, vector.payload, vector.length);
        struct rm_tecmp_header header = {.version = 77};
        enum rm_tecmp_fault const fault = rm_tecmp_parse(packet, vector.length, &header);
        if (strcmp(vector.verdict, fault_names[fault]) != 0)
            fail_msg("%s: expected %s, got %s", vector.name, vector.verdict, fault_names[fault]);
        ++seen[fault];
        if (fault == RM_TECMP_GOOD)
            check_packet(&vector, packet, &header);
        else
            assert_int_equal(header.version, 77);
    }
    guard_page_free(guard);
    fclose(file);
    for (unsigned i = 0; i < FAULTS; ++i)
        if (!seen[i])
            fail_msg("no vector for the verdict %s", fault_names[i]);
}

/** A cut packet has less entries, or no header; nothing is read beyond. */
static void every_cut_is_judged_without_reading_on(void **state) {
    (void)state;
    FILE *const file = fopen(vectors_path, "r");
    assert_non_null(file);
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    struct rm_tecmp_header header;
    struct rm_tecmp_entry entry;
    for (struct frames_vector vector; frames_vector_read(file, &vector);) {
        if (strcmp(vector.verdict, "good") != 0)
            continue;
        uint32_t before = 0;
        for (uint32_t length = 0; length <= vector.length; ++length) {
            uint8_t const *const packet = guard_page_copy(guard, vector.payload, length);
            bool const has_header = length >= RM_TECMP_HEADER_BYTES;
            assert_int_equal(rm_tecmp_parse(packet, length, &header), has_header ? RM_TECMP_GOOD : RM_TECMP_TOO_SHORT);
            uint32_t const entries = has_header ? count_entries(packet, length, &entry) : 0;
            assert_true(entries == before || entries == before + 1);
            before = entries;
        }
    }
    guard_page_free(guard);
    fclose(file);
}

/** A camera of 4 × 3 pixels of RAW12 behind channel 2 of a device; its lines have 6 bytes. */
static struct rm_tecmp_camera const camera = {
    .device = 0x90,
    .interface = 5,
    .channel = 2,
    .lines.geometry = {.pixel_format = RAW12, .width = 4, .height = 3},
};

struct playing {
    struct rm_tecmp_stream stream;
    uint8_t memory[64];
    uint16_t counter;
    struct rm_image_fragment fragment;
};

/** Sends bytes as one packet; true where they become an image fragment. */
static bool play_bytes(struct playing *playing, uint16_t flags, uint8_t const *bytes, uint32_t length) {
    struct rm_tecmp_header const header = {
        .device = 0x90, .counter = playing->counter++, .data_type = RM_TECMP_CSI2_L, .flags = flags};
    struct rm_tecmp_entry const entry = {.interface = 5, .time_ns = 1000, .bytes = bytes, .length = length};
    playing->stream.join.bytes = playing->memory;
    playing->stream.join.capacity = sizeof playing->memory;
    rm_tecmp_follow(&playing->stream, &header);
    return rm_tecmp_fragment(&camera, &playing->stream, &header, &entry, &playing->fragment);
}

static uint8_t const start[] = {0x80, 9, 0, 0}, end[] = {0x81, 9, 0, 0}, starts_line_3[] = {0x82, 3, 0, 0};
static uint8_t const pixels[] = {0xAC, 6, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0};
static uint8_t const embedded[] = {0x92, 1, 0, 0, 1, 0, 0}, other_channel[] = {0x6C, 0, 0, 0, 0, 0};

enum { WHOLE = RM_TECMP_FIRST_PART | RM_TECMP_LAST_PART };

static void lines_are_counted_from_the_start_of_a_frame(void **state) {
    (void)state;
    struct playing playing = {.counter = 0xFFFD};
    assert_false(play_bytes(&playing, WHOLE, pixels, sizeof pixels));
    assert_false(play_bytes(&playing, WHOLE, start, sizeof start));
    assert_false(play_bytes(&playing, WHOLE, embedded, sizeof embedded));
    assert_false(play_bytes(&playing, WHOLE, other_channel, sizeof other_channel));
    assert_true(play_bytes(&playing, WHOLE, pixels, sizeof pixels));
    struct rm_image_fragment const *const fragment = &playing.fragment;
    assert_true(fragment->frame == 9 && fragment->offset == 0 && fragment->length == 6 && fragment->time == 1000);
    assert_true(fragment->fragment_bytes == 6 && fragment->total_bytes == 18 && fragment->has_geometry);
    assert_ptr_equal(fragment->bytes, pixels + 4);
    assert_false(play_bytes(&playing, WHOLE, starts_line_3, sizeof starts_line_3));
    assert_true(play_bytes(&playing, WHOLE, pixels, sizeof pixels));
    assert_int_equal(fragment->offset, 12);
    assert_false(play_bytes(&playing, WHOLE, pixels, sizeof pixels)); /* the frame has 3 lines */
    assert_false(play_bytes(&playing, WHOLE, end, sizeof end));
    assert_false(play_bytes(&playing, WHOLE, pixels, sizeof pixels));
    assert_int_equal(playing.stream.missing, 0);
}

static void a_lost_packet_makes_lines_unknown_until_the_next_frame(void **state) {
    (void)state;
    struct playing playing = {0};
    assert_false(play_bytes(&playing, WHOLE, start, sizeof start));
    assert_true(play_bytes(&playing, WHOLE, pixels, sizeof pixels));
    ++playing.counter;
    assert_false(play_bytes(&playing, WHOLE, pixels, sizeof pixels));
    assert_false(play_bytes(&playing, WHOLE, pixels, sizeof pixels));
    assert_int_equal(playing.stream.missing, 1);
    assert_false(play_bytes(&playing, WHOLE, start, sizeof start));
    assert_true(play_bytes(&playing, WHOLE, pixels, sizeof pixels));
    assert_int_equal(playing.fragment.offset, 0);
    assert_false(play_bytes(&playing, WHOLE, pixels, sizeof pixels - 1)); /* not as long as it says */
    assert_false(play_bytes(&playing, WHOLE, pixels, sizeof pixels));
}

static void a_line_in_parts_becomes_one_fragment(void **state) {
    (void)state;
    struct playing playing = {0};
    assert_false(play_bytes(&playing, WHOLE, start, sizeof start));
    assert_false(play_bytes(&playing, RM_TECMP_FIRST_PART, pixels, 5));
    assert_false(play_bytes(&playing, 0, pixels + 5, 3));
    assert_true(play_bytes(&playing, RM_TECMP_LAST_PART, pixels + 8, 4));
    assert_int_equal(playing.fragment.offset, 0);
    assert_memory_equal(playing.fragment.bytes, pixels + 4, 6);
    assert_false(play_bytes(&playing, RM_TECMP_LAST_PART, pixels + 8, 4)); /* of a line that has not begun */
    assert_int_equal(playing.stream.join.broken, 1);
    assert_false(play_bytes(&playing, WHOLE, pixels, sizeof pixels)); /* which one is it? */
}

static void what_is_not_the_camera_s_is_passed_over(void **state) {
    (void)state;
    struct playing playing = {0};
    struct rm_tecmp_header header = {.device = 0x90, .data_type = RM_TECMP_CSI2_V, .flags = WHOLE};
    struct rm_tecmp_entry entry = {.interface = 5, .bytes = start, .length = sizeof start};
    assert_false(rm_tecmp_fragment(&camera, &playing.stream, &header, &entry, &playing.fragment));
    entry.bytes = pixels;
    entry.length = sizeof pixels;
    header.device = 0x91;
    assert_false(rm_tecmp_fragment(&camera, &playing.stream, &header, &entry, &playing.fragment));
    header.device = 0x90;
    header.data_type = RM_TECMP_ETHERNET;
    assert_false(rm_tecmp_fragment(&camera, &playing.stream, &header, &entry, &playing.fragment));
    header.data_type = RM_TECMP_CSI2_V;
    entry.interface = 6;
    assert_false(rm_tecmp_fragment(&camera, &playing.stream, &header, &entry, &playing.fragment));
    entry.interface = 5;
    assert_true(rm_tecmp_fragment(&camera, &playing.stream, &header, &entry, &playing.fragment));
    assert_int_equal(playing.fragment.offset, 0);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s tecmp.txt\n", argv[0]);
        return 2;
    }
    vectors_path = argv[1];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_vector_gets_its_verdict),
        cmocka_unit_test(every_cut_is_judged_without_reading_on),
        cmocka_unit_test(lines_are_counted_from_the_start_of_a_frame),
        cmocka_unit_test(a_lost_packet_makes_lines_unknown_until_the_next_frame),
        cmocka_unit_test(a_line_in_parts_becomes_one_fragment),
        cmocka_unit_test(what_is_not_the_camera_s_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
