// SPDX-License-Identifier: Apache-2.0
/** Described layouts: all ways of reading agree with the reference, whatever the description and the bytes, and read no
 * byte beyond the payload; what is written comes back; lengths and constants get their verdicts; Libera Grouping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire/layout_parts.h"
#include "wire/test_guard_page.h"
#include "wire/test_layout_random.h"

enum { DESCRIPTIONS = 200000, PAYLOAD_ROOM = GUARD_PAGE_BYTES };

static uint32_t below(void *from, uint32_t limit) {
    uint64_t *const state = from;
    *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return (uint32_t)((*state >> 33) % limit);
}

static void fill(struct layout_dice const *dice, uint8_t *bytes, uint32_t length) {
    uint32_t const kind = throw_dice(dice, 3);
    for (uint32_t i = 0; i < length; ++i)
        bytes[i] = kind == 0 ? UINT8_MAX : (uint8_t)(throw_dice(dice, 256) | (kind == 1 ? 0x80 : 0));
}

/** A length that the layout takes and that fits before the guard; 0 when there is none. */
static uint32_t some_length(struct layout_dice const *dice, struct rm_layout const *layout) {
    if (layout->shape.shortest > PAYLOAD_ROOM)
        return 0;
    uint32_t const length = rm_layout_payload_bytes(layout, 1 + throw_dice(dice, 20));
    return length <= layout->shape.longest && length <= PAYLOAD_ROOM ? length : layout->shape.shortest;
}

static void set_constants(struct rm_layout const *layout, uint8_t *payload) {
    for (uint32_t i = 0; i < layout->word_count; ++i)
        for (uint32_t j = 0; j < RM_LAYOUT_WORD_BYTES; ++j)
            if ((uint8_t)(layout->word[i].mask >> 8 * j) != 0)
                payload[layout->word[i].at + j] = (uint8_t)(layout->word[i].value >> 8 * j);
}

/** Turn and tag are the caller's. */
static void read_record(struct rm_layout const *layout, uint8_t const *payload, uint32_t index,
                        struct rm_sample *sample, struct rm_record *record) {
    memset(record, 0xA5, sizeof *record);
    memset(sample, 0xA5, sizeof *sample);
    rm_layout_read(layout, payload, index, sample, record);
    record->turn = record->tag = 7;
}

static void all_ways_agree(struct rm_layout *layout, uint8_t const *payload, uint32_t records, uint32_t ways[3]) {
    for (uint32_t index = 0; index < records; ++index) {
        struct rm_sample expected_sample, sample;
        struct rm_record expected, record;
        assert_true(rm_layout_read_by(layout, RM_BY_BYTES));
        read_record(layout, payload, index, &expected_sample, &expected);
        for (enum rm_layout_way way = RM_BY_WORDS; way <= RM_BY_VECTOR; ++way) {
            if (!rm_layout_read_by(layout, way))
                continue;
            ++ways[layout->numbers];
            read_record(layout, payload, index, &sample, &record);
            assert_int_equal(sample.id, expected_sample.id);
            assert_int_equal(sample.status, expected_sample.status);
            assert_true(sample.counter == expected_sample.counter);
            assert_memory_equal(&record, &expected, sizeof record);
        }
    }
}

static void ways_of_reading_agree(void **state) {
    (void)state;
    uint64_t seed = 20260730;
    struct layout_dice const dice = {below, &seed};
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    uint32_t compiled = 0, with_constants = 0, by_bytes = 0, ways[3] = {0};
    for (uint32_t i = 0; i < DESCRIPTIONS; ++i) {
        struct rm_layout_description description;
        struct rm_layout *layout;
        random_description(&dice, &description);
        if (rm_layout_compile(&description, &layout, NULL) != RM_OK)
            continue;
        uint32_t const length = some_length(&dice, layout);
        if (length != 0) {
            uint8_t *const payload = guard - length;
            uint32_t records;
            fill(&dice, payload, length);
            set_constants(layout, payload);
            assert_int_equal(rm_layout_check(layout, payload, length, &records), RM_PORT_DECODED);
            all_ways_agree(layout, payload, records, ways);
            ++compiled;
            by_bytes += !layout->numbers_by_words;
            with_constants += layout->word[0].mask != 0;
        }
        rm_layout_free(layout);
    }
    guard_page_free(guard);
    print_message("%u descriptions, %u with constants, %u with tight strides; records: %u by words, %u by vector\n",
                  compiled, with_constants, by_bytes, ways[RM_BY_WORDS], ways[RM_BY_VECTOR]);
    assert_true(compiled > DESCRIPTIONS / 20 && with_constants > 100 && by_bytes > 100 && ways[RM_BY_WORDS] > 1000);
    if (__builtin_cpu_supports("avx512vbmi"))
        assert_true(ways[RM_BY_VECTOR] > 1000);
}

