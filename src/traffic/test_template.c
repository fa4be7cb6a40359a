// SPDX-License-Identifier: Apache-2.0
/** Frames of templates beside a reference that makes each from nothing, byte by byte, with the textbook's checksums:
 * random descriptions, all kinds of fields, sizes, mixes, both protocols of both layers, stamps, several in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "traffic/field_values.h"
#include "traffic/frame_layout.h"
#include "traffic/template_source.h"

enum { BURSTS = 12, DESCRIPTIONS = 400, LONGEST = 1514, KEY = 0x1234, PORT = 3 };

/* ── the reference ── */

static uint64_t test_random(unsigned *seed) {
    return (uint64_t)(unsigned)rand_r(seed) << 40 ^ (uint64_t)(unsigned)rand_r(seed) << 20 ^ (unsigned)rand_r(seed);
}

static uint32_t textbook_sum(uint32_t sum, uint8_t const *bytes, uint32_t length) {
    for (uint32_t i = 0; i < length; ++i) {
        sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return sum;
}

/** Bytes put one behind the other. */
struct pen {
    uint8_t *at;
};

static void put(struct pen *pen, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i)
        *pen->at++ = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

static void put_ethernet(struct pen *pen, struct rm_traffic_template const *template, uint64_t const *value) {
    put(pen, value[RM_TRAFFIC_DESTINATION_MAC], 6);
    put(pen, value[RM_TRAFFIC_SOURCE_MAC], 6);
    if (template->tagged) {
        put(pen, 0x8100, 2);
        put(pen, value[RM_TRAFFIC_PRIORITY] * 8192 + value[RM_TRAFFIC_VLAN], 2);
    }
    put(pen, template->ipv6 ? 0x86DD : 0x0800, 2);
}

static void put_ipv4(struct pen *pen, struct rm_traffic_template const *template, uint64_t const *value,
                     uint32_t carried) {
    uint8_t *const header = pen->at;
    put(pen, 0x45, 1);
    put(pen, value[RM_TRAFFIC_TOS], 1);
    put(pen, carried + 20, 2);
    put(pen, 0x00004000, 4);
    put(pen, value[RM_TRAFFIC_TTL], 1);
    put(pen, template->protocol == RM_TRAFFIC_UDP ? 17 : 6, 1);
    put(pen, 0, 2);
    put(pen, value[RM_TRAFFIC_SOURCE_ADDRESS], 4);
    put(pen, value[RM_TRAFFIC_DESTINATION_ADDRESS], 4);
    struct pen checksum = {header + 10};
    put(&checksum, ~textbook_sum(0, header, 20), 2);
}

static void put_ipv6(struct pen *pen, struct rm_traffic_template const *template, uint64_t const *value,
                     uint32_t carried) {
    put(pen, 0x60000000 | value[RM_TRAFFIC_TOS] << 20, 4);
    put(pen, carried, 2);
    put(pen, template->protocol == RM_TRAFFIC_UDP ? 17 : 6, 1);
    put(pen, value[RM_TRAFFIC_TTL], 1);
    put(pen, template->source_ipv6_high, 8);
    put(pen, value[RM_TRAFFIC_SOURCE_ADDRESS], 8);
    put(pen, template->destination_ipv6_high, 8);
    put(pen, value[RM_TRAFFIC_DESTINATION_ADDRESS], 8);
}

/** The sum of UDP or TCP with its pseudo-header; 0xFFFF when the checksum is right. */
static uint32_t transport_sum(struct rm_traffic_template const *template, uint8_t const *frame, uint32_t length) {
    struct rm_frame_layout const layout = rm_frame_layout(template);
    uint32_t const addresses = template->ipv6 ? 32 : 8;
    uint8_t pseudo[4] = {0, template->protocol == RM_TRAFFIC_UDP ? 17 : 6, (uint8_t)((length - layout.transport) >> 8),
                         (uint8_t)(length - layout.transport)};
    uint32_t sum = textbook_sum(0, frame + layout.transport - addresses, addresses);
    sum = textbook_sum(sum, pseudo, sizeof pseudo);
    return textbook_sum(sum, frame + layout.transport, length - layout.transport);
}

static void put_transport(struct pen *pen, struct rm_traffic_template const *template, uint64_t const *value,
                          uint32_t carried) {
    put(pen, value[RM_TRAFFIC_SOURCE_PORT], 2);
    put(pen, value[RM_TRAFFIC_DESTINATION_PORT], 2);
    if (template->protocol == RM_TRAFFIC_UDP) {
        put(pen, carried, 2);
        put(pen, 0, 2);
    } else {
        put(pen, 0, 8);
        put(pen, 0x50102000, 4);
        put(pen, 0, 4);
    }
}

/** The whole frame; its checksum of UDP or TCP is right for `stamp`, or without one. */
static void reference_frame(struct rm_traffic_template const *template, uint64_t const *value, uint8_t const *stamp,
                            uint8_t *frame) {
    struct rm_frame_layout const layout = rm_frame_layout(template);
    uint32_t const length = (uint32_t)value[RM_TRAFFIC_SIZE] - 4, carried = length - layout.transport;
    struct pen pen = {frame};
    put_ethernet(&pen, template, value);
    if (template->ipv6)
        put_ipv6(&pen, template, value, carried);
    else
        put_ipv4(&pen, template, value, carried);
    put_transport(&pen, template, value, carried);
    for (uint32_t i = 0; pen.at < frame + length; ++i)
        *pen.at++ = template->payload == RM_TRAFFIC_PAYLOAD_ZERO ? 0
                    : template->payload == RM_TRAFFIC_PAYLOAD_LETTERS
                        ? (uint8_t)('a' + i % 26)
                        : (uint8_t) template->text[i % template->text_bytes];
    if (stamp != NULL)
        memcpy(frame + layout.payload, stamp, RM_FLOW_STAMP_BYTES);
    uint32_t const checksum = ~transport_sum(template, frame, length) & 0xFFFF;
    struct pen sum = {frame + layout.transport_checksum};
    put(&sum, checksum == 0 ? 0xFFFF : checksum, 2);
}

/* ── random descriptions ── */

static void random_field(struct rm_traffic_template *template, enum rm_traffic_field_name name, uint64_t least,
                         uint64_t most, unsigned *seed) {
    struct rm_traffic_field *const field = &template->field[name];
    uint64_t const span = most - least;
    uint64_t const one = least + (span == UINT64_MAX ? test_random(seed) : test_random(seed) % (span + 1));
    uint64_t const other = least + (span == UINT64_MAX ? test_random(seed) : test_random(seed) % (span + 1));
    field->change = (enum rm_traffic_change)(test_random(seed) % 3);
    field->min = one < other ? one : other;
    field->max = one < other ? other : one;
    field->start = field->min + test_random(seed) % (field->max - field->min + 1);
    field->step = test_random(seed) % (test_random(seed) % 2 ? 4 : field->max - field->min + 1);
    field->step = field->step > field->max - field->min ? field->max - field->min : field->step;
}

static void random_template(struct rm_traffic_template *template, unsigned *seed) {
    *template = (struct rm_traffic_template){
        .tagged = test_random(seed) % 2,
        .ipv6 = test_random(seed) % 2,
        .source_ipv6_high = test_random(seed),
        .destination_ipv6_high = test_random(seed),
        .protocol = (enum rm_traffic_protocol)(test_random(seed) % 2),
        .payload = (enum rm_traffic_payload)(test_random(seed) % 3),
        .text_bytes = 1 + (uint32_t)(test_random(seed) % RM_TRAFFIC_TEXT_BYTES),
        .mix_count = test_random(seed) % 3 == 0 ? 1 + (uint32_t)(test_random(seed) % RM_TRAFFIC_MIX_MAX) : 0,
        .flow_count = test_random(seed) % 2 ? 1 + (uint32_t)(test_random(seed) % 8) : 0,
    };
    for (uint32_t i = 0; i < RM_TRAFFIC_TEXT_BYTES; ++i)
        template->text[i] = (char)test_random(seed);
    uint32_t const shortest = rm_traffic_shortest_size(template);
    for (uint32_t i = 0; i < template->mix_count; ++i)
        template->mix[i] = (struct rm_traffic_mix){shortest + (uint32_t)(test_random(seed) % (LONGEST - shortest)),
                                                   1 + (uint32_t)(test_random(seed) % 9)};
    for (enum rm_traffic_field_name name = 0; name < RM_TRAFFIC_FIELDS; ++name)
        random_field(template, name, name == RM_TRAFFIC_SIZE ? shortest : 0,
                     name == RM_TRAFFIC_SIZE ? LONGEST : rm_traffic_field_limit(template, name), seed);
}

/* ── the comparison ── */

struct rig {
    struct rm_traffic traffic;
    struct rm_flow_sent sent[RM_TRAFFIC_FLOWS_MAX];
    struct rm_source *source;
    struct rm_burst burst;
    uint8_t buffer[RM_BURST][LONGEST + 6];
    /** Of each template: values of the last frame, and how many there were. */
    uint64_t last[RM_TRAFFIC_TEMPLATES_MAX][RM_TRAFFIC_FIELDS];
    uint64_t frames[RM_TRAFFIC_TEMPLATES_MAX];
    uint64_t sequence[RM_TRAFFIC_TEMPLATES_MAX][RM_TRAFFIC_FLOWS_MAX];
};

static void fill(struct rig *rig, uint32_t count, uint64_t tsc) {
    rig->burst.count = count;
    for (uint32_t i = 0; i < count; ++i)
        rig->burst.data[i] = rig->buffer[i];
    assert_int_equal(rig->source->ops->fill(rig->source, &rig->burst, tsc), count);
}

static uint64_t loaded(uint8_t const *at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i)
        value = value << 8 | at[i];
    return value;
}

