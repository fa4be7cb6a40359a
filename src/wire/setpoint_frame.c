// SPDX-License-Identifier: Apache-2.0
#include "wire/setpoint_frame.h"

#include <string.h>

#include "wire/internet_checksum.h"
#include "wire/ipv4.h"

enum { FLAGS_SHIFT = 24, TURN = 8, INSTANCE_SHIFT = 32 /**< in the word of term and instance */ };

/** Both halves of a word. The sum of RFC 1071 may be taken over pieces of any even size and folded at the end; pieces
 * of 32 bits in a sum of 64 never overflow it, so nothing has to look after carries. */
static inline uint64_t sum_of_halves(uint64_t word) { return (word & UINT32_MAX) + (word >> 32); }

bool rm_setpoint_frame_prepare(struct rm_setpoint_frame *frame, struct rm_flow const *flow, uint16_t chain,
                               uint32_t count) {
    uint8_t payload[RM_SETPOINT_LONGEST];
    uint32_t const length = rm_setpoint_write(payload, 0, chain, 0, 0, 0, 0, NULL, count);
    if (length == 0)
        return false;
    *frame = (struct rm_setpoint_frame){.count = count};
    frame->payload_offset = rm_frame_write_header(frame->bytes, flow, length);
    frame->word = rm_load_memory64(payload);
    uint8_t const *const udp = frame->bytes + frame->payload_offset - RM_UDP_BYTES;
    uint8_t const *const addresses = udp - RM_IPV4_BYTES + IPV4_SOURCE;
    uint64_t const protocol = __builtin_bswap16(PROTOCOL_UDP);
    frame->constant_sum = sum_of_halves(rm_load_memory64(addresses)) + protocol + rm_load_memory16(udp + UDP_LENGTH) +
                          sum_of_halves(rm_load_memory64(udp)) + sum_of_halves(frame->word);
    return true;
}

/** Copies the values and adds them up, in one pass. */
static inline uint64_t copy_values(uint8_t *to, float const *values, uint32_t count) {
    uint64_t low = 0, high = 0;
    uint32_t i = 0;
    for (; i + 2 <= count; i += 2) {
        uint64_t pair;
        memcpy(&pair, values + i, sizeof pair);
        memcpy(to + (size_t)4 * i, &pair, sizeof pair);
        low += pair & UINT32_MAX;
        high += pair >> 32;
    }
    if (i < count) {
        uint32_t last;
        memcpy(&last, values + i, sizeof last);
        memcpy(to + (size_t)4 * i, &last, sizeof last);
        low += last;
    }
    return low + high;
}

uint32_t rm_setpoint_frame_fill(struct rm_setpoint_frame const *frame, uint8_t *buffer, uint8_t flags, rm_turn turn,
                                uint16_t term, uint32_t instance, uint64_t sequence, float const *values) {
    uint8_t *const payload = buffer + frame->payload_offset;
    uint64_t const word = frame->word | (uint64_t)flags << FLAGS_SHIFT;
    uint64_t const sender = term | (uint64_t)instance << INSTANCE_SHIFT;
    uint64_t const members[3] = {turn, sender, sequence};
    memcpy(buffer, frame->bytes, sizeof frame->bytes);
    memcpy(payload, &word, sizeof word);
    memcpy(payload + TURN, members, sizeof members);
    uint64_t sum = frame->constant_sum + ((uint64_t)flags << FLAGS_SHIFT) + sum_of_halves(turn) +
                   sum_of_halves(sender) + sum_of_halves(sequence);
    if (values != NULL)
        sum += copy_values(payload + RM_SETPOINT_HEADER_BYTES, values, frame->count);
    else
        memset(payload + RM_SETPOINT_HEADER_BYTES, 0, (size_t)4 * frame->count);
    uint16_t const checksum = (uint16_t)~rm_checksum_fold(sum);
    rm_store_memory16(payload - RM_UDP_BYTES + UDP_CHECKSUM, checksum ? checksum : 0xFFFF);
    return frame->payload_offset + RM_SETPOINT_HEADER_BYTES + 4 * frame->count;
}
