// SPDX-License-Identifier: Apache-2.0
/* The generator's words, with actions that only note what they were asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "traffic/test_words_rig.h"

static void expect(struct words_rig *rig, char const *line) {
    if (rig_say(rig, line) != RM_OK)
        fail_msg("%s: %s", line, rig->error.text);
}

static void refuse(struct words_rig *rig, char const *line, char const *part) {
    struct rm_traffic const before = rig->traffic[0];
    uint32_t const described = rig->described;
    assert_int_equal(rig_say(rig, line), RM_E_ARGUMENT);
    if (strstr(rig->error.text, part) == NULL)
        fail_msg("%s: \"%s\" is not in \"%s\"", line, part, rig->error.text);
    assert_memory_equal(&before, &rig->traffic[0], sizeof before);
    assert_int_equal(described, rig->described);
}

static struct rm_traffic_field const *field(struct words_rig const *rig, enum rm_traffic_field_name name) {
    return &rig->traffic[0].template[0].field[name];
}

static void settings_reach_the_description(void **state) {
    struct words_rig *const rig = *state;
    expect(rig, "set 0 rate 20.5");
    assert_int_equal(rig->traffic[0].pace, RM_TRAFFIC_PERCENT);
    assert_true(rig->traffic[0].rate == 20.5);
    expect(rig, "set 0 rate 1.5Mpps");
    assert_int_equal(rig->traffic[0].pace, RM_TRAFFIC_PACKETS_PER_S);
    assert_true(rig->traffic[0].rate == 1.5e6);
    expect(rig, "set 0 rate max");
    assert_int_equal(rig->traffic[0].pace, RM_TRAFFIC_UNPACED);
    expect(rig, "set 0 size 512");
    expect(rig, "set 0 count 1000");
    expect(rig, "set 0 burst 4");
    expect(rig, "set 0 src mac 0211:2233:4455");
    expect(rig, "set 0 dst ip 10.1.2.3/24");
    expect(rig, "set 0 dport 53");
    expect(rig, "set 0 vlan 77");
    expect(rig, "enable 0 vlan");
    expect(rig, "set 0 proto tcp");
    expect(rig, "set 0 user pattern \"two words\"");
    assert_int_equal(field(rig, RM_TRAFFIC_SIZE)->start, 512);
    assert_int_equal(rig->traffic[0].count, 1000);
    assert_int_equal(rig->traffic[0].burst, 4);
    assert_true(field(rig, RM_TRAFFIC_SOURCE_MAC)->start == 0x021122334455);
    assert_int_equal(field(rig, RM_TRAFFIC_DESTINATION_ADDRESS)->start, 0x0A010203);
    assert_int_equal(field(rig, RM_TRAFFIC_DESTINATION_PORT)->start, 53);
    assert_int_equal(field(rig, RM_TRAFFIC_VLAN)->start, 77);
    assert_true(rig->traffic[0].template[0].tagged);
    assert_int_equal(rig->traffic[0].template[0].protocol, RM_TRAFFIC_TCP);
    assert_memory_equal(rig->traffic[0].template[0].text, "two words", 9);
    expect(rig, "disable 0 vlan");
    assert_false(rig->traffic[0].template[0].tagged);
}

static void ports_are_numbers_names_and_ranges(void **state) {
    struct words_rig *const rig = *state;
    expect(rig, "set 0,2 burst 2");
    expect(rig, "set 1-2 count 5");
    expect(rig, "set left,right size 128");
    expect(rig, "set all dport 9");
    assert_int_equal(rig->traffic[0].burst, 2);
    assert_int_equal(rig->traffic[1].burst, 64);
    assert_int_equal(rig->traffic[2].burst, 2);
    assert_int_equal(rig->traffic[0].count, 0);
    assert_int_equal(rig->traffic[1].count, 5);
    assert_int_equal(rig->traffic[2].count, 5);
    assert_int_equal(rig->traffic[2].template[0].field[RM_TRAFFIC_SIZE].start, 64);
    refuse(rig, "set 3 burst 2",
           "ports: found \"3\", expected \"all\", numbers from 0 to 2, or names of left, right, a-b");
    refuse(rig, "set lefft burst 2", "did you mean \"left\"?");
    refuse(rig, "set 2-0 burst 2", "ports: found \"2-0\"");
    refuse(rig, "set 0,,1 burst 2", "ports: found \"\"");
    expect(rig, "set a-b burst 3");
    assert_int_equal(rig->traffic[2].burst, 3);
}

static void a_word_changes_all_ports_or_none(void **state) {
    struct words_rig *const rig = *state;
    refuse(rig, "set all size 9000", "left: template 0: size 9000"); /* port 1 is a jumbo one, the others are not */
    expect(rig, "set 1 size 9000");
    assert_int_equal(rig->traffic[1].template[0].field[RM_TRAFFIC_SIZE].start, 9000);
}

