// SPDX-License-Identifier: Apache-2.0
#include "wire/native.h"

#include <string.h>

#include <ringmaster/stream.h>

/** The first 16 bytes of a datagram as they stand on the wire. */
struct native_header {
    uint16_t magic;
    uint8_t version;
    uint8_t kind;
    uint16_t instrument;
    uint16_t status;
    rm_turn turn;
};

_Static_assert(sizeof(struct native_header) == RM_NATIVE_HEADER_BYTES, "no padding between the header's fields");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the fabric and the native format are little-endian");

enum rm_port_counter rm_native_parse(uint8_t const *payload, uint32_t length, struct rm_native *native) {
    if (length < RM_NATIVE_SHORTEST)
        return RM_PORT_TOO_SHORT;
    if (length > RM_NATIVE_LONGEST)
        return RM_PORT_TOO_LONG;
    if (length % 4)
        return RM_PORT_BAD_LENGTH;
    struct native_header header;
    memcpy(&header, payload, sizeof header);
    if (header.magic != RM_NATIVE_MAGIC)
        return RM_PORT_BAD_MAGIC;
    if (header.version != RM_NATIVE_VERSION)
        return RM_PORT_UNKNOWN_VERSION;
    if (header.kind < RM_KIND_BPM || header.kind > RM_KIND_POWER_SUPPLY)
        return RM_PORT_UNKNOWN_KIND;
    *native = (struct rm_native){
        .kind = header.kind,
        .instrument = header.instrument,
        .status = header.status,
        .turn = header.turn,
        .lane_count = (length - RM_NATIVE_HEADER_BYTES) / 4,
        .lanes = payload + RM_NATIVE_HEADER_BYTES,
    };
    return RM_PORT_DECODED;
}

void rm_native_record(struct rm_native const *native, rm_turn turn, uint64_t tag, struct rm_record *record) {
    *record = (struct rm_record){.turn = turn, .tag = tag};
    memcpy(record->lane, native->lanes, native->lane_count * sizeof record->lane[0]);
}

uint32_t rm_native_write(uint8_t *payload, uint8_t kind, uint16_t instrument, uint16_t status, rm_turn turn,
                         union rm_lane const *lanes, uint32_t lane_count) {
    if (lane_count < 1 || lane_count > RM_LANES)
        return 0;
    struct native_header const header = {
        .magic = RM_NATIVE_MAGIC,
        .version = RM_NATIVE_VERSION,
        .kind = kind,
        .instrument = instrument,
        .status = status,
        .turn = turn,
    };
    memcpy(payload, &header, sizeof header);
    memcpy(payload + sizeof header, lanes, lane_count * sizeof lanes[0]);
    return (uint32_t)(sizeof header + lane_count * sizeof lanes[0]);
}
