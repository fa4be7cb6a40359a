// SPDX-License-Identifier: Apache-2.0
/** Descriptions: the default is right, every wrong value is refused with its place, rates in percent of the line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "traffic/frame_layout.h"
#include "traffic/traffic.h"

enum { LONGEST = 1518 };

static struct rm_traffic usual(void) {
    struct rm_traffic traffic;
    rm_traffic_default(&traffic, 2);
    return traffic;
}

static void expect_refused(struct rm_traffic const *traffic, char const *part) {
    struct rm_error error = {0};
    assert_int_equal(rm_traffic_check(traffic, LONGEST, &error), RM_E_ARGUMENT);
    if (strstr(error.text, part) == NULL)
        fail_msg("\"%s\" is not in: %s", part, error.text);
}

static void the_default_is_right(void **state) {
    (void)state;
    struct rm_error error = {0};
    for (uint32_t port = 0; port < RM_TRAFFIC_PORTS_MAX; ++port) {
        struct rm_traffic traffic;
        rm_traffic_default(&traffic, port);
        assert_int_equal(rm_traffic_check(&traffic, LONGEST, &error), RM_OK);
    }
}

static void rates_in_percent_are_those_of_the_line(void **state) {
    (void)state;
    struct rm_traffic traffic = usual();
    assert_float_equal(rm_traffic_packets_per_s(&traffic), 14880952.38, 0.01);
    traffic.rate = 50;
    assert_float_equal(rm_traffic_packets_per_s(&traffic), 7440476.19, 0.01);
    traffic.template[0].field[RM_TRAFFIC_SIZE] = (struct rm_traffic_field){RM_TRAFFIC_RANGE, 64, 64, 128, 64};
    assert_float_equal(rm_traffic_mean_size(&traffic), 96, 0);
    traffic.pace = RM_TRAFFIC_PACKETS_PER_S;
    assert_float_equal(rm_traffic_packets_per_s(&traffic), 50, 0);
    traffic.pace = RM_TRAFFIC_UNPACED;
    assert_float_equal(rm_traffic_packets_per_s(&traffic), 0, 0);
}

static void sizes_have_room_for_headers_and_stamp(void **state) {
    (void)state;
    struct rm_traffic_template template = usual().template[0];
    assert_int_equal(rm_traffic_shortest_size(&template), 64);
    template.flow_count = 1;
    assert_int_equal(rm_traffic_shortest_size(&template), 64);
    template.tagged = true;
    assert_int_equal(rm_traffic_shortest_size(&template), 68);
    template.ipv6 = true;
    assert_int_equal(rm_traffic_shortest_size(&template), 88);
    template.protocol = RM_TRAFFIC_TCP;
    assert_int_equal(rm_traffic_shortest_size(&template), 100);
}

static void wrong_rates_are_refused(void **state) {
    (void)state;
    struct rm_traffic traffic = usual();
    traffic.rate = 100.5;
    expect_refused(&traffic, "rate 100.5; expected above 0 up to 100 percent");
    traffic.rate = 0;
    expect_refused(&traffic, "rate 0;");
    traffic.rate = __builtin_nan("");
    expect_refused(&traffic, "rate ");
    traffic.pace = RM_TRAFFIC_PACKETS_PER_S;
    traffic.rate = 2e9;
    expect_refused(&traffic, "packets per second");
    traffic = usual();
    traffic.line_bits_per_s = 0;
    expect_refused(&traffic, "a line of 0 bit/s");
    traffic = usual();
    traffic.burst = 65;
    expect_refused(&traffic, "burst 65; expected 1 to 64");
    traffic = usual();
    traffic.late_max_ns = 1000000001;
    expect_refused(&traffic, "1000000001 ns");
    traffic = usual();
    traffic.template_count = 0;
    expect_refused(&traffic, "0 templates; expected 1 to 16");
}

static void wrong_fields_are_refused(void **state) {
    (void)state;
    struct rm_traffic traffic = usual();
    struct rm_traffic_field *const field = traffic.template[0].field;
    field[RM_TRAFFIC_VLAN].start = 4096;
    expect_refused(&traffic, "template 0: VLAN 4096; expected 0 to 4095");
    traffic = usual();
    field[RM_TRAFFIC_SIZE].start = 1523;
    expect_refused(&traffic, "size 1523; expected 64 to 1522");
    field[RM_TRAFFIC_SIZE].start = 63;
    expect_refused(&traffic, "size 63;");
    traffic = usual();
    field[RM_TRAFFIC_TTL] = (struct rm_traffic_field){RM_TRAFFIC_RANGE, 5, 6, 9, 1};
    expect_refused(&traffic, "time to live starts at 5; expected min 6");
    field[RM_TRAFFIC_TTL] = (struct rm_traffic_field){RM_TRAFFIC_RANGE, 7, 6, 9, 4};
    expect_refused(&traffic, "in steps of 4; expected 0 to max - min = 3");
    field[RM_TRAFFIC_TTL] = (struct rm_traffic_field){RM_TRAFFIC_RANGE, 7, 6, 256, 4};
    expect_refused(&traffic, "time to live 256;");
    field[RM_TRAFFIC_TTL] = (struct rm_traffic_field){(enum rm_traffic_change)7, 7, 6, 256, 4};
    expect_refused(&traffic, "no such kind of change: 7");
    traffic = usual();
    field[RM_TRAFFIC_SOURCE_ADDRESS].start = 1ull << 32;
    expect_refused(&traffic, "source address 4294967296;");
    struct rm_error error;
    traffic.template[0].ipv6 = true;
    field[RM_TRAFFIC_SIZE].start = 100;
    assert_int_equal(rm_traffic_check(&traffic, LONGEST, &error), RM_OK);
}

static void wrong_mixes_texts_and_flows_are_refused(void **state) {
    (void)state;
    struct rm_traffic traffic = usual();
    struct rm_traffic_template *const template = &traffic.template[0];
    template->mix_count = 1;
    template->mix[0] = (struct rm_traffic_mix){64, 0};
    expect_refused(&traffic, "weight 0 in its mix");
    template->mix[0] = (struct rm_traffic_mix){40, 1};
    expect_refused(&traffic, "size 40;");
    template->mix_count = 3;
    for (uint32_t i = 0; i < 3; ++i)
        template->mix[i] = (struct rm_traffic_mix){64, 100};
    expect_refused(&traffic, "are 300; expected at most 256");
    template->mix_count = 9;
    expect_refused(&traffic, "9 sizes in its mix");
    traffic = usual();
    template->payload = RM_TRAFFIC_PAYLOAD_TEXT;
    expect_refused(&traffic, "payload text of 0 bytes");
    traffic = usual();
    traffic.template_count = 2;
    traffic.template[1] = traffic.template[0];
    template->flow_count = 100;
    traffic.template[1].flow_count = 29;
    expect_refused(&traffic, "template 1: 29 flows; expected at most 128 of all");
    template->flow_count = UINT32_MAX;
    expect_refused(&traffic, "4294967295 flows");
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_default_is_right),
        cmocka_unit_test(rates_in_percent_are_those_of_the_line),
        cmocka_unit_test(sizes_have_room_for_headers_and_stamp),
        cmocka_unit_test(wrong_rates_are_refused),
        cmocka_unit_test(wrong_fields_are_refused),
        cmocka_unit_test(wrong_mixes_texts_and_flows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