static void impossible_values_are_refused_with_what_was_expected(void **state) {
    struct words_rig *const rig = *state;
    refuse(rig, "set 0 rate 101", "rate: found \"101\", expected above 0 and at most 100 percent of the line");
    refuse(rig, "set 0 rate 0", "stop ends sending");
    refuse(rig, "set 0 rate -1", "expected percent of the line as 99 or 0.5");
    refuse(rig, "set 0 rate 2000Mpps", "at most 1000Mpps");
    refuse(rig, "set 0 rate nan", "rate: found \"nan\"");
    refuse(rig, "set 0 size 63", "expected a whole number from 64");
    refuse(rig, "set 0 size 1600", "size 1600");
    refuse(rig, "set 0 burst 65", "expected a whole number from 1 to 64");
    refuse(rig, "set 0 vlan 4096", "expected a whole number from 0 to 4095");
    refuse(rig, "set 0 sport 65536", "65535");
    refuse(rig, "set 0 src mac 00:11:22:33:44", "expected one as 00:11:22:33:44:55");
    refuse(rig, "set 0 src mac 00:11:22:33:44:5g", "MAC address");
    refuse(rig, "set 0 dst ip 10.0.0.256", "expected one as 10.1.0.1");
    refuse(rig, "set 0 dst ip fd00::1", "`set PORTS type ipv6` first");
    refuse(rig, "set 0 sorc ip 10.0.0.1", "(did you mean \"src\"?)");
    refuse(rig, "set 0 proto icmp", "set PORTS proto UDP|TCP");
    refuse(rig, "set 0 pattern user", "there is no text yet");
    refuse(rig, "set 0 line 10", "100M, 2.5G or 400G");
    refuse(rig, "enable 0 rnage", "did you mean \"range\"?");
    refuse(rig, "set 0 rat 1", "did you mean \"rate\"?");
    refuse(rig, "imix 0 64:7,1518", "as 64:7,594:4,1518:1");
    refuse(rig, "imix 0 64:0", "weight");
    refuse(rig, "delay 99999", "10000");
}

static void ranges_go_through_what_was_said(void **state) {
    struct words_rig *const rig = *state;
    expect(rig, "range 0 src ip start 10.0.0.2");
    expect(rig, "range 0 src ip max 10.0.0.9");
    expect(rig, "range 0 src ip min 10.0.0.1");
    expect(rig, "range 0 src ip inc 0.0.0.2");
    expect(rig, "range 0 dport min 100");
    expect(rig, "range 0 dport max 200");
    assert_int_equal(field(rig, RM_TRAFFIC_SOURCE_ADDRESS)->change, RM_TRAFFIC_FIXED);
    expect(rig, "enable 0 range");
    struct rm_traffic_field const *source = field(rig, RM_TRAFFIC_SOURCE_ADDRESS);
    assert_int_equal(source->change, RM_TRAFFIC_RANGE);
    assert_int_equal(source->start, 0x0A000002);
    assert_int_equal(source->min, 0x0A000001);
    assert_int_equal(source->max, 0x0A000009);
    assert_int_equal(source->step, 2);
    assert_int_equal(field(rig, RM_TRAFFIC_DESTINATION_PORT)->start, 100);
    assert_int_equal(field(rig, RM_TRAFFIC_DESTINATION_PORT)->step, 1);
    assert_int_equal(field(rig, RM_TRAFFIC_SOURCE_PORT)->change, RM_TRAFFIC_FIXED);
    refuse(rig, "range 0 dport max 50",
           "range of destination port: min 100, start 100, max 50, expected them in this order");
    expect(rig, "enable 0 random");
    assert_int_equal(field(rig, RM_TRAFFIC_DESTINATION_PORT)->change, RM_TRAFFIC_RANDOM);
    expect(rig, "disable 0 random");
    assert_int_equal(field(rig, RM_TRAFFIC_DESTINATION_PORT)->change, RM_TRAFFIC_FIXED);
    expect(rig, "range 0 dport max 50"); /* one after the other, while it is off */
    expect(rig, "range 0 dport min 40");
    expect(rig, "enable 0 range");
    refuse(rig, "range 0 sorce ip min 10.0.0.1", "did you mean \"src\"?");
    refuse(rig, "range 0 dport mni 3", "did you mean \"min\"?");
}

