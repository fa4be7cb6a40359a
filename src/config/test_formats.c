// SPDX-License-Identifier: Apache-2.0
/* Formats and what instruments make of them: layouts, presets, counts, periods, mirrors, lanes, UDP ports; and every
 * way to write them wrong. */
#include "config/config.h"
#include "config/test_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A right file in parts. Lines: 1, 2–4, then formats from 5 on. */
#define HEAD                                                                                                           \
    "workspace: demo\n"                                                                                                \
    "ports:\n"                                                                                                         \
    "  - {name: ring, kind: memif, socket: /run/r.sock}\n"                                                             \
    "  - {name: hall, kind: memif, socket: /run/h.sock}\n"
#define ROLES "roles:\n  - {role: receive, ports: [ring, hall], core: @}\n"
#define SOCKETS                                                                                                        \
    "workspace: demo\n"                                                                                                \
    "ports:\n"                                                                                                         \
    "  - {name: ring, kind: udp, address: \"127.0.0.1:4660\"}\n"                                                       \
    "  - {name: hall, kind: udp, address: \"127.0.0.1:4661\"}\n"

/* A vendor's: big-endian, four turns per datagram, floats and integers. */
#define VENDOR                                                                                                         \
    "  - name: vendor\n"                                                                                               \
    "    udp_port: 5000\n"                                                                                             \
    "    period_turns: 12\n"                                                                                           \
    "    layout:\n"                                                                                                    \
    "      byte_order: big\n"                                                                                          \
    "      bytes: 64\n"                                                                                                \
    "      constants: [{at: 0, type: u32, value: 0xCAFE0001}]\n"                                                       \
    "      turns: {count: 4, at: 12, stride: 12}\n"                                                                    \
    "      id: {at: 4, type: u16, in: datagram, shift: 4}\n"                                                           \
    "      counter: {at: 8, type: u32, in: datagram, bits: 24}\n"                                                      \
    "      status: {at: 0, type: u8}\n"                                                                                \
    "      lanes:\n"                                                                                                   \
    "        - {name: x, unit: nm, at: 4, type: i32}\n"                                                                \
    "        - {name: y, unit: mm, at: 8, type: f32}\n"
#define FORMATS "formats:\n" VENDOR
#define INSTRUMENT(instrument) "instruments:\n  - {" instrument "}\n"
#define BPM "name: bpm, kind: bpm, id: 1, port: ring, source: 10.20.0.1"

