// SPDX-License-Identifier: Apache-2.0
#include "wire/setpoint.h"

#include <stdbool.h>
#include <string.h>

/** The first 32 bytes of a datagram as they stand on the wire. */
struct setpoint_header {
    uint16_t magic;
    uint8_t version;
    uint8_t flags;
    uint16_t chain;
    uint16_t count;
    rm_turn turn;
    uint16_t term;
    uint16_t zero;
    uint32_t instance;
    uint64_t sequence;
};

_Static_assert(sizeof(struct setpoint_header) == RM_SETPOINT_HEADER_BYTES, "no padding between the header's fields");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the setpoint format is little-endian");

enum rm_setpoint_fault rm_setpoint_parse(uint8_t const *payload, uint32_t length,
                                         struct rm_setpoint_datagram *datagram) {
    if (length < RM_SETPOINT_SHORTEST)
        return RM_SETPOINT_TOO_SHORT;
    struct setpoint_header header;
    memcpy(&header, payload, sizeof header);
    if (header.magic != RM_SETPOINT_MAGIC)
        return RM_SETPOINT_BAD_MAGIC;
    if (header.version != RM_SETPOINT_VERSION)
        return RM_SETPOINT_UNKNOWN_VERSION;
    if (header.flags & ~RM_SETPOINT_QUERY)
        return RM_SETPOINT_UNKNOWN_FLAGS;
    if (header.count < 1 || header.count > RM_CHAIN_SUPPLIES_MAX)
        return RM_SETPOINT_BAD_COUNT;
    if (length != RM_SETPOINT_HEADER_BYTES + 4u * header.count)
        return RM_SETPOINT_BAD_LENGTH;
    bool const commands = (header.flags & RM_SETPOINT_QUERY) == 0;
    if (header.zero != 0 || header.instance == 0 || (commands && header.term == 0))
        return RM_SETPOINT_BAD_SENDER;
    *datagram = (struct rm_setpoint_datagram){
        .flags = header.flags,
        .chain = header.chain,
        .count = header.count,
        .turn = header.turn,
        .term = header.term,
        .instance = header.instance,
        .sequence = header.sequence,
        .values = payload + RM_SETPOINT_HEADER_BYTES,
    };
    return RM_SETPOINT_GOOD;
}

float rm_setpoint_value(struct rm_setpoint_datagram const *datagram, uint32_t i) {
    float value;
    memcpy(&value, datagram->values + (size_t)4 * i, sizeof value);
    return value;
}

uint32_t rm_setpoint_write(uint8_t *payload, uint8_t flags, uint16_t chain, rm_turn turn, uint16_t term,
                           uint32_t instance, uint64_t sequence, float const *values, uint32_t count) {
    if (count < 1 || count > RM_CHAIN_SUPPLIES_MAX)
        return 0;
    struct setpoint_header const header = {
        .magic = RM_SETPOINT_MAGIC,
        .version = RM_SETPOINT_VERSION,
        .flags = flags,
        .chain = chain,
        .count = (uint16_t)count,
        .turn = turn,
        .term = term,
        .instance = instance,
        .sequence = sequence,
    };
    memcpy(payload, &header, sizeof header);
    if (values != NULL)
        memcpy(payload + sizeof header, values, count * sizeof values[0]);
    else
        memset(payload + sizeof header, 0, count * sizeof values[0]);
    return (uint32_t)(sizeof header + count * sizeof values[0]);
}
