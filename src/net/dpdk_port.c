// SPDX-License-Identifier: Apache-2.0
#include "net/dpdk_port.h"

#include <string.h>

#include <rte_ethdev.h>

uint32_t rm_dpdk_port_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    return rm_dpdk_device_receive(&rm_dpdk_port(port)->device, queue, burst);
}

void rm_dpdk_port_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)port;
    (void)queue;
    rm_dpdk_device_release(burst);
}

uint32_t rm_dpdk_port_discard(struct rm_port *port, uint16_t queue) {
    return rm_dpdk_device_discard(&rm_dpdk_port(port)->device, queue);
}

uint32_t rm_dpdk_port_reserve(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count) {
    (void)queue;
    return rm_dpdk_device_reserve(&rm_dpdk_port(port)->device, burst, count);
}

uint32_t rm_dpdk_port_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    struct rm_dpdk_device const *const device = &rm_dpdk_port(port)->device;
    uint16_t own;
    if (!rm_port_send_queue(port, queue, device->send_queues, &own))
        return 0;
    return rm_dpdk_device_send(device, own, burst);
}

void rm_dpdk_port_totals(struct rm_port *port, struct rm_port_statistics *totals) {
    struct rm_dpdk_device const *const device = &rm_dpdk_port(port)->device;
    rm_dpdk_device_totals(device, totals);
    totals->link_up = rm_dpdk_device_link_up(device);
}

bool rm_dpdk_port_mac(struct rm_port const *port, uint8_t mac[6]) {
    struct rte_ether_addr address;
    if (rte_eth_macaddr_get(((struct rm_dpdk_device_port const *)port)->device.id, &address) != 0)
        return false;
    memcpy(mac, address.addr_bytes, sizeof address.addr_bytes);
    return true;
}

void rm_dpdk_port_close(struct rm_port *port) { rm_dpdk_device_close(&rm_dpdk_port(port)->device); }

/** Devices without a filter let everything in and may refuse both. */
static void let_multicast_in(uint16_t id) {
    if (rte_eth_allmulticast_enable(id) != 0)
        (void)rte_eth_promiscuous_enable(id);
}

enum rm_code rm_dpdk_port_open(struct rm_dpdk_device_port *port, struct rm_port_config const *config,
                               struct rm_dpdk_wants const *wants, struct rm_error *error) {
    enum rm_code code = rm_dpdk_device_open(&port->device, config, wants, error);
    if (code != RM_OK)
        return code;
    code = rm_dpdk_device_start(&port->device, config, error);
    if (code != RM_OK) {
        rm_dpdk_device_close(&port->device);
        return code;
    }
    if (wants->steer != NULL)
        rm_steer_device(wants->steer, port->device.id);
    if (config->group_count != 0)
        let_multicast_in(port->device.id);
    return RM_OK;
}
