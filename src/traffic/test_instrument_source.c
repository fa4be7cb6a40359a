// SPDX-License-Identifier: Apache-2.0
/** Frames are taken apart by the server's own readers, which share nothing with what writes them but the format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/timebase.h"
#include "traffic/instrument_source.h"
#include "wire/native.h"

enum { LONGEST = 1514, TURN_HZ = 1000000, TICKS_PER_TURN = 2000 };

static double const TSC_HZ = (double)TURN_HZ * TICKS_PER_TURN;
static uint64_t const START = 12345678;

static char const native_yaml[] = "workspace: traffic\n"
                                  "roles: [{role: receive, core: 999, ports: [in]}]\n"
                                  "turn_rate_hz: 1000000\n"
                                  "ports:\n"
                                  "  - {name: in, kind: memif, socket: /tmp/none.sock, udp_port: 4700, vlan: 7}\n"
                                  "instruments:\n"
                                  "  - {name: bpm, kind: bpm, port: in, source: 10.20.0.1, id: 1, count: 3}\n"
                                  "  - {name: slow, kind: bpm, port: in, source: 10.20.1.1, id: 9, period_turns: 10}\n"
                                  "  - {name: off, kind: bpm, port: in, source: 10.20.1.2, id: 10, turn_offset: 25}\n";

static char const layout_yaml[] = "workspace: traffic\n"
                                  "roles: [{role: receive, core: 999, ports: [in]}]\n"
                                  "turn_rate_hz: 1000000\n"
                                  "formats:\n"
                                  "  - name: pairs\n"
                                  "    udp_port: 4800\n"
                                  "    layout:\n"
                                  "      byte_order: big\n"
                                  "      instruments: {count: 2, stride: 28, at: 4}\n"
                                  "      turns: {count: 3, stride: 8, at: 4}\n"
                                  "      id: {at: 0, type: u16, in: instrument}\n"
                                  "      counter: {at: 0, type: u32, in: datagram}\n"
                                  "      lanes:\n"
                                  "        - {name: x, unit: nm, at: 0, type: i32}\n"
                                  "        - {name: y, unit: nm, at: 4, type: f32}\n"
                                  "ports:\n"
                                  "  - {name: in, kind: memif, socket: /tmp/none.sock}\n"
                                  "instruments:\n"
                                  "  - {name: left, kind: bpm, port: in, source: 10.20.0.1, id: 5, format: pairs}\n"
                                  "  - {name: right, kind: bpm, port: in, source: 10.20.0.1, id: 6, format: pairs}\n";

static char path[] = "/tmp/test-instrument-source-XXXXXX";
static uint8_t frames[RM_BURST][LONGEST];

static int make_file(void **state) {
    (void)state;
    int const descriptor = mkstemp(path);
    return descriptor < 0 || close(descriptor) != 0;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static enum rm_code source_try(char const *yaml, char const *pattern, rm_turn first_turn, uint32_t longest,
                               struct rm_source **source, struct rm_error *error) {
    FILE *const file = fopen(path, "we");
    fputs(yaml, file);
    fclose(file);
    struct rm_instrument_plan const plan = {
        .path = path,
        .datagrams = {.pattern = pattern,
                      .flow = {.destination_mac = {2, 0, 0, 0, 0, 9}, .destination_ipv4 = 0x0A140064},
                      .longest_frame = longest},
        .first_turn = first_turn,
        .tsc_hz = TSC_HZ,
    };
    return rm_instrument_source_make(&plan, source, error);
}

static struct rm_source *source_make(char const *yaml, char const *pattern, rm_turn first_turn) {
    struct rm_source *source;
    struct rm_error error = {.text = ""};
    if (source_try(yaml, pattern, first_turn, LONGEST, &source, &error) != RM_OK)
        fail_msg("%s", error.text);
    return source;
}

static uint32_t fill(struct rm_source *source, struct rm_burst *burst, uint64_t count) {
    burst->count = count < RM_BURST ? (uint32_t)count : RM_BURST;
    for (uint32_t i = 0; i < RM_BURST; ++i)
        burst->data[i] = frames[i];
    return source->ops->fill(source, burst, 0);
}

static struct rm_datagram datagram_of(struct rm_burst const *burst, uint32_t index) {
    struct rm_datagram datagram;
    assert_int_equal(rm_frame_parse(burst->data[index], burst->length[index], false, &datagram), RM_PORT_DECODED);
    return datagram;
}

static struct rm_native native_of(struct rm_burst const *burst, uint32_t index) {
    struct rm_datagram const datagram = datagram_of(burst, index);
    struct rm_native native;
    assert_int_equal(datagram.destination_port, 4700);
    assert_int_equal(datagram.vlan, 7);
    assert_int_equal(rm_native_parse(datagram.payload, datagram.length, &native), RM_PORT_DECODED);
    return native;
}

static void every_instrument_sends_its_turns(void **state) {
    (void)state;
    struct rm_source *const source = source_make(native_yaml, "*", 100);
    struct rm_burst burst;
    uint64_t next[16] = {[1] = 100, [2] = 100, [3] = 100, [9] = 100, [10] = 75};
    source->ops->start(source, START);
    for (uint64_t turn = 100; turn < 160; ++turn) {
        uint64_t const tsc = START + (turn - 100) * TICKS_PER_TURN;
        uint64_t const due = source->ops->due(source, tsc + TICKS_PER_TURN - 1);
        assert_int_equal(due, turn % 10 == 0 ? 5 : 4);
        assert_int_equal(fill(source, &burst, due), due);
        for (uint32_t i = 0; i < due; ++i) {
            struct rm_native const native = native_of(&burst, i);
            assert_int_equal(native.kind, RM_KIND_BPM);
            assert_int_equal(native.turn, next[native.instrument]);
            next[native.instrument] += native.instrument == 9 ? 10 : 1;
            int32_t lane;
            memcpy(&lane, native.lanes + 8, sizeof lane);
            assert_int_equal(lane, turn + 2 * RM_INSTRUMENT_LANE_STEP);
        }
        assert_int_equal(source->ops->due(source, tsc + TICKS_PER_TURN - 1), 0);
    }
    double const per_turn = rm_instrument_source_packets_per_s(source) / TURN_HZ;
    assert_true(per_turn > 4.0999 && per_turn < 4.1001);
    source->ops->free(source);
}

static void a_pattern_chooses(void **state) {
    (void)state;
    struct rm_source *const source = source_make(native_yaml, "bpm02", 0);
    struct rm_burst burst;
    source->ops->start(source, START);
    assert_int_equal(source->ops->due(source, START + 9 * TICKS_PER_TURN), 10);
    assert_int_equal(fill(source, &burst, 10), 10);
    for (uint32_t i = 0; i < 10; ++i) {
        assert_int_equal(native_of(&burst, i).instrument, 2);
        assert_int_equal(native_of(&burst, i).turn, i);
        assert_int_equal(datagram_of(&burst, i).source_ipv4, 0x0A140001);
    }
    source->ops->free(source);
}

/** Late ones are sent with the turns that they are of; or skipped, and what follows has the turn that is due. */
static void turns_go_on_rightly_after_a_stall(void **state) {
    (void)state;
    enum { STALL = 1000000, LATE_MAX = 3 };
    for (int skips = 0; skips < 2; ++skips) {
        struct rm_source *const source = source_make(native_yaml, "bpm01", 0);
        struct rm_burst burst;
        source->ops->start(source, START);
        assert_int_equal(fill(source, &burst, 1), 1);
        uint64_t const after = START + (uint64_t)STALL * TICKS_PER_TURN;
        assert_int_equal(source->ops->due(source, after), STALL);
        uint64_t expected = 1;
        if (skips) { /* as the role does with a bound: all that was due before it */
            uint64_t const passed = source->ops->due(source, after - LATE_MAX * TICKS_PER_TURN);
            (source->ops->skip)(source, passed); /* cmocka has a macro of that name */
            expected += passed;
            assert_int_equal(expected, STALL - LATE_MAX + 1);
        }
        for (uint64_t now = after; expected < STALL; now += TICKS_PER_TURN / 100) {
            uint32_t const sent = fill(source, &burst, source->ops->due(source, now));
            for (uint32_t i = 0; i < sent; ++i)
                assert_int_equal(native_of(&burst, i).turn, expected++);
        }
        source->ops->free(source);
    }
}