static struct rm_config *load(struct config_file const *file, char const *yaml) {
    struct rm_config *config = NULL;
    struct rm_error error = {.text = ""};
    write_config(file, yaml);
    enum rm_code const code = rm_config_load(file->path, &config, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(code, RM_OK);
    return config;
}

static void a_layout_with_everything(void **state) {
    struct rm_config *const config = load(*state, HEAD FORMATS INSTRUMENT(BPM ", format: vendor") ROLES);
    assert_int_equal(config->format_count, 2);
    assert_string_equal(config->format[0].name, "native");
    assert_null(config->format[0].layout);
    assert_int_equal(config->format[0].period_turns, 1);
    struct rm_format const *const format = &config->format[1];
    assert_string_equal(format->name, "vendor");
    assert_int_equal(format->udp_port, 5000);
    assert_int_equal(format->period_turns, 12);
    struct rm_layout_description const *const layout = rm_layout_described(format->layout);
    assert_int_equal(layout->byte_order, RM_BIG_ENDIAN);
    assert_int_equal(layout->bytes, 64);
    assert_int_equal(layout->constant_count, 1);
    assert_true(layout->constant[0].value == 0xCAFE0001);
    assert_int_equal(layout->constant[0].type, RM_FIELD_U32);
    assert_int_equal(layout->instrument_count, 1);
    assert_int_equal(layout->turn_count, 4);
    assert_int_equal(layout->turn_at, 12);
    assert_int_equal(layout->turn_stride, 12);
    assert_true(layout->id.present && layout->id.in == RM_IN_DATAGRAM && layout->id.shift == 4);
    assert_int_equal(rm_layout_counter_bits(format->layout), 24);
    assert_true(layout->status.present && layout->status.in == RM_IN_TURN);
    struct rm_config_instrument const *const instrument = &config->instrument[0];
    assert_int_equal(instrument->format, 1);
    assert_int_equal(instrument->period_turns, 12);
    assert_int_equal(instrument->lane_count, 2);
    assert_string_equal(instrument->lane[0].name, "x");
    assert_int_equal(instrument->lane[0].type, RM_LANE_I32);
    assert_string_equal(instrument->lane[1].unit, "mm");
    assert_int_equal(instrument->lane[1].type, RM_LANE_F32);
    assert_int_equal(config->port[0].port.claim_count, 1);
    assert_int_equal(config->port[0].port.claim[0], 5000);
    assert_int_equal(config->port[1].port.claim_count, 0);
    rm_config_free(config);
}

static void formats_without_a_description(void **state) {
    struct rm_config *const config = load(
        *state, HEAD "formats:\n"
                     "  - {name: libera, preset: libera_grouping_counter_first, udp_port: 2050, period_turns: 116}\n"
                     "  - {name: slow, preset: native, udp_port: 2051}\n"
                     "instruments:\n"
                     "  - {name: a, kind: bpm, id: 1, port: ring, source: 10.20.0.1, format: native}\n"
                     "  - {name: b, kind: bpm, id: 2, port: ring, source: 10.20.0.1, format: libera_grouping}\n"
                     "  - {name: c, kind: bpm, id: 3, port: ring, source: 10.20.0.1, format: libera}\n"
                     "  - {name: d, kind: bpm, id: 4, port: ring, source: 10.20.0.1, format: slow}\n"
                     "  - {name: e, kind: bpm, id: 5, port: ring, source: 10.20.0.1, format: libera_grouping,"
                     "     period_turns: 65536}\n" ROLES);
    assert_int_equal(config->format_count, 4);
    static uint32_t const formats[] = {0, 3, 1, 2, 3}, periods[] = {1, 1, 116, 1, 65536}, lanes[] = {8, 3, 3, 8, 3};
    static uint16_t const claims[] = {4660, 2048, 2050, 2051};
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(config->instrument[i].format, formats[i]);
        assert_int_equal(config->instrument[i].period_turns, periods[i]);
        assert_int_equal(config->instrument[i].lane_count, lanes[i]);
    }
    assert_int_equal(rm_layout_described(config->format[1].layout)->counter.at, 12);
    assert_int_equal(rm_layout_described(config->format[3].layout)->counter.at, 14);
    assert_null(config->format[2].layout);
    assert_string_equal(config->instrument[1].lane[2].name, "sum");
    assert_int_equal(config->port[0].port.claim_count, 4);
    assert_memory_equal(config->port[0].port.claim, claims, sizeof claims);
    rm_config_free(config);
}

static void one_entry_many_instruments(void **state) {
    struct rm_config *config = load(*state, HEAD INSTRUMENT(BPM ", count: 168, turn_offset: 3") ROLES);
    assert_int_equal(config->instrument_count, 168);
    for (uint32_t i = 0; i < 168; i++) {
        char name[RM_CONFIG_NAME_BYTES];
        snprintf(name, sizeof name, "bpm%03u", i + 1);
        assert_string_equal(config->instrument[i].name, name);
        assert_int_equal(config->instrument[i].id, 1 + i);
        assert_int_equal(config->instrument[i].turn_offset, 3);
        assert_int_equal(config->instrument[i].lane_count, 8);
    }
    rm_config_free(config);
    config = load(*state, HEAD "instruments:\n"
                               "  - {name: a, kind: bpm, id: 65000, port: ring, source: 10.20.0.1, count: 1}\n"
                               "  - {name: b, kind: bpm, id: 0, port: ring, source: 10.20.0.1, count: 1023}\n" ROLES);
    assert_int_equal(config->instrument_count, 1024);
    assert_string_equal(config->instrument[0].name, "a01");
    assert_string_equal(config->instrument[1].name, "b0001");
    assert_string_equal(config->instrument[1023].name, "b1023");
    assert_int_equal(config->instrument[1023].id, 1022);
    rm_config_free(config);
}

