// SPDX-License-Identifier: Apache-2.0
/** What comes, by size and kind; frames cut anywhere; stamps behind every kind of header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "traffic/arrivals.h"
#include "traffic/template_source.h"

enum { KEY = 77, LONGEST = 1514 };

struct rig {
    rm_counter counters[RM_GENERATOR_COUNTERS];
    struct rm_histogram latency;
    struct rm_flows flows;
};

static struct rig *made(void) {
    struct rm_error error;
    struct rig *const rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    assert_int_equal(rm_flows_init(&rig->flows, KEY, &error), RM_OK);
    return rig;
}

static void rig_free(struct rig *rig) {
    rm_flows_free(&rig->flows);
    free(rig);
}

/** One frame, at the end of its memory, so that the sanitizer sees a byte too many. */
static void come(struct rig *rig, uint8_t const *frame, uint32_t length) {
    uint8_t *const room = malloc(length + 1);
    assert_non_null(room);
    memcpy(room + 1, frame, length);
    struct rm_burst burst = {.count = 1, .data = {room + 1}, .length = {length}};
    rm_arrivals_count(&burst, 1000, rig->counters, &rig->flows, &rig->latency);
    free(room);
}

static uint64_t counted(struct rig const *rig, enum rm_generator_counter counter) {
    return rm_counter_get(rig->counters, counter);
}

/** A frame of a template with a stamp; returns its length. */
static uint32_t stamped_frame(struct rm_traffic_template const *changed, uint8_t *frame) {
    struct rm_traffic traffic;
    struct rm_flow_sent sent[RM_TRAFFIC_FLOWS_MAX] = {{0}};
    struct rm_source *source;
    struct rm_error error = {0};
    rm_traffic_default(&traffic, 0);
    traffic.template[0].tagged = changed->tagged;
    traffic.template[0].ipv6 = changed->ipv6;
    traffic.template[0].protocol = changed->protocol;
    traffic.template[0].flow_count = 1;
    traffic.template[0].field[RM_TRAFFIC_SIZE].start = rm_traffic_shortest_size(&traffic.template[0]);
    assert_int_equal(rm_traffic_check(&traffic, LONGEST, &error), RM_OK);
    assert_int_equal(rm_template_source_new(&traffic, 0, sent, KEY, &source, &error), RM_OK);
    struct rm_burst burst = {.count = 1};
    source->lends = true;
    source->ops->start(source, 0);
    assert_int_equal(source->ops->fill(source, &burst, 400), 1);
    memcpy(frame, burst.data[0], burst.length[0]);
    source->ops->free(source);
    return burst.length[0];
}

static void stamps_are_found_behind_all_headers(void **state) {
    (void)state;
    struct rig *const rig = made();
    for (uint32_t kind = 0; kind < 8; ++kind) {
        struct rm_traffic_template const template = {
            .tagged = kind & 1, .ipv6 = kind & 2, .protocol = kind & 4 ? RM_TRAFFIC_TCP : RM_TRAFFIC_UDP};
        uint8_t frame[LONGEST];
        uint32_t const length = stamped_frame(&template, frame);
        come(rig, frame, length);
        assert_int_equal(counted(rig, RM_GENERATOR_STAMPED), kind + 1);
        for (uint32_t cut = 0; cut < length; ++cut)
            come(rig, frame, cut);
        assert_int_equal(counted(rig, RM_GENERATOR_STAMPED), kind + 1);
    }
    assert_int_equal(atomic_load(&rig->flows.seen[0].received), 8);
    assert_int_equal(atomic_load(&rig->latency.total), 8);
    assert_int_equal(atomic_load(&rig->latency.largest), 600);
    rig_free(rig);
}

