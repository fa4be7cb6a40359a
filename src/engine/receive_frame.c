// SPDX-License-Identifier: Apache-2.0
#include "engine/receive_frame.h"

static enum rm_port_counter put_fragment(struct rm_receive *receive, struct rm_receive_queue const *queue,
                                         uint32_t index, uint64_t tsc, struct rm_datagram *datagram, bool *foreign) {
    struct rm_burst const *burst = &receive->burst;
    if (!rm_identity_knows_source(queue->identities, datagram->source_ipv4)) {
        *foreign = true;
        return RM_PORT_FRAGMENT;
    }
    enum rm_port_counter const verdict =
        rm_reassembly_put(queue->reassembly, burst->data[index], burst->length[index], tsc, datagram);
    if (verdict == RM_PORT_DECODED)
        rm_counter_add(queue->counters, RM_PORT_REASSEMBLED, 1);
    return verdict;
}

enum rm_port_counter rm_receive_frame(struct rm_receive *receive, struct rm_receive_queue const *queue, uint32_t index,
                                      uint64_t tsc, struct rm_datagram *datagram,
                                      struct rm_receive_format const **format, bool *foreign) {
    struct rm_burst const *burst = &receive->burst;
    *foreign = false;
    if (queue->framing == RM_FRAMING_UDP) {
        if (burst->length[index] == RM_LENGTH_CUT)
            return RM_PORT_TOO_LONG;
        *datagram = (struct rm_datagram){
            .payload = burst->data[index],
            .length = burst->length[index],
            .source_ipv4 = burst->source_ipv4[index],
        };
        *format = &queue->format[0];
        return RM_PORT_DECODED;
    }
    enum rm_port_counter verdict =
        rm_frame_parse(burst->data[index], burst->length[index], burst->checksum_good[index], datagram);
    if (verdict == RM_PORT_UNFINISHED_CHECKSUM && queue->local_senders)
        verdict = RM_PORT_DECODED;
    bool const whole = verdict == RM_PORT_DECODED;
    if (verdict == RM_PORT_FRAGMENT)
        verdict = put_fragment(receive, queue, index, tsc, datagram, foreign);
    if (verdict != RM_PORT_DECODED) {
        *foreign |= verdict == RM_PORT_NOT_IPV4 || verdict == RM_PORT_NOT_UDP;
        return verdict;
    }
    if (queue->vlan != RM_RECEIVE_ANY_VLAN && datagram->vlan != queue->vlan)
        return RM_PORT_WRONG_VLAN;
    *format = rm_receive_format_of(queue, datagram->destination_port);
    if (*format != NULL)
        return RM_PORT_DECODED;
    *foreign = whole;
    return RM_PORT_NOT_OUR_PORT;
}
