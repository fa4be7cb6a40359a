// SPDX-License-Identifier: Apache-2.0
/** ASAM CMP: every block of vectors/cmp.txt (the argument), and back; every cut length; lines of a camera. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frames/cmp.h"
#include "frames/test_frames_vectors.h"
#include "wire/test_guard_page.h"

static char const *const fault_names[] = {"good", "too_short", "is_tecmp", "other_message"};

enum { FAULTS = sizeof fault_names / sizeof fault_names[0], RAW12 = 0x810C0100 };

static char const *vectors_path;

static uint32_t count_messages(uint8_t const *packet, uint32_t length, struct rm_cmp_message *first) {
    uint32_t count = 0, at = RM_CMP_HEADER_BYTES;
    for (struct rm_cmp_message message; rm_cmp_next(packet, length, &at, &message); ++count) {
        assert_true(at <= length && message.bytes + message.length == packet + at);
        if (count == 0)
            *first = message;
    }
    return count;
}

static void check_csi2(struct frames_vector *vector, struct rm_cmp_message const *message) {
    struct rm_cmp_csi2 csi2 = {0};
    bool const is_csi2 = message->payload_type == RM_CMP_CSI2 && message->part == RM_PART_WHOLE &&
                         rm_cmp_csi2_parse(message->bytes, message->length, &csi2);
    frames_vector_is(vector, "csi2_flags", csi2.flags);
    frames_vector_is(vector, "frame", csi2.frame);
    frames_vector_is(vector, "line", csi2.line);
    frames_vector_is(vector, "data_type", csi2.packet.data_type);
    frames_vector_is(vector, "channel", csi2.packet.channel);
    frames_vector_is(vector, "ecc", csi2.packet.ecc);
    frames_vector_is(vector, "checksum", csi2.packet.checksum);
    frames_vector_is(vector, "number", csi2.packet.number);
    frames_vector_is(vector, "bytes", csi2.packet.length);
    if (!is_csi2)
        return;
    uint8_t written[RM_CMP_CSI2_BYTES];
    assert_int_equal(rm_cmp_write_csi2(written, &csi2), sizeof written);
    assert_memory_equal(written, message->bytes, sizeof written);
}

static void check_packet(struct frames_vector *vector, uint8_t const *packet, struct rm_cmp_header const *header) {
    struct rm_cmp_message message = {0};
    frames_vector_is(vector, "version", header->version);
    frames_vector_is(vector, "device", header->device);
    frames_vector_is(vector, "stream", header->stream);
    frames_vector_is(vector, "counter", header->counter);
    frames_vector_is(vector, "messages", count_messages(packet, vector->length, &message));
    frames_vector_is(vector, "time_ns", message.time_ns);
    frames_vector_is(vector, "interface", message.interface);
    frames_vector_is(vector, "part", message.part);
    frames_vector_is(vector, "flags", message.flags);
    frames_vector_is(vector, "payload_type", message.payload_type);
    frames_vector_is(vector, "length", message.length);
    check_csi2(vector, &message);
    frames_vector_all_used(vector);
    uint8_t written[RM_CMP_HEADER_BYTES + RM_CMP_MESSAGE_BYTES];
    assert_int_equal(rm_cmp_write(written, header), RM_CMP_HEADER_BYTES);
    assert_int_equal(rm_cmp_write_message(written + RM_CMP_HEADER_BYTES, &message), RM_CMP_MESSAGE_BYTES);
    assert_memory_equal(written, packet, message.length != 0 ? sizeof written : RM_CMP_HEADER_BYTES);
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
        struct rm_cmp_header header = {.version = 77};
        enum rm_cmp_fault const fault = rm_cmp_parse(packet, vector.length, &header);
        if (strcmp(vector.verdict, fault_names[fault]) != 0)
            fail_msg("%s: expected %s, got %s", vector.name, vector.verdict, fault_names[fault]);
        ++seen[fault];
        if (fault == RM_CMP_GOOD)
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

/** A cut packet has less messages, or no header; nothing is read beyond. */
static void every_cut_is_judged_without_reading_on(void **state) {
    (void)state;
    FILE *const file = fopen(vectors_path, "r");
    assert_non_null(file);
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    struct rm_cmp_header header;
    struct rm_cmp_message message;
    struct rm_cmp_csi2 csi2;
    for (struct frames_vector vector; frames_vector_read(file, &vector);) {
        if (strcmp(vector.verdict, "good") != 0)
            continue;
        uint32_t before = 0;
        for (uint32_t length = 0; length <= vector.length; ++length) {
            uint8_t const *const packet = guard_page_copy(guard, vector.payload, length);
            bool const has_header = length >= RM_CMP_HEADER_BYTES;
            assert_int_equal(rm_cmp_parse(packet, length, &header), has_header ? RM_CMP_GOOD : RM_CMP_TOO_SHORT);
            uint32_t const messages = has_header ? count_messages(packet, length, &message) : 0;
            assert_true(messages == before || messages == before + 1);
            before = messages;
            (void)rm_cmp_csi2_parse(packet, length, &csi2);
        }
    }
    guard_page_free(guard);
    fclose(file);
}

/** A camera of 4 × 3 pixels of RAW12, whose first line is 1; its lines have 6 bytes. */
static struct rm_cmp_camera const camera = {
    .device = 7,
    .interface = 5,
    .channel = 2,
    .lines = {.geometry = {.pixel_format = RAW12, .width = 4, .height = 3}, .first_line = 1},
};

static uint8_t const pixels[] = {1, 2, 3, 4, 5, 6};
static struct rm_cmp_csi2 const third_line = {
    .frame = 300, .line = 3, .packet = {.data_type = RM_CSI2_RAW12, .channel = 2, .bytes = pixels, .length = 6}};

