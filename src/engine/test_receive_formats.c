// SPDX-License-Identifier: Apache-2.0
/* The receive role with described datagrams: many records in one, short counters, fragments, VLANs, and frames that are
 * for another receiver. */
#include <stdlib.h>
#include <string.h>

#include "engine/test_receive_steps.h"
#include "wire/frame.h"

enum {
    GROUP_PORT = 2048,
    BLOCKS = 4,
    TURNS = 2,
    BLOCK_BYTES = 2 + TURNS * 8,
    HEADER = 6,
    PAYLOAD_BYTES = HEADER + BLOCKS * BLOCK_BYTES,
    GROUP_SOURCE = 0x0A150001,
    GROUP_ID = 40, /**< of the first block */
};

/** A vendor's group: magic, a 16-bit counter, then blocks of id and two turns of two 32-bit numbers, big-endian. */
static struct rm_layout *group_layout(void) {
    struct rm_layout_description const group = {
        .byte_order = RM_BIG_ENDIAN,
        .constant_count = 1,
        .constant = {{.at = 0, .type = RM_FIELD_U32, .value = 0xCAFE0001}},
        .instrument_at = HEADER,
        .instrument_stride = BLOCK_BYTES,
        .turn_count = TURNS,
        .turn_at = 2,
        .turn_stride = 8,
        .id = {.present = true, .in = RM_IN_INSTRUMENT, .at = 0, .type = RM_FIELD_U16},
        .counter = {.present = true, .in = RM_IN_DATAGRAM, .at = 4, .type = RM_FIELD_U16},
        .lane_count = 2,
        .lane = {{"x", "nm", 0, RM_FIELD_I32}, {"y", "nm", 4, RM_FIELD_I32}},
    };
    struct rm_layout *layout;
    struct rm_error error;
    if (rm_layout_compile(&group, &layout, &error) != RM_OK)
        fail_msg("%s", error.text);
    return layout;
}

struct group {
    struct receive_rig *rig;
    struct rm_layout *layout;
    struct rm_receive_format format[2];
};

/** Instruments 0–3 send in one group; those above, if any, natively, each alone. */
static struct group group_make(uint32_t natives) {
    struct group group = {.rig = rig_make(&(struct receive_rig_config){.instruments = BLOCKS + natives}),
                          .layout = group_layout()};
    struct rm_receive *receive = &group.rig->receive;
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        struct rm_instrument *instrument = group.rig->instrument[i];
        instrument->layout = group.layout;
        instrument->lane_count = 2;
        rm_counting_init(&instrument->counting, 16, true, 1, 0);
        rig_know(group.rig, 0, GROUP_SOURCE, (uint16_t)(GROUP_ID + i), i, NULL);
    }
    receive->anchor_lap_turns = natives == 0 ? 1u << 16 : 0;
    receive->vote_count = natives == 0 ? BLOCKS : natives;
    receive->vote = natives == 0 ? receive->vote : receive->vote + BLOCKS;
    return group;
}

/** Once the struct stands where it stays. */
static void group_connect(struct group *group) {
    group->format[0] = (struct rm_receive_format){.udp_port = RIG_UDP_PORT};
    group->format[1] = (struct rm_receive_format){.udp_port = GROUP_PORT, .layout = group->layout};
    group->rig->queue[0].format = group->format;
    group->rig->queue[0].format_count = 2;
}

static void group_free(struct group *group) {
    rig_free(group->rig);
    rm_layout_free(group->layout);
}

static uint32_t group_payload(struct group const *group, rm_turn turn, uint8_t *payload) {
    rm_layout_begin(group->layout, payload, PAYLOAD_BYTES);
    for (uint32_t i = 0; i < BLOCKS * TURNS; ++i) {
        union rm_lane const lanes[RM_LANES] = {{.i = rig_value(i / TURNS, turn + i % TURNS, 0)},
                                               {.i = rig_value(i / TURNS, turn + i % TURNS, 1)}};
        struct rm_sample const sample = {.id = GROUP_ID + i / TURNS, .counter = turn + i % TURNS};
        rm_layout_write(group->layout, payload, i, &sample, lanes);
    }
    return PAYLOAD_BYTES;
}

static uint32_t group_frame(struct group const *group, uint32_t source_ipv4, rm_turn turn, uint8_t *frame) {
    struct rm_flow const flow = {.source_ipv4 = source_ipv4, .destination_port = GROUP_PORT};
    uint32_t const length = group_payload(group, turn, frame + RM_FRAME_HEADER_BYTES);
    rm_frame_write_header(frame, &flow, length);
    return RM_FRAME_HEADER_BYTES + length;
}

