// SPDX-License-Identifier: Apache-2.0
/** A port that is a DPDK device and no more; kinds that need more begin with it and replace operations. */
#ifndef RM_NET_DPDK_PORT_H
#define RM_NET_DPDK_PORT_H

#include "net/dpdk_device.h"
#include "net/port_kind.h"

struct rm_dpdk_device_port {
    alignas(64) struct rm_port port;
    struct rm_dpdk_device device;
    /** tap: signal by which the kernel tells the driver to read; 0 for others. */
    int wake_signal;
};

static inline struct rm_dpdk_device_port *rm_dpdk_port(struct rm_port *port) {
    return (struct rm_dpdk_device_port *)port;
}

/** Operations of the port. */
uint32_t rm_dpdk_port_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
void rm_dpdk_port_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
uint32_t rm_dpdk_port_discard(struct rm_port *port, uint16_t queue);
uint32_t rm_dpdk_port_reserve(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count);
uint32_t rm_dpdk_port_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
void rm_dpdk_port_totals(struct rm_port *port, struct rm_port_statistics *totals);
bool rm_dpdk_port_mac(struct rm_port const *port, uint8_t mac[6]);
void rm_dpdk_port_close(struct rm_port *port);

/** Opens the device whose bus and name are set, starts it, and sets up steering and multicast. */
enum rm_code rm_dpdk_port_open(struct rm_dpdk_device_port *port, struct rm_port_config const *config,
                               struct rm_dpdk_wants const *wants, struct rm_error *error);

#endif
