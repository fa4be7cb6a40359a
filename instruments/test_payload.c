// SPDX-License-Identifier: Apache-2.0
#include "payload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/stream.h>

#include "config/kind_lanes.h"
#include "lane_names.h"
#include "wire/native.h"

enum { MOST = 8, PERIOD = 116 };

static rm_turn const TURN = 116ull * 70000; /* whose counter has wrapped at 16 bits */

/** Lane l of instrument i at place p is (p, i, l) in digits. */
static void write_digits(union rm_lane *lanes, int32_t count, int32_t place) {
    for (int32_t i = 0; i < count * RM_LANES; ++i)
        lanes[i].i = place * 10000 + i / RM_LANES * 100 + i % RM_LANES;
}

/** A group of instruments of one format. */
struct bench {
    struct rm_format format;
    struct rm_virtual_instrument instruments[MOST];
    struct rm_virtual_group group;
    struct rm_payload payload;
};

static struct bench *make(struct rm_format format, unsigned kind, uint32_t count, uint32_t period) {
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    bench->format = format;
    for (uint32_t i = 0; i < count; ++i) {
        bench->instruments[i].kind = (uint8_t)kind;
        bench->instruments[i].id = (uint16_t)(i + 40);
        bench->instruments[i].status = (uint16_t)(0x8001 | (i + 40) << 2);
        rm_kind_lanes(kind, &bench->instruments[i].lane_count);
    }
    bench->group = (struct rm_virtual_group){.count = count, .period_turns = period, .format = &bench->format};
    return bench;
}

static void start(struct bench *bench) {
    assert_int_equal(rm_payload_make(&bench->group, bench->instruments, &bench->payload, NULL), RM_OK);
}

static void destroy(struct bench *bench) {
    rm_payload_free(&bench->payload);
    rm_format_free(&bench->format);
    free(bench);
}

static struct rm_format builtin(char const *name) {
    struct rm_format format;
    assert_true(rm_format_builtin(name, &format));
    return format;
}

static struct rm_format compiled(struct rm_layout_description const *description) {
    struct rm_format format = {.name = "vendor", .period_turns = 1};
    struct rm_error error = {0};
    if (rm_layout_compile(description, &format.layout, &error) != RM_OK)
        fail_msg("%s", error.text);
    return format;
}

static void read_record(struct bench const *bench, uint32_t index, struct rm_sample *sample, struct rm_record *record) {
    struct rm_payload const *payload = &bench->payload;
    rm_layout_read(payload->layout, payload->data, index, sample, record);
}

static void libera_has_an_entry_for_each(char const *name) {
    struct bench *bench = make(builtin(name), RM_KIND_BPM, 5, PERIOD);
    start(bench);
    union rm_lane lanes[5 * RM_LANES];
    write_digits(lanes, 5, 3);
    rm_payload_put(&bench->payload, 0, TURN, lanes);
    uint32_t records = 0;
    assert_int_equal(bench->payload.bytes, 80);
    assert_int_equal(rm_layout_check(bench->payload.layout, bench->payload.data, 80, &records), RM_PORT_DECODED);
    assert_int_equal(records, 5);
    for (uint32_t i = 0; i < 5; ++i) {
        struct rm_sample sample;
        struct rm_record record;
        read_record(bench, i, &sample, &record);
        assert_int_equal(sample.id, 40 + i);
        assert_int_equal(sample.counter, 70000 - 65536);
        assert_int_equal(sample.status, 0x8001 | (40 + i) << 2);
        for (int32_t l = 0; l < 3; ++l)
            assert_int_equal(record.lane[l].i, 30000 + (int32_t)i * 100 + l);
    }
    destroy(bench);
}

static void libera_groups_have_an_entry_for_each_in_both_orders(void **state) {
    (void)state;
    libera_has_an_entry_for_each("libera_grouping");
    libera_has_an_entry_for_each("libera_grouping_counter_first");
}

/** Big-endian, four turns, one counter of the first turn; lanes with other units and of other types. */
static struct rm_layout_description const vendor = {
    .byte_order = RM_BIG_ENDIAN,
    .constant_count = 1,
    .constant = {{.at = 0, .type = RM_FIELD_U32, .value = 0xCAFE0001}},
    .instrument_count = 2,
    .instrument_at = 8,
    .instrument_stride = 64,
    .turn_count = 4,
    .turn_stride = 16,
    .id = {.present = true, .in = RM_IN_TURN, .at = 14, .type = RM_FIELD_U16},
    .counter = {.present = true, .in = RM_IN_DATAGRAM, .at = 4, .type = RM_FIELD_U32},
    .lane_count = 4,
    .lane = {{.name = "y", .unit = "nm", .at = 0, .type = RM_FIELD_I32},
             {.name = "x", .unit = "mm", .at = 4, .type = RM_FIELD_F32},
             {.name = "sum", .unit = "counts", .at = 8, .type = RM_FIELD_U24},
             {.name = "temperature", .unit = "K", .at = 11, .type = RM_FIELD_U16}},
};