static void mirrored_networks(void **state) {
    struct rm_config *const config =
        load(*state, HEAD "instruments:\n"
                          "  - {" BPM ", count: 2, mirror: {port: hall, source: 10.21.0.1}}\n"
                          "  - {name: same, kind: bpm, id: 3, port: hall, source: 10.20.0.1, mirror: {port: ring}}\n"
                          "  - {name: one, kind: bpm, id: 4, port: hall, source: 10.20.0.1}\n" ROLES);
    for (uint32_t i = 0; i < 3; i++) {
        struct rm_config_mirror const *const mirror = &config->instrument[i].mirror;
        assert_true(mirror->present);
        assert_int_equal(mirror->port, i < 2 ? 1 : 0);
        assert_int_equal(mirror->source_ipv4, i < 2 ? 0x0A150001 : 0x0A140001);
    }
    assert_false(config->instrument[3].mirror.present);
    assert_int_equal(config->port[1].port.claim_count, 1);
    assert_int_equal(config->port[1].port.claim[0], 4660);
    rm_config_free(config);
}

static void lanes_know_how_to_be_reduced(void **state) {
    struct rm_config *const config =
        load(*state, HEAD FORMATS
             "instruments:\n"
             "  - {name: a, kind: interlock, id: 1, port: ring, source: 10.20.0.1}\n"
             "  - {name: b, kind: power_supply, id: 2, port: ring, source: 10.20.0.1}\n"
             "  - {name: c, kind: power_supply, id: 3, port: ring, source: 10.20.0.1, lanes: [\n"
             "       {name: status, unit: bits, type: i32}, {name: setpoint, unit: A, type: f32, reduction: last},\n"
             "       {name: top, unit: A, type: f32, reduction: max}, {name: states, unit: \"\", type: i32, reduction: "
             "and}]}\n"
             "  - {name: d, kind: power_supply, id: 4, port: ring, source: 10.20.0.1, lanes: [\n"
             "       {name: status, unit: bits, type: f32}, {name: low, unit: A, type: i32, reduction: min}]}\n"
             "  - {name: e, kind: interlock, id: 5, port: ring, source: 10.20.0.1, format: vendor, lanes: [\n"
             "       {name: permits, unit: bits, type: i32}, {name: y, unit: µm, type: f32}]}\n" ROLES);
    static enum rm_reduction const expected[5][4] = {
        {RM_REDUCE_OR, RM_REDUCE_AND, RM_REDUCE_LAST, RM_REDUCE_FIR},
        {RM_REDUCE_FIR, RM_REDUCE_FIR, RM_REDUCE_OR},
        {RM_REDUCE_OR, RM_REDUCE_LAST, RM_REDUCE_MAX, RM_REDUCE_AND},
        {RM_REDUCE_FIR, RM_REDUCE_MIN},
        {RM_REDUCE_AND, RM_REDUCE_FIR},
    };
    static uint32_t const counts[] = {4, 3, 4, 2, 2};
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(config->instrument[i].lane_count, counts[i]);
        for (uint32_t lane = 0; lane < counts[i]; lane++)
            assert_int_equal(config->instrument[i].lane[lane].reduction, expected[i][lane]);
    }
    assert_string_equal(config->instrument[4].lane[1].unit, "µm");
    rm_config_free(config);
}

#define FORMAT(format) HEAD "formats:\n  - {" format "}\n" INSTRUMENT(BPM) ROLES
#define LAYOUT(layout) FORMAT("name: a, layout: {" layout "}")
#define COUNTER "counter: {at: 0, type: u64}"
#define LANES "lanes: [{name: x, unit: nm, at: 8, type: i32}]"

