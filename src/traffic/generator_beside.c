// SPDX-License-Identifier: Apache-2.0
/* The polling core's part of generator_beside.h. */
#include "traffic/generator_beside.h"

#include <string.h>

#include "traffic/generator_identity.h"

void rm_generator_answer_for(struct rm_generator_port *port, struct rm_traffic const *traffic) {
    struct rm_arp_ping_identity we;
    bool const answers = traffic != NULL && traffic->answers && rm_generator_identity(traffic, &we);
    rm_arp_ping_answer_for(&port->arp_ping, answers ? &we : NULL);
}

/** Sends one frame beside the traffic; false where the link is full. */
static bool send_beside(struct rm_generator_port *port, uint8_t const *frame, uint32_t length, uint64_t tsc) {
    struct rm_traffic_sender const *const sender = &port->sender;
    struct rm_burst out = {.count = 0};
    if (sender->out.count != 0 || rm_port_reserve(sender->port, sender->queue, &out, 1) == 0)
        return false;
    memcpy(out.data[0], frame, length);
    out.length[0] = length;
    bool const sent = rm_port_send(sender->port, sender->queue, &out) == 1;
    rm_port_release(sender->port, sender->queue, &out);
    if (!sent)
        return false;
    rm_counter_add(sender->counters, RM_GENERATOR_SENT, 1);
    rm_counter_add(sender->counters, RM_GENERATOR_SENT_BYTES, length);
    if (sender->capture != NULL && !rm_capture_ring_put(sender->capture, frame, length, tsc))
        rm_counter_add(sender->counters, RM_GENERATOR_CAPTURE_LOST, 1);
    return true;
}

static void capture_received(struct rm_generator_port *port, struct rm_burst const *burst, uint64_t tsc) {
    struct rm_capture_ring *const ring = port->sender.capture;
    struct rm_capture_mark mark = rm_capture_ring_mark(ring);
    uint64_t const full = mark.full;
    for (uint32_t i = 0; i < burst->count; ++i)
        rm_capture_ring_stage(ring, &mark, burst->data[i], burst->length[i], tsc);
    rm_capture_ring_publish(ring, &mark);
    rm_counter_add(port->plan.counters, RM_GENERATOR_CAPTURE_LOST, mark.full - full);
}

void rm_generator_hear(struct rm_generator_port *port, struct rm_burst const *burst, uint64_t tsc) {
    if (port->sender.capture != NULL)
        capture_received(port, burst, tsc);
    if (!rm_arp_ping_listens(&port->arp_ping))
        return;
    for (uint32_t i = 0; i < burst->count; ++i) {
        uint8_t answer[RM_SEND_BYTES];
        if (!rm_arp_ping_concerns(burst->data[i], burst->length[i]))
            continue;
        uint32_t const length = rm_arp_ping_take(&port->arp_ping, burst->data[i], burst->length[i], tsc, answer);
        if (length != 0 && send_beside(port, answer, length, tsc))
            rm_counter_add(port->plan.counters, RM_GENERATOR_ANSWERED, 1);
    }
}

uint32_t rm_generator_ask_due(struct rm_generator_port *port, uint64_t tsc) {
    uint8_t frame[RM_SEND_BYTES];
    if (!rm_arp_ping_is_due(&port->arp_ping, tsc))
        return 0;
    uint32_t const length = rm_arp_ping_write(&port->arp_ping, tsc, frame);
    if (length == 0 || !send_beside(port, frame, length, tsc))
        return 0;
    rm_arp_ping_sent(&port->arp_ping, tsc);
    return 1;
}
