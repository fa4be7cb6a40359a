// SPDX-License-Identifier: Apache-2.0
/** Ports of kind pci: network cards. One that VFIO has may be unplugged while threads poll it: the kernel asks for it
 * and waits until it is given back, so polling threads pass a gate, which is closed then for ever. Frames that are lent
 * lie in the pool, which stays. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ALLOW_EXPERIMENTAL_API /* rte_dev_event_callback_…, in DPDK since 18.05 */
#include <rte_alarm.h>
#include <rte_dev.h>

#include "base/fail.h"
#include "net/dpdk_port.h"
#include "net/gate.h"
#include "net/pci_card.h"

enum { DEFAULT_SLOTS = 1024, MOST_SLOTS = 8192, SOON_US = 1 };

struct pci_port {
    struct rm_dpdk_device_port dpdk;
    /** Threads pass it to call the driver; closed once the card is gone. */
    struct rm_gate gate;
    /** Around the driver's counts: any thread may ask for them. */
    pthread_mutex_t totals_lock;
    /** When they were asked for last. */
    struct rm_port_statistics last;
    bool has_mac;
    uint8_t mac[6];
};

static struct pci_port *pci_self(struct rm_port *port) { return (struct pci_port *)port; }

static uint32_t pci_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    struct rm_gate *const gate = &pci_self(port)->gate;
    enum rm_gate_state const state = rm_gate_enter_receive(gate, queue);
    if (state == RM_GATE_CLOSED)
        return 0;
    uint32_t const count = rm_dpdk_port_receive(port, queue, burst);
    rm_gate_leave_receive(gate, queue, state, count);
    return count;
}

static uint32_t pci_discard(struct rm_port *port, uint16_t queue) {
    struct rm_gate *const gate = &pci_self(port)->gate;
    enum rm_gate_state const state = rm_gate_enter_receive(gate, queue);
    if (state == RM_GATE_CLOSED)
        return 0;
    uint32_t const count = rm_dpdk_port_discard(port, queue);
    rm_gate_leave_receive(gate, queue, state, count);
    return count;
}

static uint32_t pci_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    struct rm_gate *const gate = &pci_self(port)->gate;
    if (!rm_gate_enter_send(gate, queue))
        return 0;
    uint32_t const sent = rm_dpdk_port_send(port, queue, burst);
    rm_gate_leave_send(gate, queue);
    return sent;
}

/** Of a card that is gone: what it had counted when it was asked last. */
static void pci_totals(struct rm_port *port, struct rm_port_statistics *totals) {
    struct pci_port *const self = pci_self(port);
    pthread_mutex_lock(&self->totals_lock);
    if (rm_gate_is_open(&self->gate))
        rm_dpdk_port_totals(port, &self->last);
    *totals = self->last;
    pthread_mutex_unlock(&self->totals_lock);
}

static bool pci_mac(struct rm_port const *port, uint8_t mac[6]) {
    struct pci_port const *const self = (struct pci_port const *)port;
    memcpy(mac, self->mac, sizeof self->mac);
    return self->has_mac;
}

/** Returns when no thread is in the driver, and none will be. */
static void keep_out(struct pci_port *self) {
    rm_gate_close(&self->gate);
    pthread_mutex_lock(&self->totals_lock);
    self->last.link_up = false;
    pthread_mutex_unlock(&self->totals_lock);
}

/** In DPDK's thread for interrupts, which has told of the event by now: the driver can take back what it has there. */
static void card_leave(void *context) {
    struct pci_port *const self = context;
    if (!rm_gate_is_open(&self->gate))
        return; // asked for twice
    keep_out(self);
    fprintf(
        stderr,
        "ringmaster: port '%s' has lost its card %s, which was unplugged: nothing comes by it any more; plug it in, "
        "bind it to vfio-pci and restart this program\n",
        self->dpdk.port.name, self->dpdk.device.name);
    rm_dpdk_device_remove(&self->dpdk.device);
}

/** The kernel asks every ten seconds until it has the card. */
static void card_event(char const *card, enum rte_dev_event_type event, void *context) {
    (void)card;
    if (event == RTE_DEV_EVENT_REMOVE)
        (void)rte_eal_alarm_set(SOON_US, card_leave, context);
}

/** DPDK 22.11 forgets all other cards with the one it is told to forget. Ports are closed together, and a card that is
 * unplugged meanwhile is given back when its own port is closed. */
static void stop_watching(struct pci_port *self) {
    struct timespec const pause = {.tv_nsec = 1000000};
    while (rte_dev_event_callback_unregister(self->dpdk.device.name, card_event, self) == -EAGAIN)
        nanosleep(&pause, NULL);                  // an event is being told of
    (void)rte_eal_alarm_cancel(card_leave, self); // waits while it runs
}

static void free_parts(struct pci_port *self) {
    rm_gate_free(&self->gate);
    pthread_mutex_destroy(&self->totals_lock);
}

static void pci_close(struct rm_port *port) {
    stop_watching(pci_self(port));
    rm_dpdk_port_close(port);
    free_parts(pci_self(port));
}

static struct rm_port_ops const pci_ops = {.framing = RM_FRAMING_ETHERNET,
                                           .receive = pci_receive,
                                           .release = rm_dpdk_port_release,
                                           .discard = pci_discard,
                                           .reserve = rm_dpdk_port_reserve,
                                           .send = pci_send,
                                           .totals = pci_totals,
                                           .mac = pci_mac,
                                           .close = pci_close};

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

/** Lets threads in, and has DPDK tell when the kernel asks for the card. */
static enum rm_code start_watching(struct pci_port *self, struct rm_error *error) {
    struct rm_port *const port = &self->dpdk.port;
    char const *const card = self->dpdk.device.name;
    self->has_mac = rm_dpdk_port_mac(port, self->mac);
    rm_gate_open(&self->gate);
    if (rte_dev_event_callback_register(card, card_event, self) == 0)
        return RM_OK;
    rm_dpdk_port_close(port);
    return rm_fail(error, RM_E_NO_SPACE, "port '%s': no memory to be told when the card %s is unplugged", port->name,
                   card);
}

static enum rm_code open_pci_port(struct rm_port *port, struct rm_port_config const *config, struct rm_error *error) {
    struct pci_port *const self = pci_self(port);
    uint16_t const lanes = (uint16_t)(config->queues + 1); // the exception path's, too
    if (!rm_gate_init(&self->gate, lanes))
        return rm_fail(error, RM_E_NO_SPACE, "port '%s': no memory for its gate; free some memory", config->name);
    pthread_mutex_init(&self->totals_lock, NULL);
    enum rm_code code = open_pci_device(port, config, error);
    if (code == RM_OK)
        code = start_watching(self, error);
    if (code != RM_OK)
        free_parts(self);
    return code;
}

enum rm_code rm_pci_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error) {
    enum rm_code code = pci_port_check(config, error);
    if (code != RM_OK)
        return code;
    struct rm_port *const made = rm_port_new(sizeof(struct pci_port), &pci_ops, config, error);
    if (made == NULL)
        return RM_E_NO_SPACE;
    code = open_pci_port(made, config, error);
    if (code == RM_OK)
        *port = made;
    else
        rm_port_free(made);
    return code;
}