static void a_sequence_is_sent_as_far_as_it_is_counted(void **state) {
    struct words_rig *const rig = *state;
    expect(rig, "seq 0 0 02:00:00:00:00:01 02:00:00:00:00:02 10.0.0.1 10.0.0.2/24 1 2 ipv4 udp 0 64");
    expect(rig, "sequence 1 0 0200:0000:0003 02:00:00:00:00:04 fd00::1 fd00::2 3 4 ipv6 tcp 5 128");
    assert_int_equal(rig->traffic[0].template_count, 1);
    expect(rig, "set 0 seq_cnt 2");
    assert_int_equal(rig->traffic[0].template_count, 2);
    struct rm_traffic_template const *const frame = rig->traffic[0].template;
    assert_false(frame[0].tagged);
    assert_int_equal(frame[0].field[RM_TRAFFIC_SOURCE_PORT].start, 1);
    assert_true(frame[1].tagged && frame[1].ipv6);
    assert_true(frame[1].destination_ipv6_high == 0xFD00000000000000);
    assert_int_equal(frame[1].field[RM_TRAFFIC_SOURCE_ADDRESS].start, 2);
    assert_int_equal(frame[1].protocol, RM_TRAFFIC_TCP);
    assert_int_equal(frame[1].field[RM_TRAFFIC_SIZE].start, 128);
    refuse(rig, "set 0 seq_cnt 17", "0 to 16");
    refuse(rig, "seq 16 0 02:00:00:00:00:01 02:00:00:00:00:02 10.0.0.1 10.0.0.2 1 2 ipv4 udp 0 64", "0 to 15");
}

static void mixes_flows_and_ipv6(void **state) {
    struct words_rig *const rig = *state;
    expect(rig, "imix 0 64:7,594:4,1518:1");
    assert_int_equal(rig->traffic[0].template[0].mix_count, 3);
    assert_int_equal(rig->traffic[0].template[0].mix[1].size_bytes, 594);
    expect(rig, "disable 0 imix");
    assert_int_equal(rig->traffic[0].template[0].mix_count, 0);
    expect(rig, "set 0 flows 8");
    expect(rig, "enable 0 latency");
    assert_int_equal(rig->traffic[0].template[0].flow_count, 8);
    refuse(rig, "set 0 type ipv6", "size 64"); /* headers and a stamp take more */
    expect(rig, "set 0 size 128");
    expect(rig, "set 0 type ipv6");
    expect(rig, "set 0 src ip fd00:1::7");
    assert_true(rig->traffic[0].template[0].source_ipv6_high == 0xFD00000100000000);
    assert_int_equal(field(rig, RM_TRAFFIC_SOURCE_ADDRESS)->start, 7);
    expect(rig, "set 0 type ipv4");
    assert_int_equal(field(rig, RM_TRAFFIC_SOURCE_ADDRESS)->start, 7);
}

