// SPDX-License-Identifier: Apache-2.0
/** Setpoint datagrams: round trips, every length, every wrong header byte, every block of vectors/setpoints.txt (the
 * argument), and frames from templates against frames from their parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/setpoint_frame.h"
#include "wire/test_guard_page.h"

enum { LINE_MOST = 2048, FRAME_MOST = 512, VECTORS_LEAST = 27 };

static float const values[RM_CHAIN_SUPPLIES_MAX] = {0.5f, -0.25f, 1e-40f, 3e38f, -0.0f};

static uint32_t write_any(uint8_t *payload, uint32_t count) {
    return rm_setpoint_write(payload, RM_SETPOINT_QUERY, 0xBEEF, 0x1122334455667788, UINT16_MAX, UINT32_MAX, 42, values,
                             count);
}

static void written_datagrams_parse(void **state) {
    (void)state;
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    for (uint32_t count = 1; count <= RM_CHAIN_SUPPLIES_MAX; ++count) {
        uint32_t const expected_length = RM_SETPOINT_HEADER_BYTES + 4 * count;
        uint8_t *const payload = guard - expected_length;
        assert_int_equal(write_any(payload, count), expected_length);
        struct rm_setpoint_datagram datagram;
        assert_int_equal(rm_setpoint_parse(payload, expected_length, &datagram), RM_SETPOINT_GOOD);
        assert_int_equal(datagram.flags, RM_SETPOINT_QUERY);
        assert_int_equal(datagram.chain, 0xBEEF);
        assert_int_equal(datagram.count, count);
        assert_true(datagram.turn == 0x1122334455667788);
        assert_int_equal(datagram.term, UINT16_MAX);
        assert_true(datagram.instance == UINT32_MAX);
        assert_true(datagram.sequence == 42);
        assert_ptr_equal(datagram.values, payload + RM_SETPOINT_HEADER_BYTES);
        for (uint32_t i = 0; i < count; ++i) {
            float const value = rm_setpoint_value(&datagram, i);
            assert_memory_equal(&value, &values[i], sizeof value);
        }
    }
    guard_page_free(guard);
}

static void impossible_counts_write_nothing(void **state) {
    (void)state;
    uint8_t payload[RM_SETPOINT_LONGEST] = {0};
    uint8_t const untouched[RM_SETPOINT_LONGEST] = {0};
    struct rm_setpoint_frame frame = {.count = 77};
    struct rm_flow const flow = {0};
    assert_int_equal(write_any(payload, 0), 0);
    assert_int_equal(write_any(payload, RM_CHAIN_SUPPLIES_MAX + 1), 0);
    assert_memory_equal(payload, untouched, sizeof payload);
    assert_false(rm_setpoint_frame_prepare(&frame, &flow, 1, 0));
    assert_false(rm_setpoint_frame_prepare(&frame, &flow, 1, RM_CHAIN_SUPPLIES_MAX + 1));
    assert_int_equal(frame.count, 77);
}

/** Without values there are zeros, whatever lay in the buffer. */
static void a_query_has_zeros(void **state) {
    (void)state;
    uint8_t payload[RM_SETPOINT_LONGEST];
    static uint8_t const zeros[RM_SETPOINT_LONGEST];
    memset(payload, 0xA5, sizeof payload);
    assert_int_equal(rm_setpoint_write(payload, RM_SETPOINT_QUERY, 1, 2, 3, 4, 5, NULL, 10), 72);
    assert_memory_equal(payload + RM_SETPOINT_HEADER_BYTES, zeros, 40);
    assert_int_equal(payload[72], 0xA5);
}

static void every_length_is_judged_without_reading_on(void **state) {
    (void)state;
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    uint8_t payload[2 * RM_SETPOINT_LONGEST] = {0};
    write_any(payload, 9);
    for (uint32_t length = 0; length <= sizeof payload; ++length) {
        struct rm_setpoint_datagram datagram;
        uint8_t const *const copy = guard_page_copy(guard, payload, length);
        enum rm_setpoint_fault const expected = length < RM_SETPOINT_SHORTEST ? RM_SETPOINT_TOO_SHORT
                                                : length == 32 + 4 * 9        ? RM_SETPOINT_GOOD
                                                                              : RM_SETPOINT_BAD_LENGTH;
        assert_int_equal(rm_setpoint_parse(copy, length, &datagram), expected);
    }
    guard_page_free(guard);
}

static void assert_judged(uint32_t offset, uint8_t value, enum rm_setpoint_fault expected) {
    uint8_t payload[RM_SETPOINT_LONGEST];
    struct rm_setpoint_datagram datagram;
    uint32_t const length = write_any(payload, 4);
    payload[offset] = value;
    assert_int_equal(rm_setpoint_parse(payload, length, &datagram), expected);
}

