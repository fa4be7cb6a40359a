// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a setpoint datagram. Aborts when what parses does not come back the same from the
 * writer, or when a frame from a template (setpoint_frame.h) is not that from its parts, or does not parse. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "wire/setpoint_frame.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void require(bool held) {
    if (!held)
        abort();
}

/** Values as they are on the wire, whatever their bits. */
static void read_values(struct rm_setpoint_datagram const *datagram, float values[RM_CHAIN_SUPPLIES_MAX]) {
    for (uint32_t i = 0; i < datagram->count; ++i)
        values[i] = rm_setpoint_value(datagram, i);
    require(memcmp(values, datagram->values, 4u * datagram->count) == 0);
}

static void check_frame(struct rm_setpoint_datagram const *datagram, float const *values, uint8_t const *payload,
                        uint32_t length) {
    /* Addresses, ports and the tag are of the input too. */
    struct rm_flow const flow = {
        .source_ipv4 = datagram->instance,
        .destination_ipv4 = (uint32_t)datagram->turn,
        .source_port = (uint16_t)datagram->sequence,
        .destination_port = datagram->chain,
        .vlan = datagram->count % 2 ? 0 : 100,
    };
    uint8_t whole[RM_SETPOINT_FRAME_LONGEST], parts[RM_SETPOINT_FRAME_LONGEST];
    struct rm_setpoint_frame frame;
    require(rm_setpoint_frame_prepare(&frame, &flow, datagram->chain, datagram->count));
    uint32_t const whole_length = rm_setpoint_frame_fill(&frame, whole, datagram->flags, datagram->turn, datagram->term,
                                                         datagram->instance, datagram->sequence, values);
    uint32_t const header = rm_frame_write_header(parts, &flow, length);
    memcpy(parts + header, payload, length);
    rm_frame_write_udp_checksum(parts, length);
    require(whole_length == header + length && memcmp(whole, parts, whole_length) == 0);
    struct rm_datagram found;
    require(rm_frame_parse(whole, whole_length, false, &found) == RM_PORT_DECODED);
    require(found.length == length && memcmp(found.payload, payload, length) == 0);
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct rm_setpoint_datagram datagram;
    uint32_t const length = (uint32_t)size;
    enum rm_setpoint_fault const fault = rm_setpoint_parse(data, length, &datagram);
    if (fault != RM_SETPOINT_GOOD) {
        require(fault >= RM_SETPOINT_TOO_SHORT && fault <= RM_SETPOINT_BAD_SENDER);
        return 0;
    }
    require(datagram.count >= 1 && datagram.count <= RM_CHAIN_SUPPLIES_MAX);
    require(datagram.values + 4u * datagram.count == data + size);
    float values[RM_CHAIN_SUPPLIES_MAX];
    read_values(&datagram, values);
    uint8_t again[RM_SETPOINT_LONGEST];
    uint32_t const written = rm_setpoint_write(again, datagram.flags, datagram.chain, datagram.turn, datagram.term,
                                               datagram.instance, datagram.sequence, values, datagram.count);
    require(written == length && memcmp(again, data, length) == 0);
    check_frame(&datagram, values, data, length);
    return 0;
}