static void group_send(struct group *group, rm_turn turn) {
    uint8_t frame[256];
    uint32_t const length = group_frame(group, GROUP_SOURCE, turn, frame);
    rig_push(group->rig, 0, 0, frame, length);
}

static void group_run(struct group *group, rm_turn first, uint64_t turns) {
    for (rm_turn turn = first; turn < first + turns; turn += TURNS) {
        rig_set_tsc(rig_tsc_of(turn + TURNS - 1));
        group_send(group, turn);
        assert_null(rig_poll(group->rig));
    }
}

static void a_group_needs_a_clock_that_others_set(void **state) {
    (void)state;
    struct group group = group_make(1);
    group_connect(&group);
    rm_turn const start = 5000000;
    group_run(&group, start, 2 * TURNS);
    expect(group.rig, 0, RM_STREAM_UNANCHORED, 2 * TURNS);
    assert_int_equal(rig_head(group.rig, 0), RM_TURN_NONE);
    for (rm_turn turn = start + 10; turn < start + 210000; turn += TURNS) { /* three laps of 16 bits */
        run(group.rig, turn, TURNS, 1u << BLOCKS, 0);
        group_send(&group, turn);
        assert_null(rig_poll(group.rig));
    }
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        assert_int_equal(rig_head(group.rig, i), start + 209998 + 1);
        for (rm_turn turn = start + 200000; turn < start + 210000; ++turn)
            assert_true(rig_shows(group.rig, i, turn));
        expect(group.rig, i, RM_STREAM_SKIPPED, 0);
        expect(group.rig, i, RM_STREAM_ACCEPTED, 209990);
    }
    expect_refusals(group.rig, 0, 0, 0);
    group_free(&group);
}

static void a_role_of_short_counters_takes_its_turns_from_tai(void **state) {
    (void)state;
    struct group group = group_make(0);
    group_connect(&group);
    group_run(&group, START, 200000);
    rm_turn const head = rig_head(group.rig, 0);
    assert_int_equal(head & 0xFFFF, (START + 199999) & 0xFFFF);
    assert_true(head > 1500000000ull * 1000000); /* 1 MHz since 1970 */
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        expect(group.rig, i, RM_STREAM_ACCEPTED, 200000);
        expect(group.rig, i, RM_STREAM_SKIPPED, 0);
    }
    group_free(&group);
}

/** A counter of 16 bits agrees with every clock that is right within its lap: the longer one says which lap it is. */
static void of_short_counters_the_longest_set_the_clock(void **state) {
    (void)state;
    struct group group = group_make(1);
    group_connect(&group);
    struct rm_receive *const receive = &group.rig->receive;
    struct rm_counting *const longer = &group.rig->instrument[BLOCKS]->counting;
    rm_counting_init(longer, 32, true, 1, 0);
    receive->anchor_lap_turns = longer->lap_turns;
    rm_turn const start = (1ull << 31) + 12345;
    group_run(&group, start, 2 * TURNS); /* cannot say where it is */
    expect(group.rig, 0, RM_STREAM_UNANCHORED, 2 * TURNS);
    for (rm_turn turn = start + 10; turn < start + 210000; turn += TURNS) { /* three laps of 16 bits */
        run(group.rig, turn, TURNS, 1u << BLOCKS, 0);
        group_send(&group, turn);
        assert_null(rig_poll(group.rig));
    }
    assert_int_equal(rig_head(group.rig, BLOCKS) & 0xFFFFFFFF, (start + 209999) & 0xFFFFFFFF);
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        assert_int_equal(rig_head(group.rig, i), rig_head(group.rig, BLOCKS));
        expect(group.rig, i, RM_STREAM_SKIPPED, 0);
        expect(group.rig, i, RM_STREAM_ACCEPTED, 209990);
    }
    expect_refusals(group.rig, BLOCKS, 0, 0);
    group_free(&group);
}