static void every_wrong_header_byte_is_named(void **state) {
    (void)state;
    for (unsigned value = 0; value <= 0xFF; ++value) {
        uint8_t const byte = (uint8_t)value;
        bool const possible = byte >= 1 && byte <= RM_CHAIN_SUPPLIES_MAX;
        assert_judged(0, byte, byte == 'R' ? RM_SETPOINT_GOOD : RM_SETPOINT_BAD_MAGIC);
        assert_judged(1, byte, byte == 'S' ? RM_SETPOINT_GOOD : RM_SETPOINT_BAD_MAGIC);
        assert_judged(2, byte, byte == RM_SETPOINT_VERSION ? RM_SETPOINT_GOOD : RM_SETPOINT_UNKNOWN_VERSION);
        assert_judged(3, byte, byte <= RM_SETPOINT_QUERY ? RM_SETPOINT_GOOD : RM_SETPOINT_UNKNOWN_FLAGS);
        assert_judged(6, byte,
                      byte == 4  ? RM_SETPOINT_GOOD
                      : possible ? RM_SETPOINT_BAD_LENGTH
                                 : RM_SETPOINT_BAD_COUNT);
        assert_judged(7, byte, byte == 0 ? RM_SETPOINT_GOOD : RM_SETPOINT_BAD_COUNT);
        assert_judged(4, byte, RM_SETPOINT_GOOD);
        assert_judged(5, byte, RM_SETPOINT_GOOD);
    }
}

/** Turn, term, instance, sequence and values may be anything; the two bytes between are 0. */
static void bytes_of_numbers_are_free(void **state) {
    (void)state;
    for (unsigned value = 0; value <= 0xFF; ++value)
        for (uint32_t offset = 8; offset < RM_SETPOINT_HEADER_BYTES + 16; ++offset) {
            bool const must_be_zero = offset == 18 || offset == 19;
            assert_judged(offset, (uint8_t)value,
                          must_be_zero && value != 0 ? RM_SETPOINT_BAD_SENDER : RM_SETPOINT_GOOD);
        }
}

/** A query may be of a server that knows of no term yet; setpoints are of one, and both have an instance. */
static void a_sender_has_a_term_and_an_instance(void **state) {
    (void)state;
    uint8_t payload[RM_SETPOINT_LONGEST];
    struct {
        uint8_t flags;
        uint16_t term;
        uint32_t instance;
        enum rm_setpoint_fault fault;
    } const senders[] = {
        {0, 1, 1, RM_SETPOINT_GOOD},
        {0, 0, 1, RM_SETPOINT_BAD_SENDER},
        {0, 1, 0, RM_SETPOINT_BAD_SENDER},
        {RM_SETPOINT_QUERY, 0, 1, RM_SETPOINT_GOOD},
        {RM_SETPOINT_QUERY, 1, 0, RM_SETPOINT_BAD_SENDER},
        {0, UINT16_MAX, UINT32_MAX, RM_SETPOINT_GOOD},
    };
    for (unsigned i = 0; i < sizeof senders / sizeof senders[0]; ++i) {
        struct rm_setpoint_datagram datagram;
        uint32_t const length =
            rm_setpoint_write(payload, senders[i].flags, 1, 2, senders[i].term, senders[i].instance, 4, values, 3);
        assert_int_equal(rm_setpoint_parse(payload, length, &datagram), senders[i].fault);
    }
}

static void what_is_wrong_first_is_named(void **state) {
    (void)state;
    uint8_t payload[RM_SETPOINT_LONGEST] = {0};
    struct rm_setpoint_datagram datagram = {.count = 99};
    assert_int_equal(rm_setpoint_parse(payload, 35, &datagram), RM_SETPOINT_TOO_SHORT);
    payload[3] = 0xFF;
    assert_int_equal(rm_setpoint_parse(payload, 37, &datagram), RM_SETPOINT_BAD_MAGIC);
    memcpy(payload, "RS", 2);
    assert_int_equal(rm_setpoint_parse(payload, 37, &datagram), RM_SETPOINT_UNKNOWN_VERSION);
    payload[2] = RM_SETPOINT_VERSION;
    assert_int_equal(rm_setpoint_parse(payload, 37, &datagram), RM_SETPOINT_UNKNOWN_FLAGS);
    payload[3] = 0;
    assert_int_equal(rm_setpoint_parse(payload, 37, &datagram), RM_SETPOINT_BAD_COUNT);
    payload[6] = 1;
    assert_int_equal(rm_setpoint_parse(payload, 37, &datagram), RM_SETPOINT_BAD_LENGTH);
    assert_int_equal(rm_setpoint_parse(payload, 36, &datagram), RM_SETPOINT_BAD_SENDER);
    assert_int_equal(datagram.count, 99);
}

