// SPDX-License-Identifier: Apache-2.0
#include "wire/test_fragments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/network_order.h"

static struct rm_flow const flow = {
    .source_ipv4 = 0x0A000007,
    .destination_ipv4 = 0x0A000001,
    .source_port = 2048,
    .destination_port = 2049,
};

struct whole_frame *whole_make_of(struct rm_flow const *of, uint32_t payload_length, unsigned seed) {
    struct whole_frame *whole = malloc(sizeof *whole);
    assert_non_null(whole);
    whole->header = rm_frame_write_header(whole->frame, of, payload_length);
    whole->payload_length = payload_length;
    whole->length = whole->header + payload_length;
    for (uint32_t i = 0; i < payload_length; ++i)
        whole->frame[whole->header + i] = (uint8_t)(rand_r(&seed) >> 7);
    rm_frame_write_udp_checksum(whole->frame, payload_length);
    return whole;
}

struct whole_frame *whole_make(uint32_t payload_length, unsigned seed) {
    return whole_make_of(&flow, payload_length, seed);
}

struct rm_reassembly *reassembly_make(void) {
    struct rm_reassembly *made = rm_reassembly_new(SLOTS, LONGEST, TIMEOUT);
    assert_non_null(made);
    return made;
}

enum rm_port_counter put_frame(struct rm_reassembly *reassembly, uint8_t const *frame, uint32_t length, uint64_t tsc,
                               struct rm_datagram *datagram) {
    uint8_t *const copy = malloc(length);
    assert_non_null(copy);
    memcpy(copy, frame, length);
    enum rm_port_counter const verdict = rm_reassembly_put(reassembly, copy, length, tsc, datagram);
    memset(copy, 0xA5, length);
    free(copy);
    return verdict;
}

enum rm_port_counter put_cut(struct rm_reassembly *reassembly, struct whole_frame const *whole, uint16_t id,
                             uint32_t index, struct rm_datagram *datagram) {
    uint8_t frame[FRAGMENT_MOST];
    uint32_t const length = rm_fragment_write(whole->frame, whole->length, MTU, id, index, frame);
    struct rm_datagram unused;
    assert_int_equal(rm_frame_parse(frame, length, false, &unused), RM_PORT_FRAGMENT);
    return put_frame(reassembly, frame, length, 0, datagram);
}

enum rm_port_counter put_at(struct rm_reassembly *reassembly, struct whole_frame const *whole, uint32_t first,
                            uint32_t length, bool more, uint64_t tsc, struct rm_datagram *datagram) {
    uint32_t const header = whole->header - RM_UDP_BYTES;
    uint8_t *const frame = malloc(header + length);
    assert_non_null(frame);
    memcpy(frame, whole->frame, header);
    memcpy(frame + header, whole->frame + header + first, length);
    uint8_t *const ipv4 = frame + header - RM_IPV4_BYTES;
    rm_store16(ipv4 + IPV4_TOTAL_LENGTH, (uint16_t)(RM_IPV4_BYTES + length));
    rm_store16(ipv4 + IPV4_FRAGMENT, (uint16_t)(first / 8 | (more ? MORE_FRAGMENTS : 0)));
    enum rm_port_counter const verdict = put_frame(reassembly, frame, header + length, tsc, datagram);
    free(frame);
    return verdict;
}

void assert_is_whole(struct rm_datagram const *datagram, struct whole_frame const *whole) {
    struct rm_datagram expected;
    assert_int_equal(rm_frame_parse(whole->frame, whole->length, false, &expected), RM_PORT_DECODED);
    assert_int_equal(datagram->length, expected.length);
    assert_memory_equal(datagram->payload, expected.payload, expected.length);
    assert_int_equal(datagram->source_ipv4, expected.source_ipv4);
    assert_int_equal(datagram->destination_ipv4, expected.destination_ipv4);
    assert_int_equal(datagram->source_port, expected.source_port);
    assert_int_equal(datagram->destination_port, expected.destination_port);
    assert_int_equal(datagram->vlan, expected.vlan);
}