/** Two turns of three instruments behind a header, big-endian, with a field of every width. */
static struct rm_layout_description const blocks_of_turns = {
    .byte_order = RM_BIG_ENDIAN,
    .constant_count = 2,
    .constant = {{.at = 0, .type = RM_FIELD_U32, .value = 0xCAFE0102}, {.at = 6, .type = RM_FIELD_U8, .value = 3}},
    .instrument_count = 3,
    .instrument_at = 12,
    .instrument_stride = 50,
    .turn_count = 2,
    .turn_at = 6,
    .turn_stride = 22,
    .id = {.present = true, .in = RM_IN_INSTRUMENT, .at = 0, .type = RM_FIELD_U16, .shift = 4, .bits = 12},
    .counter = {.present = true, .in = RM_IN_INSTRUMENT, .at = 2, .type = RM_FIELD_U32},
    .status = {.present = true, .in = RM_IN_TURN, .at = 0, .type = RM_FIELD_U16},
    .lane_count = 9,
    .lane = {{.at = 2, .type = RM_FIELD_U8},
             {.at = 3, .type = RM_FIELD_I8},
             {.at = 4, .type = RM_FIELD_U16},
             {.at = 6, .type = RM_FIELD_I16},
             {.at = 8, .type = RM_FIELD_U24},
             {.at = 11, .type = RM_FIELD_I24},
             {.at = 14, .type = RM_FIELD_U32},
             {.at = 14, .type = RM_FIELD_I32},
             {.at = 18, .type = RM_FIELD_F32}},
};

static struct rm_layout *compiled(struct rm_layout_description const *description) {
    struct rm_layout *layout;
    struct rm_error error;
    if (rm_layout_compile(description, &layout, &error) != RM_OK)
        fail_msg("%s", error.text);
    return layout;
}

static void fields_are_where_they_are_reported_to_be(void **state) {
    (void)state;
    uint8_t payload[12 + 3 * 50] = {0xCA, 0xFE, 1, 2, 9, 9, 3};
    static uint8_t const block_head[] = {0xAB, 0xC7, 0x01, 0x02, 0x03, 0x04};
    static uint8_t const turn[] = {0x80, 0x01, 0xFF, 0xFE, 0xFF, 0xFD, 0xFF, 0xFC, 0xFF, 0xFF, 0xFB,
                                   0xFF, 0xFF, 0xFA, 0xFF, 0xFF, 0xFF, 0xF9, 0x40, 0x20, 0x00, 0x00};
    memcpy(payload + 12 + 50, block_head, sizeof block_head);
    memcpy(payload + 12 + 50 + 6 + 22, turn, sizeof turn);
    struct rm_layout *const layout = compiled(&blocks_of_turns);
    assert_int_equal(rm_layout_counter_bits(layout), 32);
    assert_memory_equal(rm_layout_described(layout), &blocks_of_turns, sizeof blocks_of_turns);
    uint32_t records;
    assert_int_equal(rm_layout_check(layout, payload, sizeof payload, &records), RM_PORT_DECODED);
    assert_int_equal(records, 6);
    struct rm_sample sample;
    struct rm_record record;
    rm_layout_read(layout, payload, 3, &sample, &record);
    assert_int_equal(sample.id, 0xABC);
    assert_int_equal(sample.status, 0x8001);
    assert_true(sample.counter == 0x01020305);
    static int32_t const lanes[] = {0xFF, -2, 0xFFFD, -4, 0xFFFFFB, -6, INT32_MAX, -7};
    assert_memory_equal(record.lane, lanes, sizeof lanes);
    assert_true(record.lane[8].f == 2.5f);
    assert_int_equal(record.lane[9].i, 0);
    rm_layout_free(layout);
}

