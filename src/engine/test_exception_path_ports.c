// SPDX-License-Identifier: Apache-2.0
#include "engine/test_exception_path_ports.h"

#include <stdlib.h>
#include <string.h>

static void require(bool held) {
    if (!held)
        abort();
}

static void *allocate(uint32_t bytes) {
    void *const memory = malloc(bytes != 0 ? bytes : 1);
    require(memory != NULL);
    return memory;
}

struct rm_port *fake_port_make(uint16_t queue) {
    struct rm_port *port = calloc(1, sizeof *port);
    require(port != NULL);
    port->queue = queue;
    port->room = port->takes = RM_BURST;
    return port;
}

void fake_port_push(struct rm_port *port, uint8_t const *frame, uint32_t length) {
    require(port->waiting_count < FAKE_FRAMES && length <= FAKE_BYTES);
    struct fake_frame *const place = &port->waiting[(port->waiting_first + port->waiting_count++) % FAKE_FRAMES];
    place->length = length;
    memcpy(place->byte, frame, length);
}

uint16_t rm_port_slow_queue(struct rm_port const *port) { return port->queue; }

bool rm_port_mac(struct rm_port const *port, uint8_t mac[6]) {
    if (port->has_mac)
        memcpy(mac, (uint8_t const[6]){2, 0, 0, 0, 0, 1}, 6);
    return port->has_mac;
}

uint32_t rm_port_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    require(queue == port->queue);
    for (burst->count = 0; burst->count < RM_BURST && port->waiting_count > 0; ++burst->count) {
        struct fake_frame const *const frame = &port->waiting[port->waiting_first];
        port->waiting_first = (port->waiting_first + 1) % FAKE_FRAMES;
        --port->waiting_count;
        burst->data[burst->count] = memcpy(allocate(frame->length), frame->byte, frame->length);
        burst->length[burst->count] = frame->length;
        burst->handle[burst->count] = burst->data[burst->count];
        ++port->lent;
    }
    return burst->count;
}

void rm_port_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    require(queue == port->queue);
    for (uint32_t i = 0; i < burst->count; ++i, --port->lent)
        free(burst->handle[i]);
    burst->count = 0;
}

static void tell_place(struct rm_port const *port, enum fake_place place) {
    if (port->at != NULL)
        port->at(place);
}

uint32_t rm_port_reserve(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count) {
    require(queue == port->queue && count >= 1 && count <= RM_BURST);
    tell_place(port, FAKE_RESERVES);
    burst->count = count < port->room ? count : port->room;
    for (uint32_t i = 0; i < burst->count; ++i, ++port->lent) {
        burst->handle[i] = burst->data[i] = allocate(RM_SEND_BYTES);
        burst->length[i] = 0;
    }
    return burst->count;
}

uint32_t rm_port_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    require(queue == port->queue);
    tell_place(port, FAKE_IS_OFFERED);
    uint32_t const sent = burst->count < port->takes ? burst->count : port->takes;
    for (uint32_t i = 0; i < sent; ++i, --port->lent) {
        require(burst->length[i] >= 1 && burst->length[i] <= RM_SEND_BYTES && port->sent_count < FAKE_FRAMES);
        struct fake_frame *const place = &port->sent[port->sent_count++];
        place->length = burst->length[i];
        memcpy(place->byte, burst->data[i], burst->length[i]);
        free(burst->handle[i]);
    }
    uint32_t const rest = burst->count - sent;
    memmove(burst->data, burst->data + sent, rest * sizeof burst->data[0]);
    memmove(burst->length, burst->length + sent, rest * sizeof burst->length[0]);
    memmove(burst->handle, burst->handle + sent, rest * sizeof burst->handle[0]);
    burst->count = rest;
    tell_place(port, FAKE_HAS_TAKEN);
    return sent;
}