static void random_bytes(void *to, size_t length) {
    for (size_t i = 0; i < length; ++i)
        ((uint8_t *)to)[i] = (uint8_t)(random() >> 8);
}

/** Bit by bit, checksum included, right up to a page that may not be touched. */
static void frames_from_templates_are_those_from_parts(void **state) {
    (void)state;
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    for (int round = 0; round < 40000; ++round) {
        struct rm_flow flow;
        random_bytes(&flow, sizeof flow);
        flow.vlan = round % 3 ? 0 : (uint16_t)(1 + random() % 4094);
        uint32_t const count = 1 + (uint32_t)random() % RM_CHAIN_SUPPLIES_MAX;
        uint64_t number[3];
        float wanted[RM_CHAIN_SUPPLIES_MAX];
        random_bytes(number, sizeof number);
        random_bytes(wanted, sizeof wanted);
        if (round % 5 == 0)
            memset(wanted, round % 2 ? 0xFF : 0, sizeof wanted);
        bool const query = round % 7 == 0;
        uint8_t const flags = round % 11 ? query : (uint8_t)random();
        uint16_t const chain = (uint16_t)random(), term = (uint16_t)number[1];
        uint32_t const instance = (uint32_t)(number[1] >> 32);

        uint8_t parts[RM_SETPOINT_FRAME_LONGEST];
        uint32_t const header = rm_frame_write_header(parts, &flow, RM_SETPOINT_HEADER_BYTES + 4 * count);
        uint32_t const length = rm_setpoint_write(parts + header, flags, chain, number[0], term, instance, number[2],
                                                  query ? NULL : wanted, count);
        rm_frame_write_udp_checksum(parts, length);

        struct rm_setpoint_frame frame;
        assert_true(rm_setpoint_frame_prepare(&frame, &flow, chain, count));
        uint8_t *const whole = guard - (header + length);
        random_bytes(whole, header + length);
        assert_int_equal(
            rm_setpoint_frame_fill(&frame, whole, flags, number[0], term, instance, number[2], query ? NULL : wanted),
            header + length);
        assert_memory_equal(whole, parts, header + length);
    }
    guard_page_free(guard);
}

struct vector {
    char name[64];
    char verdict[64];
    uint8_t frame[FRAME_MOST];
    uint32_t frame_length, header_length;
    uint64_t flags, chain, turn, term, instance, sequence;
    float value[RM_CHAIN_SUPPLIES_MAX];
    uint32_t count;
};

static uint32_t append_hex(struct vector *vector, char const *text) {
    uint32_t const before = vector->frame_length;
    char *end;
    for (unsigned long byte = strtoul(text, &end, 16); end != text; byte = strtoul(text, &end, 16)) {
        assert_true(byte <= 0xFF && vector->frame_length < FRAME_MOST);
        vector->frame[vector->frame_length++] = (uint8_t)byte;
        text = end;
    }
    return vector->frame_length - before;
}

static void read_values(struct vector *vector, char const *text) {
    char *end;
    for (float value = strtof(text, &end); end != text; value = strtof(text, &end)) {
        assert_true(vector->count < RM_CHAIN_SUPPLIES_MAX);
        vector->value[vector->count++] = value;
        text = end;
    }
}

static void read_line(struct vector *vector, char const *key, char const *text) {
    struct {
        char const *key;
        uint64_t *to;
    } const numbers[] = {{"flags", &vector->flags}, {"chain", &vector->chain},       {"turn", &vector->turn},
                         {"term", &vector->term},   {"instance", &vector->instance}, {"sequence", &vector->sequence}};
    if (strcmp(key, "name") == 0)
        snprintf(vector->name, sizeof vector->name, "%s", text);
    else if (strcmp(key, "verdict") == 0)
        snprintf(vector->verdict, sizeof vector->verdict, "%s", text);
    else if (strcmp(key, "ethernet") == 0 || strcmp(key, "ipv4") == 0 || strcmp(key, "udp") == 0)
        vector->header_length += append_hex(vector, text);
    else if (strcmp(key, "payload") == 0)
        append_hex(vector, text);
    else if (strcmp(key, "f32") == 0)
        read_values(vector, text);
    else {
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
            if (strcmp(key, numbers[i].key) == 0) {
                *numbers[i].to = strtoull(text, NULL, 0);
                return;
            }
        fail_msg("%s: no such key in a test vector", key);
    }
}

