// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "net/dpdk_port.h"
#include "net/pci_card.h"

enum { DEFAULT_SLOTS = 1024, MOST_SLOTS = 8192 };

static struct rm_port_ops const pci_ops = {.framing = RM_FRAMING_ETHERNET,
                                           .receive = rm_dpdk_port_receive,
                                           .release = rm_dpdk_port_release,
                                           .discard = rm_dpdk_port_discard,
                                           .reserve = rm_dpdk_port_reserve,
                                           .send = rm_dpdk_port_send,
                                           .totals = rm_dpdk_port_totals,
                                           .mac = rm_dpdk_port_mac,
                                           .close = rm_dpdk_port_close};

static enum rm_code pci_port_check(struct rm_port_config const *config, struct rm_error *error) {
    if (memchr(config->device, '\0', sizeof config->device) == NULL)
        return rm_fail(error, RM_E_CONFIG, "port '%s': the PCI address does not end", config->name);
    if (config->ring_slots > MOST_SLOTS)
        return rm_fail(error, RM_E_CONFIG, "port '%s': %u ring slots; a card takes at most %d", config->name,
                       config->ring_slots, MOST_SLOTS);
    struct rm_error why = {0};
    enum rm_code const code = rm_pci_card_check(RM_PCI_DEVICES, config->device, &why);
    return code == RM_OK ? RM_OK : rm_fail(error, code, "port '%s': %s", config->name, why.text);
}

static enum rm_code open_pci_device(struct rm_port *port, struct rm_port_config const *config, struct rm_error *error) {
    uint32_t const slots = config->ring_slots != 0 ? config->ring_slots : DEFAULT_SLOTS;
    struct rm_dpdk_wants const wants = {.arguments = "",
                                        .send_queues =
                                            (uint16_t)((config->spread ? 1 : config->queues) + config->exception_path),
                                        .descriptors = (uint16_t)slots,
                                        .held_buffers = 2 * slots,
                                        .sets_mtu = true,
                                        .steer = &port->steer};
    struct rm_dpdk_device *const device = &rm_dpdk_port(port)->device;
    device->bus = "pci";
    snprintf(device->name, sizeof device->name, "%s", config->device);
    return rm_dpdk_port_open(rm_dpdk_port(port), config, &wants, error);
}

enum rm_code rm_pci_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error) {
    enum rm_code code = pci_port_check(config, error);
    if (code != RM_OK)
        return code;
    struct rm_port *const made = rm_port_new(sizeof(struct rm_dpdk_device_port), &pci_ops, config, error);
    if (made == NULL)
        return RM_E_NO_SPACE;
    code = open_pci_device(made, config, error);
    if (code == RM_OK)
        *port = made;
    else
        rm_port_free(made);
    return code;
}
