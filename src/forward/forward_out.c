// SPDX-License-Identifier: Apache-2.0
#include "forward/forward_parts.h"

#include <string.h>

static void forward_flush_port(struct forward_work *work, uint32_t port) {
    struct rm_burst *const out = &work->forward->scratch->out[port];
    if (out->count != 0)
        work->forward->send(work->forward->send_context, port, out);
    out->count = 0;
}

void forward_flush(struct forward_work *work) {
    for (uint32_t port = 0; port < work->forward->port_count; ++port)
        forward_flush_port(work, port);
    work->forward->scratch->frames_used = 0;
}

uint8_t *forward_make_frame(struct forward_work *work) {
    struct rm_forward_scratch *const scratch = work->forward->scratch;
    if (scratch->frames_used == FORWARD_MADE_FRAMES)
        forward_flush(work);
    return scratch->frames + (size_t)scratch->frames_used++ * scratch->frame_bytes;
}

void forward_leave(struct forward_work *work, uint32_t port, uint8_t *data, uint32_t length) {
    struct rm_burst *const out = &work->forward->scratch->out[port];
    out->data[out->count] = data;
    out->length[out->count] = length;
    if (++out->count == RM_BURST)
        forward_flush_port(work, port);
}

uint8_t *forward_write_ethernet(uint8_t *ip, struct rm_next_hop const *hop, uint64_t destination, uint16_t ethertype) {
    uint8_t *const frame = ip - RM_ETHERNET_BYTES - (hop->vlan != 0 ? RM_VLAN_BYTES : 0);
    memcpy(frame, &destination, 6);
    memcpy(frame + ETHERNET_SOURCE, hop->source_mac, 6);
    if (hop->vlan != 0) {
        rm_store16(frame + ETHERNET_TYPE, ETHERTYPE_VLAN);
        rm_store16(frame + ETHERNET_TYPE + 2, hop->vlan);
    }
    rm_store16(ip - 2, ethertype);
    return frame;
}

void forward_leave_by(struct forward_work *work, struct forward_frame *frame, struct rm_next_hop const *hop,
                      uint64_t destination) {
    uint32_t const ethernet_bytes = RM_ETHERNET_BYTES + (hop->vlan != 0 ? RM_VLAN_BYTES : 0);
    uint16_t const ethertype = rm_load16(frame->ip - 2);
    uint8_t *ip = frame->ip;
    uint32_t present = frame->length - frame->ethernet_bytes;
    if (__builtin_expect(ethernet_bytes > frame->ethernet_bytes, 0)) { // nothing promises room in front of a frame
        ip = forward_make_frame(work) + ethernet_bytes;
        present = frame->packet_bytes;
        memcpy(ip, frame->ip, present);
    }
    uint8_t *const leaving = forward_write_ethernet(ip, hop, destination, ethertype);
    uint32_t const length = rm_answer_length(ethernet_bytes + frame->packet_bytes, ethernet_bytes + present);
    forward_leave(work, hop->port, leaving, length);
    ++work->count[RM_FORWARD_FORWARDED];
}

void forward_hand_off(struct forward_work *work, struct forward_frame const *frame, enum rm_handoff_reason reason,
                      uint32_t hop) {
    struct rm_handoff_packet const packet = {.reason = (uint8_t)reason,
                                             .port = (uint16_t)work->port,
                                             .interface = frame->interface,
                                             .length = frame->length,
                                             .hop = hop,
                                             .frame = frame->data};
    bool const taken = work->forward->handoff != NULL && rm_handoff_put(work->forward->handoff, &packet);
    ++work->count[!taken                            ? RM_FORWARD_HANDOFF_FULL
                  : reason == RM_HANDOFF_UNRESOLVED ? RM_FORWARD_WAITING
                                                    : RM_FORWARD_TO_KERNEL];
}

void forward_unresolved(struct forward_work *work, struct forward_frame const *frame, uint32_t hop,
                        enum rm_hop_state state) {
    switch (state) {
    case RM_HOP_STATE_LOCAL:
        forward_hand_off(work, frame, RM_HANDOFF_LOCAL, hop);
        return;
    case RM_HOP_STATE_UNRESOLVED:
        forward_hand_off(work, frame, RM_HANDOFF_UNRESOLVED, hop);
        return;
    case RM_HOP_STATE_BLACKHOLE:
        ++work->count[RM_FORWARD_BY_RULE];
        return;
    case RM_HOP_STATE_PROHIBITED:
        ++work->count[RM_FORWARD_BY_RULE];
        forward_send_error(work, frame, FORWARD_ERROR_PROHIBITED, 0);
        return;
    case RM_HOP_STATE_UNREACHABLE:
        ++work->count[RM_FORWARD_NO_NEIGHBOUR];
        forward_send_error(work, frame, FORWARD_ERROR_NO_HOST, 0);
        return;
    case RM_HOP_STATE_NO_ROUTE:
    default:
        ++work->count[RM_FORWARD_NO_ROUTE];
        forward_send_error(work, frame, FORWARD_ERROR_NO_ROUTE, 0);
    }
}