static void a_stop_does_not_stop_the_machine(void **state) {
    (void)state;
    struct rm_source *const source = source_make(native_yaml, "bpm01", 1000);
    struct rm_burst burst;
    source->ops->start(source, START);
    assert_int_equal(fill(source, &burst, 5), 5);
    uint64_t const later = START + 500ull * TICKS_PER_TURN + 10;
    source->ops->start(source, later);
    assert_int_equal(source->ops->due(source, later), 1);
    assert_int_equal(fill(source, &burst, 1), 1);
    assert_int_equal(native_of(&burst, 0).turn, 1500);
    source->ops->free(source);
}

static void turns_by_the_clock_are_those_of_tai(void **state) {
    (void)state;
    uint64_t const before = rm_tai_ns();
    struct rm_source *const source = source_make(native_yaml, "bpm01", RM_TURN_NONE);
    struct rm_burst burst;
    uint64_t const tsc = rm_tsc();
    source->ops->start(source, tsc);
    uint64_t const after = rm_tai_ns();
    assert_int_equal(source->ops->due(source, tsc), 1);
    assert_int_equal(fill(source, &burst, 1), 1);
    /* TSC_HZ is not this machine's: what has gone meanwhile is a few ms of either */
    uint64_t const turn = native_of(&burst, 0).turn, slack = 10 * TURN_HZ;
    assert_in_range(turn, before / 1000 - slack, after / 1000 + slack);
    source->ops->free(source);
}