static void what_is_not_configured_is_counted(void **state) {
    (void)state;
    struct group group = group_make(1);
    group_connect(&group);
    uint8_t frame[256];
    run(group.rig, 1000, 1, 1u << BLOCKS, 0);
    uint32_t length = group_frame(&group, GROUP_SOURCE, 1000, frame);
    frame[RM_FRAME_HEADER_BYTES + HEADER + 1] = 99; /* the id of the first block */
    rig_push(group.rig, 0, 0, frame, length);
    length = group_frame(&group, GROUP_SOURCE + 1, 1000, frame);
    rig_push(group.rig, 0, 0, frame, length);
    assert_null(rig_poll(group.rig));
    assert_int_equal(rig_port_count(group.rig, RM_PORT_UNKNOWN_RECORD), TURNS);
    assert_int_equal(rig_port_count(group.rig, RM_PORT_UNKNOWN_SOURCE), 1);
    assert_int_equal(rig_port_count(group.rig, RM_PORT_DECODED), 2);
    expect(group.rig, 1, RM_STREAM_ACCEPTED, TURNS);
    expect(group.rig, 0, RM_STREAM_ACCEPTED, 0);
    group_free(&group);
}

/** One id in all blocks, as the wrong variant of Libera Grouping has it: nothing of it is stored. Two blocks of one id
 * among others are two instruments' mistake, and cost theirs alone. */
static void a_datagram_of_one_id_is_refused_whole(void **state) {
    (void)state;
    struct group group = group_make(1);
    group_connect(&group);
    uint8_t frame[256];
    run(group.rig, 1000, 1, 1u << BLOCKS, 0);
    uint32_t const length = group_frame(&group, GROUP_SOURCE, 1000, frame);
    uint8_t *const block = frame + RM_FRAME_HEADER_BYTES + HEADER;
    memcpy(block + BLOCK_BYTES, block, 2);
    rig_push(group.rig, 0, 0, frame, length);
    assert_null(rig_poll(group.rig));
    assert_int_equal(rig_port_count(group.rig, RM_PORT_REPEATED_ID), 0);
    expect(group.rig, 0, RM_STREAM_ACCEPTED, TURNS);
    for (uint32_t i = 2; i < BLOCKS; ++i)
        memcpy(block + i * BLOCK_BYTES, block, 2);
    rig_push(group.rig, 0, 0, frame, length);
    assert_null(rig_poll(group.rig));
    assert_int_equal(rig_port_count(group.rig, RM_PORT_REPEATED_ID), 1);
    expect(group.rig, 0, RM_STREAM_ACCEPTED, TURNS);
    expect(group.rig, 0, RM_STREAM_DUPLICATE, TURNS);
    group_free(&group);
}

static void an_instrument_in_the_wrong_format_is_refused(void **state) {
    (void)state;
    struct group group = group_make(1);
    group_connect(&group);
    rig_send(group.rig, 0, 1000); /* natively: its address and id are known, its format is another */
    assert_null(rig_poll(group.rig));
    assert_int_equal(rig_port_count(group.rig, RM_PORT_WRONG_KIND), 1);
    group_free(&group);
}

/** Cuts a frame into two fragments, the first with `first` bytes of IPv4 payload. */
static void push_fragment(struct receive_rig *rig, uint8_t const *frame, uint32_t length, uint32_t from,
                          uint32_t bytes) {
    uint8_t piece[256];
    uint32_t const headers = RM_ETHERNET_BYTES + RM_IPV4_BYTES;
    memcpy(piece, frame, headers);
    memcpy(piece + headers, frame + headers + from, bytes);
    uint8_t *ip = piece + RM_ETHERNET_BYTES;
    ip[2] = (uint8_t)((RM_IPV4_BYTES + bytes) >> 8), ip[3] = (uint8_t)(RM_IPV4_BYTES + bytes);
    ip[4] = 0x12, ip[5] = 0x34;
    uint32_t const flags = from / 8 | (from + bytes < length - headers ? 0x2000u : 0);
    ip[6] = (uint8_t)(flags >> 8), ip[7] = (uint8_t)flags;
    ip[10] = ip[11] = 0;
    uint32_t sum = 0;
    for (int i = 0; i < RM_IPV4_BYTES; i += 2)
        sum += (uint32_t)ip[i] << 8 | ip[i + 1];
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    ip[10] = (uint8_t)(~sum >> 8), ip[11] = (uint8_t)~sum;
    rig_push(rig, 0, 0, piece, headers + bytes);
}