/** What a frame has in its fields, as one reads it off. */
static void read_values(struct rm_traffic_template const *template, uint8_t const *frame, uint32_t length,
                        uint64_t *value) {
    struct rm_frame_layout const layout = rm_frame_layout(template);
    uint8_t const *const ip = frame + layout.ip;
    value[RM_TRAFFIC_SIZE] = length + 4;
    value[RM_TRAFFIC_DESTINATION_MAC] = loaded(frame, 6);
    value[RM_TRAFFIC_SOURCE_MAC] = loaded(frame + 6, 6);
    value[RM_TRAFFIC_VLAN] = template->tagged ? loaded(frame + 14, 2) & 0xFFF : 0;
    value[RM_TRAFFIC_PRIORITY] = template->tagged ? loaded(frame + 14, 2) >> 13 : 0;
    value[RM_TRAFFIC_TOS] = template->ipv6 ? loaded(ip, 2) >> 4 & 0xFF : ip[1];
    value[RM_TRAFFIC_TTL] = ip[template->ipv6 ? 7 : 8];
    value[RM_TRAFFIC_SOURCE_ADDRESS] = template->ipv6 ? loaded(ip + 16, 8) : loaded(ip + 12, 4);
    value[RM_TRAFFIC_DESTINATION_ADDRESS] = template->ipv6 ? loaded(ip + 32, 8) : loaded(ip + 16, 4);
    value[RM_TRAFFIC_SOURCE_PORT] = loaded(frame + layout.transport, 2);
    value[RM_TRAFFIC_DESTINATION_PORT] = loaded(frame + layout.transport + 2, 2);
}