static void wrong_formats(void **state) {
    static struct wrong_yaml const wrong[] = {
        {FORMAT("name: A, preset: native"),
         "6:12: formats[0].name: found \"A\", expected lower-case letters, digits, _ and -"},
        {FORMAT("name: native, preset: native"),
         "6:12: formats[0].name: \"native\" needs no description, expected another name"},
        {FORMAT("name: libera_grouping, preset: native"),
         "6:12: formats[0].name: \"libera_grouping\" needs no description, expected another name"},
        {FORMAT("name: a, preset: native}\n  - {name: a, preset: native"),
         "7:12: formats[1].name: \"a\" is already the name of formats[0], expected one of its own"},
        {FORMAT("name: a, preset: libera_gruping"),
         "6:23: formats[0].preset: found \"libera_gruping\", expected one of: native, libera_grouping, "
         "libera_grouping_counter_first (did you mean \"libera_grouping\"?)"},
        {FORMAT("name: a"), "6:5: formats[0]: expected either a preset or a layout"},
        {FORMAT("name: a, preset: native, layout: {" COUNTER ", " LANES "}"),
         "6:5: formats[0]: expected either a preset or a layout"},
        {FORMAT("name: a, preset: native, udp_port: 0"), "6:41: formats[0].udp_port: found 0, expected 1 to 65535"},
        {FORMAT("name: a, preset: native, period_turns: 0"),
         "6:45: formats[0].period_turns: found 0, expected 1 to 65536"},
        {FORMAT("name: a, preset: native, period_turns: 65537"),
         "6:45: formats[0].period_turns: found 65537, expected 1 to 65536"},
        {LAYOUT(LANES), "6:23: formats[0].layout: the key \"counter\" is missing, expected a mapping with the keys at, "
                        "type, shift, bits, in"},
        {LAYOUT(COUNTER), "6:23: formats[0].layout: the key \"lanes\" is missing, expected a list of 1 to 12 entries"},
        {LAYOUT(LANES ", counter: {at: 0, type: i16}"),
         "6:95: formats[0].layout.counter.type: expected an unsigned one: u8, u16, u24, u32 or u64"},
        {LAYOUT(LANES ", counter: {at: 0, type: word}"),
         "6:95: formats[0].layout.counter.type: found \"word\", expected one of: u8, i8, u16, i16, u24, i24, u32, i32, "
         "u64, f32"},
        {LAYOUT(COUNTER ", " LANES ", instruments: {count: 0, at: 0, stride: 12}"),
         "6:122: formats[0].layout.instruments.count: found 0, expected 1 to 1024, or no count for as many as the "
         "datagram holds"},
        {LAYOUT(COUNTER ", " LANES ", turns: {at: 0, stride: 12}"),
         "6:108: formats[0].layout.turns: the key \"count\" is missing, expected the turns of a datagram"},
        {LAYOUT(COUNTER ", " LANES ", turns: {count: 4, at: 0, stride: 11}"),
         "6:134: formats[0].layout.turns.stride: found 11, expected at least 12, where a turn's last field ends"},
        {LAYOUT(COUNTER ", " LANES ", bytes: 0"),
         "6:108: formats[0].layout.bytes: found 0, expected the length of the payload"},
        {LAYOUT(COUNTER ", " LANES ", bytes: 11"),
         "6:108: formats[0].layout.bytes: the last field ends at byte 12 of 11, expected a payload of 12 to 9216"},
        {LAYOUT("counter: {at: 0, type: u16}, lanes: [{name: x, unit: nm, at: 2, type: i32}]"),
         "6:23: formats[0].layout.bytes: the payload has 6, expected at least 8"},
        {LAYOUT(COUNTER ", lanes: [{name: x y, unit: nm, at: 8, type: i32}]"),
         "6:68: formats[0].layout.lanes[0].name: found \"x y\", expected lower-case letters, digits, _ and -"},
        {LAYOUT(COUNTER ", lanes: [{name: x, unit: nm, at: 8, type: i32}, {name: x, unit: nm, at: 8, type: i32}]"),
         "6:107: formats[0].layout.lanes[1].name: found \"x\", expected a name that no lane before it has"},
        {LAYOUT(COUNTER ", lanes: [{name: x, unit: nm, at: 8, type: u64}]"),
         "6:94: formats[0].layout.lanes[0].type: found u64, expected one of at most 32 bits"},
        {LAYOUT(COUNTER ", " LANES ", constants: [{at: 0, type: u8, value: 256}]"),
         "6:138: formats[0].layout.constants[0].value: does not fit 8 bits"},
    };
    EXPECT_ERRORS(*state, wrong);
}