static void counters_come_round(void **state) {
    (void)state;
    struct rm_layout_description description = blocks_of_turns;
    description.counter = (struct rm_layout_field){
        .present = true, .in = RM_IN_DATAGRAM, .at = 7, .type = RM_FIELD_U24, .shift = 1, .bits = 20};
    struct rm_layout *const layout = compiled(&description);
    uint8_t payload[12 + 3 * 50] = {[7] = 0xFF, [8] = 0xFF, [9] = 0xFE};
    struct rm_sample sample;
    struct rm_record record;
    rm_layout_read(layout, payload, 4, &sample, &record);
    assert_true(sample.counter == 0xFFFFF);
    rm_layout_read(layout, payload, 5, &sample, &record);
    assert_true(sample.counter == 0);
    rm_layout_free(layout);
}

static void what_is_written_comes_back(void **state) {
    (void)state;
    struct rm_layout *const layout = compiled(&blocks_of_turns);
    uint8_t payload[12 + 3 * 50];
    uint32_t records;
    assert_int_equal(rm_layout_payload_bytes(layout, 1), sizeof payload);
    rm_layout_begin(layout, payload, sizeof payload);
    assert_int_equal(rm_layout_check(layout, payload, sizeof payload, &records), RM_PORT_DECODED);
    static union rm_lane const lanes[RM_LANES] = {{.i = 200},    {.i = -100},        {.i = 60000},
                                                  {.i = -30000}, {.i = 16000000},    {.i = -8000000},
                                                  {.i = 55},     {.i = -2000000000}, {.f = -0.125f}};
    for (uint32_t i = 0; i < records; ++i) {
        struct rm_sample const sample = {.id = 100 + i / 2, .status = (uint16_t)(i << 12), .counter = 7000 + i % 2};
        rm_layout_write(layout, payload, i, &sample, lanes);
    }
    for (uint32_t i = 0; i < records; ++i) {
        struct rm_sample sample;
        struct rm_record record;
        rm_layout_read(layout, payload, i, &sample, &record);
        assert_int_equal(sample.id, 100 + i / 2);
        assert_int_equal(sample.status, i << 12);
        assert_true(sample.counter == 7000 + i % 2);
        assert_memory_equal(record.lane, lanes, 6 * sizeof lanes[0]);
        assert_int_equal(record.lane[7].i, -2000000000);
        assert_true(record.lane[8].f == -0.125f);
    }
    rm_layout_free(layout);
}

static void wrong_lengths_and_constants(void **state) {
    (void)state;
    struct rm_layout *const layout = compiled(&blocks_of_turns);
    uint8_t payload[12 + 3 * 50 + 1];
    uint32_t records;
    uint32_t const length = sizeof payload - 1;
    rm_layout_begin(layout, payload, sizeof payload);
    assert_int_equal(rm_layout_check(layout, payload, 0, &records), RM_PORT_TOO_SHORT);
    assert_int_equal(rm_layout_check(layout, payload, length - 1, &records), RM_PORT_TOO_SHORT);
    assert_int_equal(rm_layout_check(layout, payload, length + 1, &records), RM_PORT_TOO_LONG);
    static bool const is_constant[8] = {true, true, true, true, false, false, true, false};
    for (uint32_t i = 0; i < 8; ++i) {
        payload[i] ^= 1;
        assert_int_equal(rm_layout_check(layout, payload, length, &records),
                         is_constant[i] ? RM_PORT_BAD_MAGIC : RM_PORT_DECODED);
        payload[i] ^= 1;
    }
    rm_layout_free(layout);
}

/** Every stride and every length: the division that is none. */
static void numbers_of_blocks_are_exact(void **state) {
    (void)state;
    static uint8_t const payload[RM_LAYOUT_PAYLOAD_MAX];
    for (uint32_t stride = 5; stride <= RM_LAYOUT_PAYLOAD_MAX - 11; stride += stride < 64 ? 1 : 61) {
        struct rm_layout_description const description = {
            .instrument_at = 11,
            .instrument_stride = stride,
            .turn_count = 1,
            .counter = {.present = true, .in = RM_IN_TURN, .at = 0, .type = RM_FIELD_U8},
            .lane_count = 1,
            .lane = {{.at = 1, .type = RM_FIELD_I32}},
        };
        struct rm_layout *const layout = compiled(&description);
        for (uint32_t length = 0; length <= RM_LAYOUT_PAYLOAD_MAX; ++length) {
            uint32_t records = 0;
            enum rm_port_counter const verdict = rm_layout_check(layout, payload, length, &records);
            if (length < 11 + stride)
                assert_int_equal(verdict, RM_PORT_TOO_SHORT);
            else if (length > layout->shape.longest)
                assert_int_equal(verdict, RM_PORT_TOO_LONG);
            else if ((length - 11) % stride != 0)
                assert_int_equal(verdict, RM_PORT_BAD_LENGTH);
            else
                assert_true(verdict == RM_PORT_DECODED && records == (length - 11) / stride);
        }
        rm_layout_free(layout);
    }
}