/** Reads the next block; false at the end of the file. */
static bool read_vector(FILE *file, struct vector *vector) {
    char line[LINE_MOST];
    *vector = (struct vector){0};
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' && vector->name[0])
            return true;
        if (line[0] == '\0' || line[0] == '#')
            continue;
        char *const space = strchr(line, ' ');
        assert_non_null(space);
        *space = '\0';
        read_line(vector, line, space + 1);
    }
    return vector->name[0] != '\0';
}

static char const *const fault_names[] = {"good",          "too_short", "bad_magic",  "unknown_version",
                                          "unknown_flags", "bad_count", "bad_length", "bad_sender"};

enum { FAULTS = sizeof fault_names / sizeof fault_names[0] };

static void check_fields(struct vector const *vector, struct rm_setpoint_datagram const *datagram) {
    assert_int_equal(datagram->flags, vector->flags);
    assert_int_equal(datagram->chain, vector->chain);
    assert_int_equal(datagram->count, vector->count);
    assert_true(datagram->turn == vector->turn);
    assert_true(datagram->term == vector->term);
    assert_true(datagram->instance == vector->instance);
    assert_true(datagram->sequence == vector->sequence);
    assert_memory_equal(datagram->values, vector->value, 4 * vector->count);
}

/** The frame that the server would make is the one that the vectors' own implementation made. */
static void check_written_back(struct vector const *vector, struct rm_datagram const *found) {
    struct rm_flow const flow = {
        .destination_mac = {2, 0, 0x0a, 0x1e, 0, 7},
        .source_mac = {2, 0, 0, 0, 0, 1},
        .source_ipv4 = found->source_ipv4,
        .destination_ipv4 = found->destination_ipv4,
        .source_port = 4662,
        .destination_port = 4662,
        .vlan = found->vlan == RM_VLAN_NONE ? 0 : found->vlan,
    };
    struct rm_setpoint_frame frame;
    uint8_t written[RM_SETPOINT_FRAME_LONGEST];
    assert_true(rm_setpoint_frame_prepare(&frame, &flow, (uint16_t)vector->chain, vector->count));
    assert_int_equal(rm_setpoint_frame_fill(&frame, written, (uint8_t)vector->flags, vector->turn,
                                            (uint16_t)vector->term, (uint32_t)vector->instance, vector->sequence,
                                            vector->value),
                     vector->frame_length);
    assert_memory_equal(written, vector->frame, vector->frame_length);
}

static void every_vector_gets_its_verdict(void **state) {
    FILE *const file = fopen(*state, "r");
    assert_non_null(file);
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    unsigned count = 0, seen[FAULTS] = {0};
    for (struct vector vector; read_vector(file, &vector); ++count) {
        struct rm_datagram found;
        uint8_t const *const frame = guard_page_copy(guard, vector.frame, vector.frame_length);
        assert_int_equal(rm_frame_parse(frame, vector.frame_length, false, &found), RM_PORT_DECODED);
        assert_ptr_equal(found.payload, frame + vector.header_length);
        assert_int_equal(found.source_ipv4, 0x0A1EFF01);
        assert_int_equal(found.destination_ipv4, 0x0A1E0007);
        struct rm_setpoint_datagram datagram;
        enum rm_setpoint_fault const fault = rm_setpoint_parse(found.payload, found.length, &datagram);
        if (strcmp(vector.verdict, fault_names[fault]) != 0)
            fail_msg("%s: expected %s, got %s", vector.name, vector.verdict, fault_names[fault]);
        ++seen[fault];
        if (fault == RM_SETPOINT_GOOD) {
            check_fields(&vector, &datagram);
            check_written_back(&vector, &found);
        }
    }
    guard_page_free(guard);
    fclose(file);
    assert_true(count >= VECTORS_LEAST);
    for (unsigned i = 0; i < FAULTS; ++i)
        if (!seen[i])
            fail_msg("no vector for the verdict %s", fault_names[i]);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s setpoints.txt\n", argv[0]);
        return 2;
    }
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(written_datagrams_parse),
        cmocka_unit_test(impossible_counts_write_nothing),
        cmocka_unit_test(a_query_has_zeros),
        cmocka_unit_test(every_length_is_judged_without_reading_on),
        cmocka_unit_test(every_wrong_header_byte_is_named),
        cmocka_unit_test(bytes_of_numbers_are_free),
        cmocka_unit_test(a_sender_has_a_term_and_an_instance),
        cmocka_unit_test(what_is_wrong_first_is_named),
        cmocka_unit_test(frames_from_templates_are_those_from_parts),
        cmocka_unit_test_prestate(every_vector_gets_its_verdict, argv[1]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
