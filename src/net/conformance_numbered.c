// SPDX-License-Identifier: Apache-2.0
#include "conformance_numbered.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ETHERNET_BYTES = 14,
    UDP_BYTES = 42, /**< with Ethernet and IPv4 before it */
    SHORTEST_FRAME = 60,
    LONGEST_PAYLOAD = 1472, /**< in one unfragmented UDP datagram */
    AHEAD = 1000,
};

static uint32_t length_of(struct rm_port const *port, struct numbered const *numbered) {
    if (numbered->fixed != 0)
        return numbered->fixed;
    uint32_t const shortest = rm_port_framing(port) == RM_FRAMING_ETHERNET ? SHORTEST_FRAME : sizeof numbered->next;
    uint32_t const usual = rm_port_framing(port) == RM_FRAMING_ETHERNET ? RM_SEND_BYTES : LONGEST_PAYLOAD;
    uint32_t const longest = numbered->longest == 0 ? usual : numbered->longest;
    return shortest + (uint32_t)(numbered->next * 7919 % (longest - shortest + 1));
}

/** Of an ethertype for local experiments (0x88B5), which the kernel leaves alone; ETHERNET_BYTES of it. */
static uint8_t const plain_header[UDP_BYTES] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xB5};

/** Of UDP from 10.99.0.2 to 10.99.0.1, port CLAIMED_PORT. */
static uint8_t const udp_header[UDP_BYTES] = {2,
                                              0,
                                              0,
                                              0,
                                              0,
                                              1,
                                              2,
                                              0,
                                              0,
                                              0,
                                              0,
                                              2,
                                              8,
                                              0,
                                              0x45,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              64,
                                              17,
                                              0,
                                              0,
                                              10,
                                              99,
                                              0,
                                              2,
                                              10,
                                              99,
                                              0,
                                              1,
                                              0x12,
                                              0x35,
                                              CLAIMED_PORT >> 8,
                                              CLAIMED_PORT & 0xFF,
                                              0,
                                              0,
                                              0,
                                              0};

static uint32_t header_bytes(struct endpoints const *endpoints, struct rm_port const *port) {
    if (rm_port_framing(port) == RM_FRAMING_UDP)
        return 0;
    return endpoints->claimed ? UDP_BYTES : ETHERNET_BYTES;
}

/** Writes datagram number `next` and returns its length. */
static uint32_t make_numbered_frame(struct endpoints const *endpoints, struct rm_port const *port,
                                    struct numbered const *numbered, uint8_t *data) {
    uint32_t const length = length_of(port, numbered);
    uint32_t const header = header_bytes(endpoints, port);
    memset(data, (int)(numbered->next * 31), length);
    memcpy(data, endpoints->claimed ? udp_header : plain_header, header);
    if (header == UDP_BYTES) { // the length of the IPv4 packet
        data[16] = (uint8_t)((length - ETHERNET_BYTES) >> 8);
        data[17] = (uint8_t)(length - ETHERNET_BYTES);
    }
    memcpy(data + header, &numbered->next, sizeof numbered->next);
    return length;
}

void numbered_fill(struct endpoints const *endpoints, struct rm_port *port, struct numbered *numbered,
                   struct rm_burst *burst) {
    for (uint32_t i = 0; i < burst->count; ++i, ++numbered->next)
        burst->length[i] = make_numbered_frame(endpoints, port, numbered, burst->data[i]);
}

static uint64_t number_in(struct endpoints const *endpoints, struct rm_port const *port, uint8_t const *data) {
    uint64_t number;
    memcpy(&number, data + header_bytes(endpoints, port), sizeof number);
    return number;
}

void numbered_check(struct endpoints const *endpoints, struct rm_port *port, struct numbered *numbered,
                    struct rm_burst const *burst) {
    expect(burst->count <= RM_BURST, "at most RM_BURST datagrams in a burst");
    for (uint32_t i = 0; i < burst->count; ++i, ++numbered->next) {
        uint8_t wanted[RM_LONGEST_FRAME_MAX];
        uint64_t const number = number_in(endpoints, port, burst->data[i]);
        if (number == 0 || numbered->any || (numbered->lossy && number > numbered->next))
            numbered->next = number;
        numbered->any = false;
        uint32_t const length = make_numbered_frame(endpoints, port, numbered, wanted);
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

/** Sends a burst's datagrams from memory that ends where they end. */
static void send_from_elsewhere(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    struct rm_burst elsewhere = {.count = burst->count};
    for (uint32_t i = 0; i < burst->count; ++i) {
        elsewhere.length[i] = burst->length[i];
        elsewhere.data[i] = malloc(burst->length[i]);
        memcpy(elsewhere.data[i], burst->data[i], burst->length[i]);
    }
    rm_port_release(port, queue, burst);
    for (uint32_t gone = 0; gone < elsewhere.count;) {
        struct rm_burst rest = {.count = elsewhere.count - gone};
        memcpy(rest.data, elsewhere.data + gone, rest.count * sizeof rest.data[0]);
        memcpy(rest.length, elsewhere.length + gone, rest.count * sizeof rest.length[0]);
        uint32_t const sent = rm_port_send_from(port, queue, &rest);
        gone += sent;
        if (sent == 0)
            sched_yield();
    }
    for (uint32_t i = 0; i < elsewhere.count; ++i)
        free(elsewhere.data[i]);
}

void numbered_send(struct endpoints *endpoints, struct rm_port *port, uint16_t queue, struct numbered *numbered,
                   uint64_t count) {
    struct rm_burst burst = {0};
    uint64_t const last = numbered->next + count;
    while (numbered->next < last) {
        while (!endpoints->slow && numbered->next > atomic_load(&endpoints->shared->received) + AHEAD)
            sched_yield();
        uint64_t const rest = last - numbered->next;
        rm_port_reserve(port, queue, &burst, rest < RM_BURST ? (uint32_t)rest : RM_BURST);
        expect(burst.count != 0, "buffers to send from");
        numbered_fill(endpoints, port, numbered, &burst);
        if (numbered->from_elsewhere)
            send_from_elsewhere(port, queue, &burst);
        while (burst.count != 0)
            if (rm_port_send(port, queue, &burst) == 0)
                sched_yield();
        atomic_store(&endpoints->shared->sent, numbered->next);
    }
}

void numbered_receive(struct endpoints *endpoints, struct rm_port *port, uint16_t queue, struct numbered *numbered,
                      uint64_t count) {
    struct rm_burst burst = {0};
    uint64_t const last = numbered->next + count;
    while (numbered->next < last) {
        if (rm_port_receive(port, queue, &burst) == 0)
            sched_yield();
        numbered_check(endpoints, port, numbered, &burst);
        rm_port_release(port, queue, &burst);
        atomic_store(&endpoints->shared->received, numbered->next);
    }
}