static void words_that_do_something_reach_the_generator(void **state) {
    struct words_rig *const rig = *state;
    expect(rig, "start 0,2");
    assert_string_equal(rig->done, "start 0;start 2;");
    expect(rig, "stp");
    assert_string_equal(rig->done, "stop 0;stop 1;stop 2;");
    expect(rig, "start 1 arp gratuitous");
    assert_string_equal(rig->done, "ask 1 1 1;");
    expect(rig, "ping4 1");
    assert_string_equal(rig->done, "ask 1 2 1;");
    expect(rig, "ping4 1 5");
    assert_string_equal(rig->done, "ask 1 2 5;");
    expect(rig, "instruments 0 /etc/machine.yaml bpm* 500");
    assert_string_equal(rig->done, "instruments 0 /etc/machine.yaml bpm* 500;");
    expect(rig, "instruments 0 /etc/machine.yaml *");
    assert_string_equal(rig->done, "instruments 0 /etc/machine.yaml * 18446744073709551615;"); /* by TAI */
    refuse(rig, "instruments 0 /etc/machine.yaml bpm* now", "turn: found \"now\"");
    expect(rig, "capture 0 /tmp/all.pcap");
    assert_string_equal(rig->done, "capture 0 /tmp/all.pcap;");
    refuse(rig, "capture 0,1 /tmp/all.pcap", "found several ports");
    expect(rig, "capture 0,1 off");
    assert_string_equal(rig->done, "capture 0 off;capture 1 off;");
    expect(rig, "pcap 0 /tmp/in.pcap 2.5 3");
    assert_string_equal(rig->done, "replay 0 /tmp/in.pcap 2.5 3;");
    expect(rig, "pcap 0 off");
    assert_string_equal(rig->done, "replay 0 off 1 0;");
    expect(rig, "instruments 0 off");
    assert_string_equal(rig->done, "replay 0 off 1 0;");
    refuse(rig, "pcap 0 /tmp/in.pcap fast", "speed: found \"fast\"");
    refuse(rig, "clear 0 stats", "no such function");
    expect(rig, "set all size 100");
    expect(rig, "rst");
    assert_int_equal(field(rig, RM_TRAFFIC_SIZE)->start, 64);
    assert_true(field(rig, RM_TRAFFIC_SOURCE_MAC)->start == 0x02AABBCCDD01);
}

static void json_and_text_show_what_is_set(void **state) {
    struct words_rig *const rig = *state;
    expect(rig, "set 0 size 256");
    expect(rig, "range 0 sport max 70");
    expect(rig, "range 0 sport min 60");
    expect(rig, "show json");
    assert_non_null(strstr(rig->answer, "\"name\":\"left\",\"kind\":\"memif\""));
    assert_non_null(strstr(rig->answer, "\"size\":256,\"type\":\"ipv4\""));
    assert_non_null(strstr(rig->answer, "{\"field\":\"source port\",\"changes\":\"range\",\"inc\":1,\"start\":\"60\","
                                        "\"min\":\"60\",\"max\":\"70\"}"));
    assert_non_null(strstr(rig->answer, "\"lost\":2"));
    expect(rig, "show 0");
    assert_non_null(strstr(rig->answer, "size     256"));
    assert_non_null(strstr(rig->answer, "0 left, memif /run/left.sock: link up, stopped"));
    expect(rig, "show 0 flows");
    assert_non_null(strstr(rig->answer, "flow 0: sent 10, received 8, lost 2"));
}

static void a_file_is_loaded_and_loads_no_other(void **state) {
    struct words_rig *const rig = *state;
    char path[] = "/tmp/ringmaster-words-XXXXXX", line[64];
    int const file = mkstemp(path);
    assert_true(file >= 0);
    FILE *const out = fdopen(file, "w");
    fprintf(out, "# a script\nset 0 size 300 # bytes\n\nload %s\n", path);
    fclose(out);
    snprintf(line, sizeof line, "load %s", path);
    assert_int_equal(rig_say(rig, line), RM_E_ARGUMENT);
    unlink(path);
    assert_non_null(strstr(rig->error.text, ":4: load: a file that is loaded may not load another"));
    assert_int_equal(field(rig, RM_TRAFFIC_SIZE)->start, 300);
    assert_int_equal(rig_say(rig, "load /nowhere"), RM_E_SYSTEM);
    expect(rig, "delay 1");
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(settings_reach_the_description, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(ports_are_numbers_names_and_ranges, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(a_word_changes_all_ports_or_none, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(impossible_values_are_refused_with_what_was_expected, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(ranges_go_through_what_was_said, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(a_sequence_is_sent_as_far_as_it_is_counted, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(mixes_flows_and_ipv6, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(words_that_do_something_reach_the_generator, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(json_and_text_show_what_is_set, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(a_file_is_loaded_and_loads_no_other, rig_make, rig_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