static bool is_in_mix(struct rm_traffic_template const *template, uint64_t size) {
    bool found = false;
    for (uint32_t i = 0; i < template->mix_count; ++i)
        found |= template->mix[i].size_bytes == size;
    return found;
}

static void check_value(struct rm_traffic_field const *field, uint64_t value, uint64_t last, bool first) {
    if (field->change == RM_TRAFFIC_FIXED || (field->change == RM_TRAFFIC_RANGE && first)) {
        assert_int_equal(value, field->start);
    } else if (field->change == RM_TRAFFIC_RANGE) {
        unsigned __int128 const next = (unsigned __int128)last + field->step;
        assert_int_equal(value, next > field->max ? field->min : (uint64_t)next);
    } else {
        assert_in_range(value, field->min, field->max);
    }
}

static void check_values(struct rig *rig, uint32_t t, uint64_t const *value) {
    struct rm_traffic_template const *const template = &rig->traffic.template[t];
    for (enum rm_traffic_field_name name = 0; name < RM_TRAFFIC_FIELDS; ++name) {
        if (!template->tagged && (name == RM_TRAFFIC_VLAN || name == RM_TRAFFIC_PRIORITY))
            continue;
        if (name == RM_TRAFFIC_SIZE && template->mix_count > 0)
            assert_true(is_in_mix(template, value[name]));
        else
            check_value(&template->field[name], value[name], rig->last[t][name], rig->frames[t] == 0);
    }
    memcpy(rig->last[t], value, sizeof rig->last[t]);
}

