// SPDX-License-Identifier: Apache-2.0
#include "conformance_numbered.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

enum {
    HEADER_BYTES = 14,
    ETHERTYPE = 0x88B5, /**< for local experiments: the kernel leaves it alone */
    SHORTEST_FRAME = 60,
    LONGEST_PAYLOAD = 1472, /**< in one unfragmented UDP datagram */
    AHEAD = 1000,
};

static uint32_t length_of(struct rm_port const *port, struct numbered const *numbered) {
    if (numbered->fixed != 0)
        return numbered->fixed;
    uint32_t const shortest = rm_port_framing(port) == RM_FRAMING_ETHERNET ? SHORTEST_FRAME : sizeof numbered->next;
    uint32_t const longest = rm_port_framing(port) == RM_FRAMING_ETHERNET ? RM_SEND_BYTES : LONGEST_PAYLOAD;
    return shortest + (uint32_t)(numbered->next * 7919 % (longest - shortest + 1));
}

/** Writes datagram number `next` and returns its length. */
static uint32_t make(struct rm_port const *port, struct numbered const *numbered, uint8_t *data) {
    uint32_t const length = length_of(port, numbered);
    memset(data, (int)(numbered->next * 31), length);
    uint32_t offset = 0;
    if (rm_port_framing(port) == RM_FRAMING_ETHERNET) {
        uint8_t const header[HEADER_BYTES] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, ETHERTYPE >> 8, ETHERTYPE & 0xFF};
        memcpy(data, header, sizeof header);
        offset = sizeof header;
    }
    memcpy(data + offset, &numbered->next, sizeof numbered->next);
    return length;
}

void numbered_fill(struct rm_port *port, struct numbered *numbered, struct rm_burst *burst) {
    for (uint32_t i = 0; i < burst->count; ++i, ++numbered->next)
        burst->length[i] = make(port, numbered, burst->data[i]);
}

static uint64_t number_in(struct rm_port const *port, uint8_t const *data) {
    uint64_t number;
    memcpy(&number, data + (rm_port_framing(port) == RM_FRAMING_ETHERNET ? HEADER_BYTES : 0), sizeof number);
    return number;
}

void numbered_check(struct rm_port *port, struct numbered *numbered, struct rm_burst const *burst) {
    expect(burst->count <= RM_BURST, "at most RM_BURST datagrams in a burst");
    for (uint32_t i = 0; i < burst->count; ++i, ++numbered->next) {
        uint8_t wanted[2048];
        uint64_t const number = number_in(port, burst->data[i]);
        if (number == 0 || numbered->any)
            numbered->next = number;
        numbered->any = false;
        uint32_t const length = make(port, numbered, wanted);
        if (burst->length[i] != length || memcmp(burst->data[i], wanted, length) != 0) {
            char text[96];
            snprintf(text, sizeof text, "datagram %lu of %u bytes as it was sent, not %u others", numbered->next,
                     length, burst->length[i]);
            expect(false, text);
        }
        if (rm_port_framing(port) == RM_FRAMING_UDP)
            expect(burst->source_ipv4[i] == 0x0A630002, "the sender's address, 10.99.0.2");
    }
}

void numbered_send(struct ends *ends, struct rm_port *port, uint16_t queue, struct numbered *numbered, uint64_t count) {
    struct rm_burst burst = {0};
    uint64_t const last = numbered->next + count;
    while (numbered->next < last) {
        while (ends->kind != RM_PORT_MEMIF && numbered->next > atomic_load(&ends->shared->received) + AHEAD)
            sched_yield();
        uint64_t const rest = last - numbered->next;
        rm_port_reserve(port, queue, &burst, rest < RM_BURST ? (uint32_t)rest : RM_BURST);
        expect(burst.count != 0, "buffers to send from");
        numbered_fill(port, numbered, &burst);
        while (burst.count != 0)
            if (rm_port_send(port, queue, &burst) == 0)
                sched_yield();
        atomic_store(&ends->shared->sent, numbered->next);
    }
}

void numbered_receive(struct ends *ends, struct rm_port *port, uint16_t queue, struct numbered *numbered,
                      uint64_t count) {
    struct rm_burst burst = {0};
    uint64_t const last = numbered->next + count;
    while (numbered->next < last) {
        if (rm_port_receive(port, queue, &burst) == 0)
            sched_yield();
        numbered_check(port, numbered, &burst);
        rm_port_release(port, queue, &burst);
        atomic_store(&ends->shared->received, numbered->next);
    }
}
