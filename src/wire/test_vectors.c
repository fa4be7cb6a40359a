// SPDX-License-Identifier: Apache-2.0
/** Every block of vectors/native.txt (the argument): the verdict, the fields, and the bytes written back from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire/frame.h"
#include "wire/native.h"
#include "wire/test_guard_page.h"

enum { FRAME_MOST = 256, LINE_MOST = 1024, VECTORS_LEAST = 35 };

struct vector {
    char name[64];
    char verdict[64];
    uint8_t frame[FRAME_MOST];
    uint32_t frame_length;
    uint32_t header_length; /**< bytes of the frame before the payload */
    uint32_t payload_length;
    uint16_t vlan; /**< RM_VLAN_NONE: untagged */
    uint8_t kind;
    uint16_t instrument;
    uint16_t status;
    rm_turn turn;
    union rm_lane lanes[RM_LANES];
    uint32_t lane_count;
};

struct verdict_name {
    char const *text;
    enum rm_port_counter counter;
};

static struct verdict_name const verdict_names[] = {
    {"decoded", RM_PORT_DECODED},
    {"not_ipv4", RM_PORT_NOT_IPV4},
    {"not_udp", RM_PORT_NOT_UDP},
    {"fragment", RM_PORT_FRAGMENT},
    {"truncated", RM_PORT_TRUNCATED},
    {"bad_ip_header", RM_PORT_BAD_IP_HEADER},
    {"bad_udp_checksum", RM_PORT_BAD_UDP_CHECKSUM},
    {"too_short", RM_PORT_TOO_SHORT},
    {"too_long", RM_PORT_TOO_LONG},
    {"bad_length", RM_PORT_BAD_LENGTH},
    {"bad_magic", RM_PORT_BAD_MAGIC},
    {"unknown_version", RM_PORT_UNKNOWN_VERSION},
    {"unknown_kind", RM_PORT_UNKNOWN_KIND},
};

enum { VERDICTS = sizeof verdict_names / sizeof verdict_names[0] };

/** VERDICTS when there is none of that name. */
static unsigned verdict_index(char const *text) {
    unsigned index = 0;
    while (index < VERDICTS && strcmp(verdict_names[index].text, text) != 0)
        ++index;
    return index;
}

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

static void read_lanes(struct vector *vector, char const *text, bool floats) {
    for (;;) {
        char *end;
        union rm_lane lane;
        if (floats)
            lane.f = strtof(text, &end);
        else
            lane.i = (int32_t)strtol(text, &end, 10);
        if (end == text)
            return;
        assert_true(vector->lane_count < RM_LANES);
        vector->lanes[vector->lane_count++] = lane;
        text = end;
    }
}

static void read_line(struct vector *vector, char const *key, char const *value) {
    if (strcmp(key, "name") == 0)
        snprintf(vector->name, sizeof vector->name, "%s", value);
    else if (strcmp(key, "verdict") == 0)
        snprintf(vector->verdict, sizeof vector->verdict, "%s", value);
    else if (strcmp(key, "ethernet") == 0 || strcmp(key, "ipv4") == 0 || strcmp(key, "udp") == 0)
        vector->header_length += append_hex(vector, value);
    else if (strcmp(key, "payload") == 0)
        vector->payload_length = append_hex(vector, value);
    else if (strcmp(key, "trailer") == 0)
        append_hex(vector, value);
    else if (strcmp(key, "kind") == 0)
        vector->kind = (uint8_t)strtoul(value, NULL, 0);
    else if (strcmp(key, "instrument") == 0)
        vector->instrument = (uint16_t)strtoul(value, NULL, 0);
    else if (strcmp(key, "status") == 0)
        vector->status = (uint16_t)strtoul(value, NULL, 0);
    else if (strcmp(key, "vlan") == 0)
        vector->vlan = (uint16_t)strtoul(value, NULL, 0);
    else if (strcmp(key, "turn") == 0)
        vector->turn = strtoull(value, NULL, 0);
    else if (strcmp(key, "i32") == 0 || strcmp(key, "f32") == 0)
        read_lanes(vector, value, key[0] == 'f');
    else
        fail_msg("%s: no such key in a test vector", key);
}