static void each_frame_is_in_one_class_of_size(void **state) {
    (void)state;
    static struct {
        uint32_t size;
        enum rm_generator_counter class;
    } const CASES[] = {{20, RM_GENERATOR_SIZE_64},     {64, RM_GENERATOR_SIZE_64},     {65, RM_GENERATOR_SIZE_127},
                       {127, RM_GENERATOR_SIZE_127},   {128, RM_GENERATOR_SIZE_255},   {256, RM_GENERATOR_SIZE_511},
                       {512, RM_GENERATOR_SIZE_1023},  {1023, RM_GENERATOR_SIZE_1023}, {1024, RM_GENERATOR_SIZE_1518},
                       {1518, RM_GENERATOR_SIZE_1518}, {1519, RM_GENERATOR_JUMBO},     {9604, RM_GENERATOR_JUMBO}};
    static uint8_t frame[9604];
    for (unsigned i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        struct rig *const rig = made();
        come(rig, frame, CASES[i].size - 4);
        for (unsigned class = RM_GENERATOR_SIZE_64; class <= RM_GENERATOR_JUMBO; ++class)
            assert_int_equal(counted(rig, class), class == CASES[i].class);
        assert_int_equal(counted(rig, RM_GENERATOR_RECEIVED_BYTES), CASES[i].size - 4);
        rig_free(rig);
    }
}

static void kinds_are_told_apart(void **state) {
    (void)state;
    static struct {
        uint8_t first_byte;
        uint8_t header[12];
        enum rm_generator_counter counter;
    } const CASES[] = {
        {0xFF, {0x08, 0x06}, RM_GENERATOR_ARP},
        {0xFF, {0x88, 0xB5}, RM_GENERATOR_BROADCAST},
        {0x01, {0x88, 0xB5}, RM_GENERATOR_MULTICAST},
        {0x02, {0x81, 0x00, 0, 5, 0x08, 0x06}, RM_GENERATOR_ARP},
        {0x02, {0x88, 0xA8, 0, 5, 0x81, 0x00, 0, 6, 0x08, 0x06}, RM_GENERATOR_ARP},
        {0x02, {0x08, 0x00, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 1}, RM_GENERATOR_ICMP},
        {0x02, {0x86, 0xDD, 0x60, 0, 0, 0, 0, 0, 58}, RM_GENERATOR_ICMP},
        {0x02, {0x08, 0x00, 0x55, 0, 0, 46, 0, 0, 0, 0, 64, 1}, RM_GENERATOR_BROKEN},
        {0x02, {0x08, 0x00, 0x45, 0, 0, 47, 0, 0, 0, 0, 64, 1}, RM_GENERATOR_BROKEN},
        {0x02, {0x08, 0x00, 0x45, 0, 0, 19, 0, 0, 0, 0, 64, 1}, RM_GENERATOR_BROKEN},
        {0x02, {0x08, 0x00, 0x45, 0, 0, 27, 0, 0, 0, 0, 64, 17}, RM_GENERATOR_BROKEN},
        {0x02, {0x08, 0x00, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 6}, RM_GENERATOR_BROKEN},
        {0x02, {0x86, 0xDD, 0x60, 0, 0, 0, 0, 7, 17}, RM_GENERATOR_BROKEN},
    };
    for (unsigned i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        struct rig *const rig = made();
        uint8_t frame[60] = {0};
        memset(frame, CASES[i].first_byte, 6);
        memcpy(frame + 12, CASES[i].header, sizeof CASES[i].header);
        come(rig, frame, sizeof frame);
        assert_int_equal(counted(rig, CASES[i].counter), 1);
        assert_int_equal(counted(rig, RM_GENERATOR_FOREIGN), 1);
        assert_int_equal(counted(rig, RM_GENERATOR_BROADCAST), CASES[i].first_byte == 0xFF);
        assert_int_equal(counted(rig, RM_GENERATOR_BROKEN), CASES[i].counter == RM_GENERATOR_BROKEN);
        rig_free(rig);
    }
}

static void fragments_have_no_stamp(void **state) {
    (void)state;
    struct rig *const rig = made();
    struct rm_traffic_template const template = {.protocol = RM_TRAFFIC_UDP};
    uint8_t frame[LONGEST];
    uint32_t const length = stamped_frame(&template, frame);
    frame[20] = 0x20; // more fragments
    come(rig, frame, length);
    assert_int_equal(counted(rig, RM_GENERATOR_STAMPED), 0);
    assert_int_equal(counted(rig, RM_GENERATOR_BROKEN), 0);
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(stamps_are_found_behind_all_headers),
        cmocka_unit_test(each_frame_is_in_one_class_of_size),
        cmocka_unit_test(kinds_are_told_apart),
        cmocka_unit_test(fragments_have_no_stamp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