static void described_datagrams_have_all_their_turns(void **state) {
    (void)state;
    struct rm_source *const source = source_make(layout_yaml, "*", 30);
    struct rm_instrument_group const *const group = rm_instrument_source_groups(source)->group;
    struct rm_layout const *const layout = group->layout;
    struct rm_burst burst;
    source->ops->start(source, START);
    assert_int_equal(source->ops->due(source, START + TICKS_PER_TURN), 0);
    assert_int_equal(source->ops->due(source, START + 2 * TICKS_PER_TURN), 1);
    assert_int_equal(fill(source, &burst, 4), 4);
    for (uint32_t d = 0; d < 4; ++d) {
        struct rm_datagram const datagram = datagram_of(&burst, d);
        uint32_t records;
        assert_int_equal(datagram.destination_port, 4800);
        assert_int_equal(rm_layout_check(layout, datagram.payload, datagram.length, &records), RM_PORT_DECODED);
        assert_int_equal(records, 6);
        for (uint32_t r = 0; r < records; ++r) {
            struct rm_sample sample;
            struct rm_record record;
            uint64_t const turn = 30 + 3 * d + r % 3;
            rm_layout_read(layout, datagram.payload, r, &sample, &record);
            assert_int_equal(sample.id, 5 + r / 3);
            assert_int_equal(sample.counter, turn);
            assert_int_equal(record.lane[0].i, turn);
            assert_true(record.lane[1].f == (float)(turn + RM_INSTRUMENT_LANE_STEP));
        }
    }
    source->ops->free(source);
}

static char const grouping_yaml[] =
    "workspace: traffic\n"
    "roles: [{role: receive, core: 999, ports: [in]}]\n"
    "turn_rate_hz: 1000000\n"
    "ports:\n"
    "  - {name: in, kind: memif, socket: /tmp/none.sock}\n"
    "instruments:\n"
    "  - {name: e, kind: bpm, port: in, source: 10.20.0.1, id: 1, count: 5, format: libera_grouping}\n"
    "  - {name: f, kind: bpm, port: in, source: 10.20.0.2, id: 1, count: 2, format: libera_grouping}\n";

static void a_datagram_takes_all_of_its_source(void **state) {
    (void)state;
    struct rm_source *const source = source_make(grouping_yaml, "*", 0xFFFF);
    struct rm_layout const *const layout = rm_instrument_source_groups(source)->group->layout;
    struct rm_burst burst;
    source->ops->start(source, START);
    assert_int_equal(fill(source, &burst, 4), 4);
    for (uint32_t d = 0; d < 4; ++d) {
        struct rm_datagram const datagram = datagram_of(&burst, d);
        uint32_t records;
        assert_int_equal(datagram.source_ipv4, 0x0A140001 + d % 2);
        assert_int_equal(rm_layout_check(layout, datagram.payload, datagram.length, &records), RM_PORT_DECODED);
        assert_int_equal(records, d % 2 == 0 ? 5 : 2);
        for (uint32_t r = 0; r < records; ++r) {
            struct rm_sample sample;
            struct rm_record record;
            rm_layout_read(layout, datagram.payload, r, &sample, &record);
            assert_int_equal(sample.id, 1 + r);
            assert_int_equal(sample.counter, (uint16_t)(0xFFFF + d / 2)); /* 16 bits, which begin again */
        }
    }
    source->ops->free(source);
}

static void assert_refused(char const *yaml, char const *pattern, uint32_t longest, char const *part) {
    struct rm_source *source;
    struct rm_error error = {.text = ""};
    assert_int_equal(source_try(yaml, pattern, 0, longest, &source, &error), RM_E_CONFIG);
    if (strstr(error.text, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void what_cannot_be_sent_is_refused(void **state) {
    (void)state;
    assert_refused(native_yaml, "quad*", LONGEST, "none of its 5 instruments is called \"quad*\"");
    assert_refused(layout_yaml, "left", LONGEST, "is of 2 instruments, found 1");
    assert_refused(layout_yaml, "*", 100, "expected up to 100 bytes");
    assert_refused("ports: 1\n", "*", LONGEST, "ports");
    struct rm_source *source;
    struct rm_error error;
    assert_int_equal(source_try(native_yaml, "*", RM_TURN_END, LONGEST, &source, &error), RM_E_ARGUMENT);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_instrument_sends_its_turns),
        cmocka_unit_test(a_pattern_chooses),
        cmocka_unit_test(turns_go_on_rightly_after_a_stall),
        cmocka_unit_test(a_stop_does_not_stop_the_machine),
        cmocka_unit_test(turns_by_the_clock_are_those_of_tai),
        cmocka_unit_test(described_datagrams_have_all_their_turns),
        cmocka_unit_test(a_datagram_takes_all_of_its_source),
        cmocka_unit_test(what_cannot_be_sent_is_refused),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