static void fragments_are_put_together(void **state) {
    (void)state;
    struct group group = group_make(0);
    group_connect(&group);
    uint8_t frame[256];
    uint32_t const length = group_frame(&group, GROUP_SOURCE, 1000, frame);
    uint32_t const rest = length - RM_ETHERNET_BYTES - RM_IPV4_BYTES - 40;
    push_fragment(group.rig, frame, length, 40, rest);
    push_fragment(group.rig, frame, length, 0, 40);
    assert_null(rig_poll(group.rig));
    assert_int_equal(rig_port_count(group.rig, RM_PORT_FRAGMENT), 1);
    assert_int_equal(rig_port_count(group.rig, RM_PORT_REASSEMBLED), 1);
    assert_int_equal(rig_port_count(group.rig, RM_PORT_DECODED), 1);
    for (uint32_t i = 0; i < BLOCKS; ++i)
        expect(group.rig, i, RM_STREAM_ACCEPTED, TURNS);
    /* One that stays alone is given up. */
    push_fragment(group.rig, frame, length, 0, 40);
    assert_null(rig_poll(group.rig));
    rig_set_tsc(rig_tsc_of(200000));
    assert_null(rig_idle(group.rig));
    assert_int_equal(rig_port_count(group.rig, RM_PORT_FRAGMENT_EXPIRED), 1);
    group_free(&group);
}

static void what_is_somebody_elses_is_punted(void **state) {
    (void)state;
    struct group group = group_make(0);
    group_connect(&group);
    struct receive_rig *rig = group.rig;
    rig->queue[0].exception_path = true;
    rig->port[0]->punt_room = 3;
    uint8_t frame[256];
    uint32_t const length = group_frame(&group, GROUP_SOURCE, 1000, frame);
    uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
    rig_push(rig, 0, 0, arp, sizeof arp);
    frame[RM_ETHERNET_BYTES + RM_IPV4_BYTES + 2] = 1; /* another UDP port */
    rig_push(rig, 0, 0, frame, length);
    group_frame(&group, GROUP_SOURCE + 9, 1000, frame);
    push_fragment(rig, frame, length, 0, 40); /* of an unknown sender */
    rig_push(rig, 0, 0, arp, sizeof arp);     /* there is no room for this one */
    group_frame(&group, GROUP_SOURCE, 1000, frame);
    frame[RM_FRAME_HEADER_BYTES] = 0; /* an instrument's own nonsense stays here */
    rig_push(rig, 0, 0, frame, length);
    assert_null(rig_poll(rig));
    assert_int_equal(rig->port[0]->punted, 3);
    assert_int_equal(rig_port_count(rig, RM_PORT_PUNTED), 3);
    assert_int_equal(rig_port_count(rig, RM_PORT_PUNT_FULL), 1);
    assert_int_equal(rig_port_count(rig, RM_PORT_BAD_MAGIC), 1);
    group_free(&group);
}

/** A tag of VLAN `vlan` into a frame. */
static uint32_t tag(uint8_t *frame, uint32_t length, uint16_t vlan) {
    memmove(frame + 16, frame + 12, length - 12);
    frame[12] = 0x81, frame[13] = 0, frame[14] = (uint8_t)(vlan >> 8), frame[15] = (uint8_t)vlan;
    return length + 4;
}

static void a_port_of_one_vlan_takes_no_other(void **state) {
    (void)state;
    struct group group = group_make(0);
    group_connect(&group);
    uint8_t frame[256];
    for (uint16_t vlan = 7; vlan <= 8; ++vlan) {
        uint32_t const length = tag(frame, group_frame(&group, GROUP_SOURCE, 1000 + 2u * vlan, frame), vlan);
        rig_push(group.rig, 0, 0, frame, length);
    }
    assert_null(rig_poll(group.rig));
    assert_int_equal(rig_port_count(group.rig, RM_PORT_DECODED), 2);
    group.rig->queue[0].vlan = 7;
    for (uint16_t vlan = 7; vlan <= 8; ++vlan) {
        uint32_t const length = tag(frame, group_frame(&group, GROUP_SOURCE, 1100 + 2u * vlan, frame), vlan);
        rig_push(group.rig, 0, 0, frame, length);
    }
    group_send(&group, 1200);
    assert_null(rig_poll(group.rig));
    assert_int_equal(rig_port_count(group.rig, RM_PORT_DECODED), 3);
    assert_int_equal(rig_port_count(group.rig, RM_PORT_WRONG_VLAN), 2);
    group_free(&group);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_group_needs_a_clock_that_others_set),
        cmocka_unit_test(a_role_of_short_counters_takes_its_turns_from_tai),
        cmocka_unit_test(of_short_counters_the_longest_set_the_clock),
        cmocka_unit_test(what_is_not_configured_is_counted),
        cmocka_unit_test(a_datagram_of_one_id_is_refused_whole),
        cmocka_unit_test(an_instrument_in_the_wrong_format_is_refused),
        cmocka_unit_test(fragments_are_put_together),
        cmocka_unit_test(what_is_somebody_elses_is_punted),
        cmocka_unit_test(a_port_of_one_vlan_takes_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
