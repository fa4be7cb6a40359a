// SPDX-License-Identifier: Apache-2.0
/* Fragments of an IPv4 packet, which may be a fragment itself and may have options (RFC 791, section 3.2). */
#include "forward/forward_parts.h"

#include <string.h>

enum {
    OPTION_END = 0,
    OPTION_NOTHING = 1,
    OPTION_COPIED = 0x80, /**< it stands in every fragment */
    UNIT_BYTES = 8,
    HEADER_BYTES_MAX = 60,
};

/** The header of all fragments but the first: only options that say so are copied. Returns its length. */
static uint32_t write_later_header(uint8_t *later, uint8_t const *ip, uint32_t header_bytes) {
    uint32_t bytes = RM_IPV4_BYTES;
    memcpy(later, ip, RM_IPV4_BYTES);
    for (uint32_t at = RM_IPV4_BYTES; at < header_bytes && ip[at] != OPTION_END;) {
        uint32_t const length = ip[at] == OPTION_NOTHING || at + 1 == header_bytes ? 1 : ip[at + 1];
        if (length == 0 || (length == 1 && ip[at] != OPTION_NOTHING) || at + length > header_bytes)
            break; // it is broken: what stands before it goes on
        if (ip[at] & OPTION_COPIED) {
            memcpy(later + bytes, ip + at, length);
            bytes += length;
        }
        at += length;
    }
    while (bytes % 4 != 0)
        later[bytes++] = OPTION_END;
    later[0] = (uint8_t)(0x40 | bytes / 4);
    return bytes;
}

/** One of them: of a packet's content the bytes from `at` on. */
struct forward_piece {
    uint8_t const *header;
    uint32_t header_bytes;
    uint32_t at;
    uint32_t bytes;
    bool more;
};

static void write_piece(uint8_t *ip, struct forward_piece const *piece, uint8_t const *content, uint16_t whole_field) {
    uint32_t const offset = (whole_field & FRAGMENT_OFFSET) + piece->at / UNIT_BYTES;
    bool const more = piece->more || (whole_field & MORE_FRAGMENTS) != 0;
    memcpy(ip, piece->header, piece->header_bytes);
    memcpy(ip + piece->header_bytes, content + piece->at, piece->bytes);
    rm_store16(ip + IPV4_TOTAL_LENGTH, (uint16_t)(piece->header_bytes + piece->bytes));
    rm_store16(ip + IPV4_FRAGMENT, (uint16_t)(offset | (more ? MORE_FRAGMENTS : 0)));
    rm_ipv4_write_checksum(ip, piece->header_bytes);
}

void forward_cut(struct forward_work *work, struct forward_frame const *frame, struct rm_next_hop const *hop,
                 uint64_t destination, uint32_t mtu) {
    uint8_t later[HEADER_BYTES_MAX];
    uint32_t const header_bytes = (frame->ip[0] & 0x0Fu) * 4;
    uint32_t const later_bytes = write_later_header(later, frame->ip, header_bytes);
    uint32_t const content_bytes = frame->packet_bytes - header_bytes;
    uint32_t const ethernet_bytes = RM_ETHERNET_BYTES + (hop->vlan != 0 ? RM_VLAN_BYTES : 0);
    struct forward_piece piece = {.header = frame->ip, .header_bytes = header_bytes};
    while (piece.at < content_bytes) {
        uint32_t const room = (mtu - piece.header_bytes) / UNIT_BYTES * UNIT_BYTES;
        piece.more = content_bytes - piece.at > room;
        piece.bytes = piece.more ? room : content_bytes - piece.at;
        uint8_t *const ip = forward_make_frame(work) + ethernet_bytes;
        write_piece(ip, &piece, frame->ip + header_bytes, rm_load16(frame->ip + IPV4_FRAGMENT));
        uint8_t *const made = forward_write_ethernet(ip, hop, destination, ETHERTYPE_IPV4);
        forward_leave(work, hop->port, made, ethernet_bytes + piece.header_bytes + piece.bytes);
        piece.at += piece.bytes;
        piece.header = later;
        piece.header_bytes = later_bytes;
    }
    ++work->count[RM_FORWARD_FORWARDED];
    ++work->count[RM_FORWARD_CUT];
}