static void check_stamp(struct rig *rig, uint32_t t, uint8_t const *bytes, uint64_t tsc) {
    struct rm_flow_stamp stamp = {0};
    uint32_t const flow = (uint32_t)(rig->frames[t] % rig->traffic.template[t].flow_count);
    uint32_t first = PORT * RM_TRAFFIC_FLOWS_MAX;
    for (uint32_t i = 0; i < t; ++i)
        first += rig->traffic.template[i].flow_count;
    assert_true(rm_flow_stamp_read(bytes, KEY, &stamp));
    assert_int_equal(stamp.flow, first + flow);
    assert_int_equal(stamp.sequence, rig->sequence[t][flow]++);
    assert_int_equal(stamp.tsc, tsc);
}

static void check_frame(struct rig *rig, uint32_t t, uint8_t const *frame, uint32_t length, uint64_t tsc) {
    struct rm_traffic_template const *const template = &rig->traffic.template[t];
    uint8_t const *const stamp = frame + rm_frame_layout(template).payload;
    uint64_t value[RM_TRAFFIC_FIELDS];
    uint8_t expected[LONGEST + 6];
    read_values(template, frame, length, value);
    check_values(rig, t, value);
    if (template->flow_count > 0)
        check_stamp(rig, t, stamp, tsc);
    reference_frame(template, value, template->flow_count > 0 ? stamp : NULL, expected);
    assert_memory_equal(frame, expected, length);
    ++rig->frames[t];
}

static void check_bursts(struct rig *rig, unsigned *seed) {
    uint64_t next = 0;
    for (uint32_t burst = 0; burst < BURSTS; ++burst) {
        uint64_t const tsc = test_random(seed);
        fill(rig, 1 + (uint32_t)(test_random(seed) % RM_BURST), tsc);
        for (uint32_t i = 0; i < rig->burst.count; ++i)
            check_frame(rig, (uint32_t)(next++ % rig->traffic.template_count), rig->burst.data[i], rig->burst.length[i],
                        tsc);
    }
}

static void open_source(struct rig *rig, bool lends) {
    struct rm_error error = {0};
    if (rm_traffic_check(&rig->traffic, LONGEST, &error) != RM_OK)
        fail_msg("%s", error.text);
    assert_int_equal(rm_template_source_new(&rig->traffic, PORT, rig->sent, KEY, &rig->source, &error), RM_OK);
    rig->source->lends = lends;
    rig->source->ops->start(rig->source, 0);
}

static void frames_are_those_of_the_reference(void **state) {
    (void)state;
    unsigned seed = 11;
    for (uint32_t i = 0; i < DESCRIPTIONS; ++i) {
        struct rig *const rig = calloc(1, sizeof *rig);
        assert_non_null(rig);
        rm_traffic_default(&rig->traffic, 0);
        rig->traffic.seed = i;
        rig->traffic.template_count = i % 3 == 0 ? 1 : 1 + (uint32_t)(test_random(&seed) % RM_TRAFFIC_TEMPLATES_MAX);
        for (uint32_t t = 0; t < rig->traffic.template_count; ++t)
            random_template(&rig->traffic.template[t], &seed);
        open_source(rig, i % 2);
        check_bursts(rig, &seed);
        rig->source->ops->free(rig->source);
        free(rig);
    }
}

