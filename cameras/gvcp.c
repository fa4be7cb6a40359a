// SPDX-License-Identifier: Apache-2.0
#include "gvcp.h"

#include "wire/network_order.h"

enum { KEY = 0x42, FLAG_ACKNOWLEDGE = 0x01, FLAG_EXTENDED_IDS = 0x10, RESEND_BYTES = 12, BLOCK_BYTES = 8 };

bool rm_gvcp_parse(uint8_t const *payload, uint32_t length, struct rm_gvcp_command *command) {
    if (length < RM_GVCP_HEADER_BYTES || payload[0] != KEY || rm_load16(payload + 6) == 0)
        return false;
    uint32_t const bytes = rm_load16(payload + 4);
    if (bytes > length - RM_GVCP_HEADER_BYTES)
        return false;
    *command = (struct rm_gvcp_command){
        .flags = payload[1],
        .wants_acknowledge = payload[1] & FLAG_ACKNOWLEDGE,
        .number = rm_load16(payload + 2),
        .id = rm_load16(payload + 6),
        .bytes = payload + RM_GVCP_HEADER_BYTES,
        .length = bytes,
    };
    return true;
}

bool rm_gvcp_read_resend(struct rm_gvcp_command const *command, struct rm_gvcp_resend *resend) {
    bool const extended = command->flags & FLAG_EXTENDED_IDS;
    if (command->length < RESEND_BYTES + (extended ? BLOCK_BYTES : 0u))
        return false;
    uint32_t const mask = extended ? UINT32_MAX : 0xFFFFFF;
    *resend = (struct rm_gvcp_resend){
        .request = command->id,
        .channel = rm_load16(command->bytes),
        .extended_ids = extended,
        .block = extended ? rm_load64(command->bytes + RESEND_BYTES) : rm_load16(command->bytes + 2),
        .first = rm_load32(command->bytes + 4) & mask,
        .last = rm_load32(command->bytes + 8) & mask,
    };
    return resend->last >= resend->first;
}

uint32_t rm_gvcp_write_acknowledge(uint8_t *payload, enum rm_gvcp_status status, struct rm_gvcp_command const *command,
                                   uint32_t length) {
    rm_store16(payload, (uint16_t)status);
    rm_store16(payload + 2, (uint16_t)(command->number + 1));
    rm_store16(payload + 4, (uint16_t)length);
    rm_store16(payload + 6, command->id);
    return RM_GVCP_HEADER_BYTES;
}
