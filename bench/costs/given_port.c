// SPDX-License-Identifier: Apache-2.0
#include "given_port.h"

uint32_t rm_port_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)queue;
    for (uint32_t i = 0; i < port->ready; ++i) {
        burst->data[i] = given_frame(port, i);
        burst->length[i] = port->length[i];
        burst->checksum_good[i] = false;
    }
    return burst->count = port->ready;
}

uint32_t rm_port_reserve(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count) {
    (void)queue;
    for (uint32_t i = 0; i < count; ++i)
        burst->data[i] = port->out[i];
    return burst->count = count;
}

uint32_t rm_port_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    uint32_t const sent = burst->count;
    (void)queue;
    port->sent += sent;
    burst->count = 0;
    return sent;
}

void rm_port_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)port, (void)queue;
    burst->count = 0;
}

bool rm_port_punt(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t index) {
    (void)port, (void)queue, (void)burst, (void)index;
    return false;
}

enum rm_code rm_port_check(struct rm_port *port, struct rm_error *error) {
    (void)port, (void)error;
    return RM_OK;
}

uint32_t rm_port_send_from(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    return rm_port_send(port, queue, burst);
}