static void a_mix_has_its_weights_and_is_mixed(void **state) {
    (void)state;
    struct rig *const rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    rm_traffic_default(&rig->traffic, 0);
    rig->traffic.template[0].mix_count = 3;
    rig->traffic.template[0].mix[0] = (struct rm_traffic_mix){64, 7};
    rig->traffic.template[0].mix[1] = (struct rm_traffic_mix){594, 4};
    rig->traffic.template[0].mix[2] = (struct rm_traffic_mix){1518, 1};
    open_source(rig, true);
    for (uint32_t round = 0; round < 5; ++round) {
        uint32_t count[3] = {0}, row = 0;
        fill(rig, 12, 0);
        for (uint32_t i = 0; i < 12; ++i) {
            ++count[rig->burst.length[i] == 60 ? 0 : rig->burst.length[i] == 590 ? 1 : 2];
            row = i > 0 && rig->burst.length[i] == rig->burst.length[i - 1] ? row + 1 : 0;
            assert_true(row < 3);
        }
        assert_int_equal(count[0], 7);
        assert_int_equal(count[1], 4);
        assert_int_equal(count[2], 1);
    }
    assert_true(rm_traffic_mean_size(&rig->traffic) == (7 * 64 + 4 * 594 + 1518) / 12.0);
    rig->source->ops->free(rig->source);
    free(rig);
}

/** Of all destination ports, one makes the sum come out at zero, which would say that there is none. */
static void a_checksum_is_never_zero(void **state) {
    (void)state;
    enum { PORTS = 65536 };
    struct rig *const rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    uint32_t all_ones = 0;
    rm_traffic_default(&rig->traffic, 0);
    rig->traffic.template[0].field[RM_TRAFFIC_DESTINATION_PORT] =
        (struct rm_traffic_field){RM_TRAFFIC_RANGE, 0, 0, PORTS - 1, 1};
    open_source(rig, true);
    for (uint32_t burst = 0; burst < PORTS / RM_BURST; ++burst) {
        fill(rig, RM_BURST, 0);
        for (uint32_t i = 0; i < RM_BURST; ++i) {
            uint64_t const checksum = loaded(rig->burst.data[i] + 40, 2);
            assert_int_not_equal(checksum, 0);
            assert_int_equal(transport_sum(&rig->traffic.template[0], rig -> burst.data[i], 60), 0xFFFF);
            all_ones += checksum == 0xFFFF;
        }
    }
    assert_int_equal(all_ones, 1);
    rig->source->ops->free(rig->source);
    free(rig);
}

static void random_values_are_spread_over_all(void **state) {
    (void)state;
    struct rm_traffic_field const field = {RM_TRAFFIC_RANDOM, 10, 10, 25, 0};
    struct rm_field_values values, others;
    uint64_t value[RM_BURST], other[RM_BURST];
    uint32_t count[16] = {0}, same = 0;
    rm_field_values_start(&values, &field, 1);
    rm_field_values_start(&others, &field, 2);
    for (uint32_t round = 0; round < 256; ++round) {
        rm_field_values_take(&values, value, RM_BURST);
        rm_field_values_take(&others, other, RM_BURST);
        for (uint32_t i = 0; i < RM_BURST; ++i) {
            assert_in_range(value[i], 10, 25);
            ++count[value[i] - 10];
            same += value[i] == other[i];
        }
    }
    for (uint32_t i = 0; i < 16; ++i)
        assert_in_range(count[i], 1024 - 200, 1024 + 200); // six standard deviations
    assert_in_range(same, 1024 - 200, 1024 + 200);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_checksum_is_never_zero),
        cmocka_unit_test(frames_are_those_of_the_reference),
        cmocka_unit_test(a_mix_has_its_weights_and_is_mixed),
        cmocka_unit_test(random_values_are_spread_over_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
