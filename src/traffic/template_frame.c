// SPDX-License-Identifier: Apache-2.0
#include "traffic/template_frame.h"

#include "wire/internet_checksum.h"

enum {
    TYPE_IPV4 = 0x0800,
    TYPE_IPV6 = 0x86DD,
    TYPE_VLAN = 0x8100,
    NUMBER_UDP = 17,
    NUMBER_TCP = 6,
    VERSION_IPV4 = 0x45,
    VERSION_IPV6 = 0x60,
    DONT_FRAGMENT_HIGH = 0x40,
    PRIORITY_SHIFT = 13,
    /* in the headers */
    IPV4_LENGTH_AT = 2,
    IPV4_FLAGS_AT = 6,
    IPV4_TTL_AT = 8,
    IPV4_PROTOCOL_AT = 9,
    IPV4_ADDRESSES_AT = 12,
    IPV6_LENGTH_AT = 4,
    IPV6_PROTOCOL_AT = 6,
    IPV6_HOPS_AT = 7,
    IPV6_ADDRESSES_AT = 8,
    UDP_LENGTH_AT = 4,
    TCP_OFFSET_AT = 12,
    TCP_OFFSET = 5 << 4,
    TCP_ACK = 0x10,
    TCP_WINDOW = 8192,
};

/** Of a field that is fixed; else 0. */
static uint64_t fixed_value(struct rm_traffic_template const *template, enum rm_traffic_field_name name) {
    struct rm_traffic_field const *const field = &template->field[name];
    return field->change == RM_TRAFFIC_FIXED ? field->start : 0;
}

static void store_mac(uint8_t *bytes, uint64_t mac) {
    rm_store16(bytes, (uint16_t)(mac >> 32));
    rm_store32(bytes + 2, (uint32_t)mac);
}

static void store64(uint8_t *bytes, uint64_t value) {
    rm_store32(bytes, (uint32_t)(value >> 32));
    rm_store32(bytes + 4, (uint32_t)value);
}

static uint8_t transport_number(struct rm_traffic_template const *template) {
    return template->protocol == RM_TRAFFIC_UDP ? NUMBER_UDP : NUMBER_TCP;
}

static void write_ethernet(struct rm_traffic_template const *template, uint8_t *frame) {
    uint8_t *type = frame + 2 * 6;
    store_mac(frame, fixed_value(template, RM_TRAFFIC_DESTINATION_MAC));
    store_mac(frame + 6, fixed_value(template, RM_TRAFFIC_SOURCE_MAC));
    if (template->tagged) {
        uint64_t const priority = fixed_value(template, RM_TRAFFIC_PRIORITY);
        rm_store16(type, TYPE_VLAN);
        rm_store16(type + 2, (uint16_t)(priority << PRIORITY_SHIFT | fixed_value(template, RM_TRAFFIC_VLAN)));
        type += RM_VLAN_BYTES;
    }
    rm_store16(type, template->ipv6 ? TYPE_IPV6 : TYPE_IPV4);
}

static void write_ipv4(struct rm_traffic_template const *template, uint8_t *header) {
    header[0] = VERSION_IPV4;
    header[1] = (uint8_t)fixed_value(template, RM_TRAFFIC_TOS);
    header[IPV4_FLAGS_AT] = DONT_FRAGMENT_HIGH;
    header[IPV4_TTL_AT] = (uint8_t)fixed_value(template, RM_TRAFFIC_TTL);
    header[IPV4_PROTOCOL_AT] = transport_number(template);
    rm_store32(header + IPV4_ADDRESSES_AT, (uint32_t)fixed_value(template, RM_TRAFFIC_SOURCE_ADDRESS));
    rm_store32(header + IPV4_ADDRESSES_AT + 4, (uint32_t)fixed_value(template, RM_TRAFFIC_DESTINATION_ADDRESS));
}

static void write_ipv6(struct rm_traffic_template const *template, uint8_t *header) {
    uint64_t const traffic_class = fixed_value(template, RM_TRAFFIC_TOS);
    header[0] = (uint8_t)(VERSION_IPV6 | traffic_class >> 4);
    header[1] = (uint8_t)(traffic_class << 4);
    header[IPV6_PROTOCOL_AT] = transport_number(template);
    header[IPV6_HOPS_AT] = (uint8_t)fixed_value(template, RM_TRAFFIC_TTL);
    uint8_t *const addresses = header + IPV6_ADDRESSES_AT;
    store64(addresses, template->source_ipv6_high);
    store64(addresses + 8, fixed_value(template, RM_TRAFFIC_SOURCE_ADDRESS));
    store64(addresses + 16, template->destination_ipv6_high);
    store64(addresses + 24, fixed_value(template, RM_TRAFFIC_DESTINATION_ADDRESS));
}