/** Reads the next block; false at the end of the file. */
static bool read_vector(FILE *file, struct vector *vector) {
    char line[LINE_MOST];
    *vector = (struct vector){.vlan = RM_VLAN_NONE};
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

static enum rm_port_counter judge(uint8_t const *frame, uint32_t length, struct rm_datagram *datagram,
                                  struct rm_native *native) {
    enum rm_port_counter const verdict = rm_frame_parse(frame, length, false, datagram);
    return verdict == RM_PORT_DECODED ? rm_native_parse(datagram->payload, datagram->length, native) : verdict;
}

static void check_fields(struct vector const *vector, uint8_t const *frame, struct rm_datagram const *datagram,
                         struct rm_native const *native) {
    assert_ptr_equal(datagram->payload, frame + vector->header_length);
    assert_int_equal(datagram->length, vector->payload_length);
    assert_int_equal(datagram->source_ipv4, 0x0A000007);
    assert_int_equal(datagram->destination_ipv4, 0x0A000001);
    assert_int_equal(datagram->source_port, 4660);
    assert_int_equal(datagram->destination_port, 4660);
    assert_int_equal(datagram->vlan, vector->vlan);
    assert_int_equal(native->kind, vector->kind);
    assert_int_equal(native->instrument, vector->instrument);
    assert_int_equal(native->status, vector->status);
    assert_true(native->turn == vector->turn);
    assert_int_equal(native->lane_count, vector->lane_count);
    assert_memory_equal(native->lanes, vector->lanes, 4 * vector->lane_count);
}

static void check_written_back(struct vector const *vector) {
    uint8_t payload[RM_NATIVE_LONGEST];
    uint32_t const length = rm_native_write(payload, vector->kind, vector->instrument, vector->status, vector->turn,
                                            vector->lanes, vector->lane_count);
    assert_int_equal(length, vector->payload_length);
    assert_memory_equal(payload, vector->frame + vector->header_length, length);
}

/** Cut anywhere before its end, a good frame is truncated, and nothing beyond the cut is read. */
static void check_truncations(struct vector const *vector, uint8_t *guard) {
    for (uint32_t cut = 0; cut < vector->header_length + vector->payload_length; ++cut) {
        struct rm_datagram datagram;
        uint8_t const *const frame = guard_page_copy(guard, vector->frame, cut);
        assert_int_equal(rm_frame_parse(frame, cut, false, &datagram), RM_PORT_TRUNCATED);
        assert_int_equal(rm_frame_parse(frame, cut, true, &datagram), RM_PORT_TRUNCATED);
    }
}

/** The frame that rm_frame_write_… makes is the one that the vectors' own implementation made. */
static void check_frame_written_back(struct vector const *vector) {
    static struct rm_flow const flow = {
        .destination_mac = {2, 0, 0, 0, 0, 1},
        .source_mac = {2, 0, 0, 0, 0, 2},
        .source_ipv4 = 0x0A000007,
        .destination_ipv4 = 0x0A000001,
        .source_port = 4660,
        .destination_port = 4660,
    };
    uint8_t frame[FRAME_MOST];
    memcpy(frame, vector->frame, vector->frame_length);
    rm_frame_write_header(frame, &flow, vector->payload_length);
    rm_frame_write_udp_checksum(frame, vector->payload_length);
    assert_memory_equal(frame, vector->frame, vector->frame_length);
}

static void every_vector_gets_its_verdict(void **state) {
    FILE *const file = fopen(*state, "r");
    assert_non_null(file);
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    unsigned seen[VERDICTS] = {0};
    unsigned count = 0;
    for (struct vector vector; read_vector(file, &vector); ++count) {
        unsigned const expected = verdict_index(vector.verdict);
        if (expected == VERDICTS)
            fail_msg("%s: unknown verdict %s", vector.name, vector.verdict);
        ++seen[expected];

        struct rm_datagram datagram;
        struct rm_native native;
        uint8_t const *const frame = guard_page_copy(guard, vector.frame, vector.frame_length);
        enum rm_port_counter const verdict = judge(frame, vector.frame_length, &datagram, &native);
        if (verdict != verdict_names[expected].counter)
            fail_msg("%s: expected %s, got port counter %d", vector.name, vector.verdict, verdict);
        if (verdict == RM_PORT_DECODED) {
            check_fields(&vector, frame, &datagram, &native);
            check_written_back(&vector);
            check_truncations(&vector, guard);
        }
        if (strcmp(vector.name, "bpm") == 0 || strcmp(vector.name, "udp-checksum-ffff") == 0)
            check_frame_written_back(&vector);
    }
    guard_page_free(guard);
    fclose(file);
    assert_true(count >= VECTORS_LEAST);
    for (unsigned i = 0; i < VERDICTS; ++i)
        if (!seen[i])
            fail_msg("no vector for the verdict %s", verdict_names[i].text);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s native.txt\n", argv[0]);
        return 2;
    }
    struct CMUnitTest const tests[] = {cmocka_unit_test_prestate(every_vector_gets_its_verdict, argv[1])};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