/** The payload of a packet on the link. */
static uint32_t put_csi2(uint8_t *to, struct rm_cmp_csi2 const *csi2) {
    uint32_t const length = rm_cmp_write_csi2(to, csi2);
    memcpy(to + length, pixels, csi2->packet.length);
    return length + csi2->packet.length;
}

/** Whether it becomes an image fragment as one message. */
static bool is_fragment(struct rm_cmp_csi2 const *csi2, struct rm_cmp_message const *as,
                        struct rm_image_fragment *fragment) {
    uint8_t payload[64];
    struct rm_message_join join = {0};
    struct rm_cmp_header const header = {.device = 7};
    struct rm_cmp_message message = *as;
    message.length = put_csi2(payload, csi2);
    message.bytes = payload;
    return rm_cmp_fragment(&camera, &join, &header, &message, fragment);
}

static void lines_go_to_their_places(void **state) {
    (void)state;
    struct rm_image_fragment fragment;
    struct rm_cmp_message const message = {.time_ns = 1000, .interface = 5, .payload_type = RM_CMP_CSI2};
    struct rm_cmp_csi2 csi2 = third_line;
    assert_true(is_fragment(&csi2, &message, &fragment));
    assert_true(fragment.frame == 300 && fragment.offset == 12 && fragment.length == 6 && fragment.time == 1000);
    assert_true(fragment.fragment_bytes == 6 && fragment.total_bytes == 18 && fragment.has_geometry);
    csi2.line = 4;
    assert_false(is_fragment(&csi2, &message, &fragment));
    csi2.line = 0;
    assert_false(is_fragment(&csi2, &message, &fragment));
    csi2.line = 1;
    assert_true(is_fragment(&csi2, &message, &fragment));
    assert_int_equal(fragment.offset, 0);
}

static void what_is_no_good_line_is_passed_over(void **state) {
    (void)state;
    struct rm_image_fragment fragment;
    struct rm_cmp_message const good = {.interface = 5, .payload_type = RM_CMP_CSI2};
    struct rm_cmp_message message = good;
    message.interface = 6;
    assert_false(is_fragment(&third_line, &message, &fragment));
    message = good;
    message.payload_type = RM_CMP_ETHERNET;
    assert_false(is_fragment(&third_line, &message, &fragment));
    message = good;
    message.flags = RM_CMP_BAD_PAYLOAD;
    assert_false(is_fragment(&third_line, &message, &fragment));
    struct rm_cmp_csi2 csi2 = third_line;
    csi2.flags = RM_CMP_CRC_ERROR;
    assert_false(is_fragment(&csi2, &good, &fragment));
    csi2 = third_line;
    csi2.packet.channel = 3;
    assert_false(is_fragment(&csi2, &good, &fragment));
    csi2 = third_line;
    csi2.packet.data_type = RM_CSI2_RAW10;
    assert_false(is_fragment(&csi2, &good, &fragment));
    csi2 = third_line;
    csi2.packet.length = 5;
    assert_false(is_fragment(&csi2, &good, &fragment));
    assert_true(is_fragment(&third_line, &good, &fragment));
}

static void a_line_in_parts_becomes_one_fragment(void **state) {
    (void)state;
    uint8_t memory[32], payload[64];
    uint32_t const length = put_csi2(payload, &third_line);
    assert_int_equal(length, 22);
    struct rm_message_join join = {.bytes = memory, .capacity = sizeof memory};
    struct rm_cmp_header header = {.device = 7, .counter = 0xFFFF};
    struct rm_cmp_message message = {.interface = 5, .payload_type = RM_CMP_CSI2};
    struct rm_image_fragment fragment;
    static struct {
        enum rm_message_part part;
        uint32_t from, to;
        uint16_t ahead;
    } const sent[] = {
        {RM_PART_FIRST, 0, 18, 0}, {RM_PART_MIDDLE, 18, 20, 0}, {RM_PART_LAST, 20, 22, 0},
        {RM_PART_FIRST, 0, 20, 0}, {RM_PART_LAST, 20, 22, 1},                              /* a packet is lost */
        {RM_PART_FIRST, 0, 18, 0}, {RM_PART_FIRST, 0, 20, 0},   {RM_PART_LAST, 20, 22, 0}, /* one begins anew */
        {RM_PART_FIRST, 0, 22, 0}, {RM_PART_MIDDLE, 0, 11, 0},  {RM_PART_LAST, 20, 22, 0}, /* too long for the join */
    };
    bool const wanted[] = {false, false, true, false, false, false, false, true, false, false, false};
    for (size_t i = 0; i < sizeof wanted; ++i) {
        header.counter = (uint16_t)(header.counter + sent[i].ahead);
        message.part = sent[i].part;
        message.bytes = payload + sent[i].from;
        message.length = sent[i].to - sent[i].from;
        assert_int_equal(rm_cmp_fragment(&camera, &join, &header, &message, &fragment), wanted[i]);
        ++header.counter;
    }
    assert_memory_equal(fragment.bytes, pixels, sizeof pixels);
    assert_int_equal(join.broken, 4); /* lost, begun anew, too long, and the part behind that */
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s cmp.txt\n", argv[0]);
        return 2;
    }
    vectors_path = argv[1];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_vector_gets_its_verdict),
        cmocka_unit_test(every_cut_is_judged_without_reading_on),
        cmocka_unit_test(lines_go_to_their_places),
        cmocka_unit_test(what_is_no_good_line_is_passed_over),
        cmocka_unit_test(a_line_in_parts_becomes_one_fragment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