#define ONE(more) HEAD INSTRUMENT(BPM more) ROLES
#define TWO(first, second) HEAD "instruments:\n  - {" first "}\n  - {" second "}\n" ROLES
#define BLM "name: blm, kind: blm, id: 9, port: ring, source: 10.20.0.1"

static void wrong_instruments(void **state) {
    static struct wrong_yaml const wrong[] = {
        {ONE(", format: nativ"), "6:74: instruments[0].format: found \"nativ\", expected the name of a format (did you "
                                 "mean \"native\"?)"},
        {ONE(", format: libera_groupin"), "6:74: instruments[0].format: found \"libera_groupin\", expected the name of "
                                          "a format (did you mean \"libera_grouping\"?)"},
        {ONE(", period_turns: 0"), "6:80: instruments[0].period_turns: found 0, expected 1 to 65536"},
        {ONE(", period_turns: 65537"), "6:80: instruments[0].period_turns: found 65537, expected 1 to 65536"},
        {ONE(", count: 0"), "6:73: instruments[0].count: found 0, expected 1 to 1024: at most 1024 instruments in all"},
        {TWO(BPM, BLM ", count: 1024"),
         "7:73: instruments[1].count: found 1024, expected 1 to 1023: at most 1024 instruments in all"},
        {TWO(BPM ", count: 1024", BLM),
         "7:5: instruments[1].count: found 1, expected 1 to 0: at most 1024 instruments in all"},
        {HEAD INSTRUMENT("name: a, kind: bpm, id: 65000, port: ring, source: 10.20.0.1, count: 537") ROLES,
         "6:75: instruments[0].count: ids would go from 65000 to 65536, expected up to 65535"},
        {HEAD INSTRUMENT("name: abcdefghijklmnopqrstuv, kind: bpm, id: 0, port: ring, source: 10.20.0.1, count: 100")
             ROLES,
         "6:12: instruments[0].name: \"abcdefghijklmnopqrstuv\" and a number of 3 digits are 25 characters, expected "
         "at "
         "most 24"},
        {TWO(BPM ", count: 9", "name: bpm07, kind: bpm, id: 10, port: ring, source: 10.20.0.1"),
         "7:12: instruments[1].name: \"bpm07\" is already the name of instruments[0], expected one of its own"},
        {TWO(BPM ", count: 9", BLM),
         "7:32: instruments[1].id: id 9 from 10.20.0.1 on port \"ring\" is already instrument \"bpm09\" "
         "(instruments[0]), expected another port, source or id"},
        {ONE(", mirror: {port: rin}"), "6:81: instruments[0].mirror.port: found \"rin\", expected the name of a port "
                                       "(did you mean \"ring\"?)"},
        {ONE(", mirror: {port: ring}"),
         "6:81: instruments[0].mirror.port: \"ring\" is the instrument's own port, expected another"},
        {ONE(", mirror: {port: hall, source: 224.0.0.1}"),
         "6:95: instruments[0].mirror.source: found \"224.0.0.1\", expected the IPv4 address of one host, such as "
         "10.20.0.1"},
        {TWO(BPM ", mirror: {port: hall}", "name: b, kind: bpm, id: 1, port: hall, source: 10.20.0.1"),
         "7:30: instruments[1].id: id 1 from 10.20.0.1 on port \"hall\" is already instrument \"bpm\" "
         "(instruments[0]), expected another port, source or id"},
        {TWO("name: b, kind: bpm, id: 1, port: hall, source: 10.20.0.1", BPM ", mirror: {port: hall}"),
         "7:74: instruments[1].mirror: id 1 from 10.20.0.1 on port \"hall\" is already instrument \"b\" "
         "(instruments[0]), expected another port, source or id"},
        {ONE(", lanes: [{name: x, unit: nm, type: f32, reduction: or}]"),
         "6:116: instruments[0].lanes[0].reduction: floating point has no bits, expected fir, last, min or max"},
        {ONE(", lanes: [{name: x, unit: nm, type: f32, reduction: mean}]"),
         "6:116: instruments[0].lanes[0].reduction: found \"mean\", expected one of: fir, last, or, and, min, max (did "
         "you mean \"min\"?)"},
        {ONE(", format: libera_grouping, lanes: [{name: x, unit: nm, type: i32}]"),
         "6:98: instruments[0].lanes: found 1, expected the 3 of format \"libera_grouping\""},
        {ONE(", format: libera_grouping, lanes: [{name: x, unit: nm, type: i32}, {name: y, unit: nm, type: f32}, "
             "{name: z, unit: nm, type: i32}]"),
         "6:157: instruments[0].lanes[1].type: expected i32, as format \"libera_grouping\" has it"},
    };
    EXPECT_ERRORS(*state, wrong);
}