static void write_transport(struct rm_traffic_template const *template, uint8_t *header) {
    rm_store16(header, (uint16_t)fixed_value(template, RM_TRAFFIC_SOURCE_PORT));
    rm_store16(header + 2, (uint16_t)fixed_value(template, RM_TRAFFIC_DESTINATION_PORT));
    if (template->protocol == RM_TRAFFIC_UDP)
        return;
    header[TCP_OFFSET_AT] = TCP_OFFSET;
    header[TCP_OFFSET_AT + 1] = TCP_ACK;
    rm_store16(header + TCP_OFFSET_AT + 2, TCP_WINDOW);
}

void rm_template_frame_payload(struct rm_traffic_template const *template, uint8_t *payload, uint32_t bytes) {
    static char const LETTERS[] = "abcdefghijklmnopqrstuvwxyz";
    bool const text = template->payload == RM_TRAFFIC_PAYLOAD_TEXT;
    char const *const pattern = text ? template->text : LETTERS;
    uint32_t const period = text ? template->text_bytes : sizeof LETTERS - 1;
    for (uint32_t i = 0; i < bytes; ++i)
        payload[i] = template->payload == RM_TRAFFIC_PAYLOAD_ZERO ? 0 : (uint8_t)pattern[i % period];
}

void rm_template_frame_write(struct rm_traffic_template const *template, uint8_t *frame, uint32_t length) {
    struct rm_frame_layout const layout = rm_frame_layout(template);
    memset(frame, 0, layout.payload);
    write_ethernet(template, frame);
    if (template->ipv6)
        write_ipv6(template, frame + layout.ip);
    else
        write_ipv4(template, frame + layout.ip);
    write_transport(template, frame + layout.transport);
    rm_template_frame_payload(template, frame + layout.payload, length - layout.payload);
}

void rm_template_frame_lengths(struct rm_traffic_template const *template, uint8_t *frame, uint32_t length,
                               struct rm_frame_sums *sums) {
    struct rm_frame_layout const layout = rm_frame_layout(template);
    uint16_t const carried = __builtin_bswap16((uint16_t)(length - layout.transport));
    if (template->ipv6) {
        rm_store_memory16(frame + layout.ip + IPV6_LENGTH_AT, carried);
    } else {
        uint16_t const total = __builtin_bswap16((uint16_t)(length - layout.ip));
        rm_store_memory16(frame + layout.ip + IPV4_LENGTH_AT, total);
        sums->ip += total;
    }
    sums->transport += carried; // in the pseudo-header
    if (template->protocol != RM_TRAFFIC_UDP)
        return;
    rm_store_memory16(frame + layout.transport + UDP_LENGTH_AT, carried);
    sums->transport += carried;
}

struct rm_frame_sums rm_template_frame_sums(struct rm_traffic_template const *template, uint8_t const *frame,
                                            uint32_t payload_bytes) {
    struct rm_frame_layout const layout = rm_frame_layout(template);
    uint8_t const *const ip = frame + layout.ip;
    struct rm_frame_sums sums = {0, __builtin_bswap16(transport_number(template))};
    if (template->ipv6) {
        sums.transport = rm_checksum_add_bytes(sums.transport, ip + IPV6_ADDRESSES_AT, 32);
    } else {
        sums.ip = rm_checksum_add_bytes(0, ip, RM_IPV4_BYTES);
        sums.transport = rm_checksum_add_bytes(sums.transport, ip + IPV4_ADDRESSES_AT, 8);
    }
    uint32_t const carried = layout.payload - layout.transport + payload_bytes;
    sums.transport = rm_checksum_add_bytes(sums.transport, frame + layout.transport, carried);
    // Folded, so that words of 32 bits can be added without a look at the carry.
    return (struct rm_frame_sums){rm_checksum_fold(sums.ip), rm_checksum_fold(sums.transport)};
}