static void blocks_may_stand_between_turns(void **state) {
    (void)state;
    struct rm_layout_description const turn_by_turn = {
        .instrument_count = 3,
        .instrument_at = 8,
        .instrument_stride = 4,
        .turn_count = 2,
        .turn_stride = 12,
        .counter = {.present = true, .in = RM_IN_DATAGRAM, .at = 0, .type = RM_FIELD_U64},
        .lane_count = 1,
        .lane = {{.at = 0, .type = RM_FIELD_I32}},
    };
    struct rm_layout *const layout = compiled(&turn_by_turn);
    int32_t payload[8] = {100, 0, 10, 20, 30, 11, 21, 31};
    uint32_t records;
    assert_int_equal(rm_layout_check(layout, (uint8_t *)payload, sizeof payload, &records), RM_PORT_DECODED);
    assert_int_equal(records, 6);
    static int32_t const expected[] = {10, 11, 20, 21, 30, 31};
    for (uint32_t i = 0; i < records; ++i) {
        struct rm_sample sample;
        struct rm_record record;
        rm_layout_read(layout, (uint8_t *)payload, i, &sample, &record);
        assert_int_equal(sample.id, i / 2);
        assert_int_equal(sample.status, 0);
        assert_true(sample.counter == 100 + i % 2);
        assert_int_equal(record.lane[0].i, expected[i]);
    }
    rm_layout_free(layout);
}

static void libera_grouping(void **state) {
    (void)state;
    assert_null(rm_layout_preset("libera"));
    static char const *const names[] = {"libera_grouping", "libera_grouping_counter_first"};
    for (uint32_t older = 0; older < 2; ++older) {
        struct rm_layout *const layout = compiled(rm_layout_preset(names[older]));
        /* sum 100 000 000, x 120 500, y -87 250, status: PLL locked, BPM 168, valid; counter 0xFFFE */
        uint8_t payload[256 * 16] = {
            [255 * 16] = 0x00, 0xE1, 0xF5, 0x05, 0xB4, 0xD6, 0x01, 0x00, 0x2E, 0xAB, 0xFE, 0xFF};
        uint8_t *const tail = payload + 255 * 16 + 12;
        memcpy(tail + (older ? 2 : 0), (uint8_t[]){0xA1, 0x0A}, 2);
        memcpy(tail + (older ? 0 : 2), (uint8_t[]){0xFE, 0xFF}, 2);
        uint32_t records;
        assert_int_equal(rm_layout_check(layout, payload, sizeof payload, &records), RM_PORT_DECODED);
        assert_int_equal(records, 256);
        assert_int_equal(rm_layout_check(layout, payload, sizeof payload - 2, &records), RM_PORT_BAD_LENGTH);
        assert_int_equal(rm_layout_check(layout, payload, 15, &records), RM_PORT_TOO_SHORT);
        assert_int_equal(rm_layout_payload_bytes(layout, 168), 2688);
        assert_int_equal(rm_layout_counter_bits(layout), 16);
        struct rm_sample sample;
        struct rm_record record;
        rm_layout_read(layout, payload, 255, &sample, &record);
        assert_int_equal(sample.id, 168);
        assert_int_equal(sample.status, 0x0AA1);
        assert_true(sample.counter == 0xFFFE);
        assert_int_equal(record.lane[0].i, 120500);
        assert_int_equal(record.lane[1].i, -87250);
        assert_int_equal(record.lane[2].i, 100000000);
        rm_layout_free(layout);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(ways_of_reading_agree),
        cmocka_unit_test(fields_are_where_they_are_reported_to_be),
        cmocka_unit_test(counters_come_round),
        cmocka_unit_test(what_is_written_comes_back),
        cmocka_unit_test(wrong_lengths_and_constants),
        cmocka_unit_test(numbers_of_blocks_are_exact),
        cmocka_unit_test(blocks_may_stand_between_turns),
        cmocka_unit_test(libera_grouping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