static void four_turns_fill_one_datagram(void **state) {
    (void)state;
    struct bench *bench = make(compiled(&vendor), RM_KIND_BPM, 2, 1);
    start(bench);
    union rm_lane lanes[2 * RM_LANES];
    for (uint32_t place = 0; place < 4; ++place) {
        write_digits(lanes, 2, (int32_t)place);
        rm_payload_put(&bench->payload, place, 0x500000000 + place, lanes);
    }
    uint32_t records = 0;
    assert_int_equal(rm_layout_check(bench->payload.layout, bench->payload.data, bench->payload.bytes, &records),
                     RM_PORT_DECODED);
    assert_int_equal(records, 8);
    for (uint32_t r = 0; r < 8; ++r) {
        struct rm_sample sample;
        struct rm_record record;
        read_record(bench, r, &sample, &record);
        int32_t const digits = (int32_t)(r % 4 * 10000 + r / 4 * 100);
        assert_int_equal(sample.id, 40 + r / 4);
        assert_int_equal(sample.counter, r % 4);
        assert_int_equal(record.lane[0].i, digits + 1);
        assert_float_equal(record.lane[1].f, 1e-6 * digits, 1e-9);
        assert_int_equal(record.lane[2].i, digits + 2);
        assert_int_equal(record.lane[3].i, 0);
    }
    destroy(bench);
}

static void every_kind_fits_a_layout_with_its_own_lanes(void **state) {
    (void)state;
    for (unsigned kind = RM_KIND_BPM; kind <= RM_KIND_POWER_SUPPLY; ++kind) {
        uint32_t count;
        struct rm_kind_lane const *own = rm_kind_lanes(kind, &count);
        struct rm_layout_description described = {
            .instrument_count = 1,
            .instrument_stride = 8 + 4 * count,
            .turn_count = 1,
            .counter = {.present = true, .in = RM_IN_TURN, .at = 0, .type = RM_FIELD_U64},
            .lane_count = count,
        };
        for (uint32_t l = 0; l < count; ++l) {
            described.lane[l].at = 8 + 4 * l;
            described.lane[l].type = RM_FIELD_I32;
            strcpy(described.lane[l].name, own[l].name);
            strcpy(described.lane[l].unit, own[l].unit);
        }
        struct bench *bench = make(compiled(&described), kind, 1, 1);
        start(bench);
        union rm_lane lanes[RM_LANES];
        write_digits(lanes, 1, 7);
        rm_payload_put(&bench->payload, 0, TURN, lanes);
        struct rm_sample sample;
        struct rm_record record;
        read_record(bench, 0, &sample, &record);
        assert_int_equal(sample.counter, TURN);
        for (uint32_t l = 0; l < count; ++l)
            assert_int_equal(record.lane[l].i, lanes[l].i);
        destroy(bench);
    }
}

static void a_counter_that_is_wrong_says_so_many_turns_more(void **state) {
    (void)state;
    struct bench *bench = make(builtin("libera_grouping"), RM_KIND_BPM, 2, PERIOD);
    bench->instruments[1].turn_error = -3 * PERIOD;
    start(bench);
    union rm_lane lanes[2 * RM_LANES] = {{0}};
    struct rm_sample sample;
    struct rm_record record;
    rm_payload_put(&bench->payload, 0, TURN, lanes);
    read_record(bench, 0, &sample, &record);
    assert_int_equal(sample.counter, 70000 - 65536);
    read_record(bench, 1, &sample, &record);
    assert_int_equal(sample.counter, 70000 - 65536 - 3);
    destroy(bench);
    bench = make(builtin("native"), RM_KIND_BLM, 1, 1);
    bench->instruments[0].turn_error = 17;
    start(bench);
    rm_payload_put(&bench->payload, 0, TURN, lanes);
    struct rm_native native = {0};
    assert_int_equal(rm_native_parse(bench->payload.data, bench->payload.bytes, &native), RM_PORT_DECODED);
    assert_int_equal(native.turn, TURN + 17);
    assert_int_equal(native.lane_count, 10);
    assert_int_equal(native.status, 0x8001 | 40 << 2);
    destroy(bench);
}

static void lanes_are_found_by_their_names_and_units_converted(void **state) {
    (void)state;
    assert_int_equal(rm_virtual_lane_find(RM_KIND_BPM, "x"), 0);
    assert_int_equal(rm_virtual_lane_find(RM_KIND_BPM, "sum2"), 6);
    assert_int_equal(rm_virtual_lane_find(RM_KIND_BLM, "loss10"), 9);
    assert_int_equal(rm_virtual_lane_find(RM_KIND_BLM, "loss1"), 0);
    assert_int_equal(rm_virtual_lane_find(RM_KIND_PHOTON_BPM, "sum"), 2);
    assert_int_equal(rm_virtual_lane_find(RM_KIND_BPM, "temperature"), RM_KIND_LANE_NONE);
    assert_int_equal(rm_virtual_lane_find(99, "x"), RM_KIND_LANE_NONE);
    assert_float_equal(rm_unit_ratio("nm", "nm"), 1, 0);
    assert_float_equal(rm_unit_ratio("nm", "µm"), 1e-3, 1e-15);
    assert_float_equal(rm_unit_ratio("nm", "um"), 1e-3, 1e-15);
    assert_float_equal(rm_unit_ratio("nm", "m"), 1e-9, 1e-21);
    assert_float_equal(rm_unit_ratio("µA", "A"), 1e-6, 1e-18);
    assert_float_equal(rm_unit_ratio("V", "kV"), 1e-3, 1e-15);
    assert_float_equal(rm_unit_ratio("µrad", "rad"), 1e-6, 1e-18);
    assert_float_equal(rm_unit_ratio("counts", "nm"), 1, 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(libera_groups_have_an_entry_for_each_in_both_orders),
        cmocka_unit_test(four_turns_fill_one_datagram),
        cmocka_unit_test(every_kind_fits_a_layout_with_its_own_lanes),
        cmocka_unit_test(a_counter_that_is_wrong_says_so_many_turns_more),
        cmocka_unit_test(lanes_are_found_by_their_names_and_units_converted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
