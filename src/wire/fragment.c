// SPDX-License-Identifier: Apache-2.0
#include "wire/fragment.h"

#include "wire/ipv4.h"
#include "wire/network_order.h"
#include "wire/unit_map.h"

/** Bytes of a fragment but the last; below the 65536 that an offset can tell. */
static uint32_t piece_bytes(uint32_t mtu) { return (mtu - RM_IPV4_BYTES) / RM_UNIT_BYTES * RM_UNIT_BYTES; }

/** Of the Ethernet and the IPv4 header. */
static uint32_t header_bytes(uint8_t const *whole, uint32_t length) {
    return rm_ethernet_find(whole, length).bytes + RM_IPV4_BYTES;
}

uint32_t rm_fragment_count(uint8_t const *whole, uint32_t length, uint32_t mtu) {
    uint32_t const content = length - header_bytes(whole, length);
    if (content + RM_IPV4_BYTES <= mtu)
        return 1;
    return (content + piece_bytes(mtu) - 1) / piece_bytes(mtu);
}

uint32_t rm_fragment_write(uint8_t const *whole, uint32_t length, uint32_t mtu, uint16_t identification, uint32_t index,
                           uint8_t *frame) {
    uint32_t const count = rm_fragment_count(whole, length, mtu);
    if (count == 1) {
        memcpy(frame, whole, length);
        return length;
    }
    uint32_t const header = header_bytes(whole, length);
    uint32_t const first = index * piece_bytes(mtu);
    bool const last = index + 1 == count;
    uint32_t const bytes = last ? length - header - first : piece_bytes(mtu);
    memcpy(frame, whole, header);
    memcpy(frame + header, whole + header + first, bytes);

    uint8_t *const ipv4 = frame + header - RM_IPV4_BYTES;
    rm_store16(ipv4 + IPV4_TOTAL_LENGTH, (uint16_t)(RM_IPV4_BYTES + bytes));
    rm_store16(ipv4 + IPV4_IDENTIFICATION, identification);
    rm_store16(ipv4 + IPV4_FRAGMENT, (uint16_t)((last ? 0 : MORE_FRAGMENTS) | first / RM_UNIT_BYTES));
    rm_ipv4_write_checksum(ipv4, RM_IPV4_BYTES);
    return header + bytes;
}
