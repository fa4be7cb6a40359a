// SPDX-License-Identifier: Apache-2.0
#include "wire/igmp.h"

#include "wire/internet_checksum.h"
#include "wire/ipv4.h"
#include "wire/network_order.h"

enum {
    IGMP_BYTES = 8, /**< of version 2, and of a report of version 3 before its groups */
    QUERY_V3_BYTES = 12,
    IGMP_CODE = 1,
    IGMP_CHECKSUM = 2,
    IGMP_GROUP = 4,
    IGMP_GROUP_COUNT = 6,
    IGMP_SOURCE_COUNT = 10,
    IGMP_RECORD_BYTES = 8,
    QUERY = 0x11,
    REPORT_V2 = 0x16,
    REPORT_V3 = 0x22,
    MODE_IS_EXCLUDE = 2, /**< wanted from all sources but those named: none */
    CODE_MS = 100,
};

static uint32_t const all_routers = 0xE0000016; /* 224.0.0.22: those that know version 3 */

static bool is_multicast(uint32_t ipv4) { return ipv4 >> 28 == 0xE; }

/** A code of 128 or more is a little floating-point number. */
static uint32_t wait_ms(uint8_t code) {
    uint32_t const tenths = code < 128 ? code : (uint32_t)((code & 0x0F) | 0x10) << ((code >> 4 & 7) + 3);
    return tenths * CODE_MS;
}

bool rm_igmp_find_query(uint8_t const *frame, uint32_t length, struct rm_igmp_query *query) {
    struct rm_ipv4_packet packet;
    if (rm_ipv4_find(frame, length, false, &packet) != RM_PORT_DECODED)
        return false;
    uint8_t const *const igmp = packet.header + packet.header_bytes;
    uint32_t const bytes = packet.total_length - packet.header_bytes;
    if (packet.header[IPV4_PROTOCOL] != PROTOCOL_IGMP || bytes < IGMP_BYTES || igmp[0] != QUERY ||
        rm_load16(packet.header + IPV4_FRAGMENT) & (MORE_FRAGMENTS | FRAGMENT_OFFSET) ||
        !is_multicast(rm_load32(packet.header + IPV4_DESTINATION)) ||
        rm_checksum_fold(rm_checksum_add_bytes(0, igmp, bytes)) != 0xFFFF)
        return false;
    bool const v2 = bytes == IGMP_BYTES && igmp[IGMP_CODE] != 0;
    bool const v3 = bytes >= QUERY_V3_BYTES && bytes >= QUERY_V3_BYTES + 4u * rm_load16(igmp + IGMP_SOURCE_COUNT);
    uint32_t const group = rm_load32(igmp + IGMP_GROUP);
    if ((!v2 && !v3) || (group != 0 && !is_multicast(group)))
        return false;
    *query = (struct rm_igmp_query){
        .group = group,
        .longest_wait_ms = v3 ? wait_ms(igmp[IGMP_CODE]) : igmp[IGMP_CODE] * (uint32_t)CODE_MS,
        .version = v3 ? 3 : 2,
    };
    return true;
}

/** All headers before IGMP's own, for `igmp_bytes` behind them: to the group's MAC address, one hop far, with the
 * option that makes routers look at it. Returns their length. */
static uint32_t write_headers(uint8_t *frame, struct rm_igmp_reporter const *reporter, uint32_t destination,
                              uint32_t igmp_bytes) {
    static uint8_t const router_alert[4] = {0x94, 4, 0, 0};
    uint8_t mac[6] = {0x01, 0x00, 0x5E, destination >> 16 & 0x7F, destination >> 8 & 0xFF, destination & 0xFF};
    uint32_t const header_bytes = RM_IPV4_BYTES + sizeof router_alert;
    uint32_t const ethernet_bytes = rm_ethernet_write(frame, mac, reporter->mac, reporter->vlan, ETHERTYPE_IPV4);
    uint8_t *const ipv4 = frame + ethernet_bytes;
    memset(ipv4, 0, RM_IPV4_BYTES);
    ipv4[0] = (uint8_t)(4 << 4 | header_bytes / 4);
    ipv4[1] = 0xC0; /* internetwork control */
    rm_store16(ipv4 + IPV4_TOTAL_LENGTH, (uint16_t)(header_bytes + igmp_bytes));
    rm_store16(ipv4 + IPV4_FRAGMENT, DONT_FRAGMENT);
    ipv4[IPV4_TTL] = 1;
    ipv4[IPV4_PROTOCOL] = PROTOCOL_IGMP;
    rm_store32(ipv4 + IPV4_SOURCE, reporter->ipv4);
    rm_store32(ipv4 + IPV4_DESTINATION, destination);
    memcpy(ipv4 + RM_IPV4_BYTES, router_alert, sizeof router_alert);
    rm_ipv4_write_checksum(ipv4, header_bytes);
    return ethernet_bytes + header_bytes;
}

static uint32_t pad_igmp_frame(uint8_t *frame, uint32_t length) {
    if (length >= SHORTEST_FRAME)
        return length;
    memset(frame + length, 0, SHORTEST_FRAME - length);
    return SHORTEST_FRAME;
}

uint32_t rm_igmp_write_report_v2(uint8_t frame[RM_IGMP_FRAME_BYTES], struct rm_igmp_reporter const *reporter,
                                 uint32_t group) {
    uint32_t const headers = write_headers(frame, reporter, group, IGMP_BYTES);
    uint8_t *const igmp = frame + headers;
    rm_store16(igmp, REPORT_V2 << 8);
    rm_store32(igmp + IGMP_GROUP, group);
    rm_write_checksum(igmp, IGMP_CHECKSUM, IGMP_BYTES);
    return pad_igmp_frame(frame, headers + IGMP_BYTES);
}

uint32_t rm_igmp_write_report_v3(uint8_t frame[RM_IGMP_FRAME_BYTES], struct rm_igmp_reporter const *reporter,
                                 uint32_t const *group, uint32_t group_count) {
    uint32_t const bytes = IGMP_BYTES + IGMP_RECORD_BYTES * group_count;
    uint32_t const headers = write_headers(frame, reporter, all_routers, bytes);
    uint8_t *const igmp = frame + headers;
    memset(igmp, 0, IGMP_BYTES);
    igmp[0] = REPORT_V3;
    rm_store16(igmp + IGMP_GROUP_COUNT, (uint16_t)group_count);
    for (uint32_t i = 0; i < group_count; ++i) {
        uint8_t *const record = igmp + IGMP_BYTES + IGMP_RECORD_BYTES * i;
        rm_store32(record, (uint32_t)MODE_IS_EXCLUDE << 24);
        rm_store32(record + 4, group[i]);
    }
    rm_write_checksum(igmp, IGMP_CHECKSUM, bytes);
    return pad_igmp_frame(frame, headers + bytes);
}