static void wrong_udp_ports(void **state) {
    static struct wrong_yaml const wrong[] = {
        {HEAD "formats: [{name: a, preset: libera_grouping, udp_port: 4660}]\n" INSTRUMENT(BPM "}\n  - {" BLM
                                                                                               ", format: a") ROLES,
         "8:74: instruments[1].format: formats \"native\" and \"a\" both come to UDP port 4660 of port \"ring\", "
         "expected a udp_port of its own for one of them"},
        {HEAD "formats: [{name: a, preset: libera_grouping, udp_port: 4660}]\n" INSTRUMENT(
             BPM "}\n  - {name: b, kind: bpm, id: 2, port: hall, source: 10.20.0.1, mirror: {port: ring}, format: a")
             ROLES,
         "8:94: instruments[1].format: formats \"native\" and \"a\" both come to UDP port 4660 of port \"ring\", "
         "expected a udp_port of its own for one of them"},
        {SOCKETS INSTRUMENT(BPM ", format: libera_grouping") ROLES,
         "6:74: instruments[0].format: format \"libera_grouping\" comes to UDP port 2048, but port \"ring\" is a "
         "socket "
         "on 4660, expected one and the same"},
        {HEAD "formats: ["
              "{name: f1, preset: native}, {name: f2, preset: native}, {name: f3, preset: native}, "
              "{name: f4, preset: native}, {name: f5, preset: native}, {name: f6, preset: native}, "
              "{name: f7, preset: native}, {name: f8, preset: native}, {name: f9, preset: native}, "
              "{name: f10, preset: native}, {name: f11, preset: native}, {name: f12, preset: native}, "
              "{name: f13, preset: native}, {name: f14, preset: native}, {name: f15, preset: native}]\n" INSTRUMENT(
                  BPM ", format: libera_grouping") ROLES,
         "7:74: instruments[0].format: \"libera_grouping\" is one format too many, expected at most 16 with native"},
    };
    EXPECT_ERRORS(*state, wrong);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_config_file, remove_config_file)
    struct CMUnitTest const tests[] = {
        TEST(a_layout_with_everything),
        TEST(formats_without_a_description),
        TEST(one_entry_many_instruments),
        TEST(mirrored_networks),
        TEST(lanes_know_how_to_be_reduced),
        TEST(wrong_formats),
        TEST(wrong_instruments),
        TEST(wrong_udp_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
