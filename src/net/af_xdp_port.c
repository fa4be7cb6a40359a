// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_mbuf.h>

#include "base/fail.h"
#include "net/dpdk_port.h"
#include "net/interface.h"
#include "net/xdp_claim.h"
#include "net/xdp_sockets.h"

enum {
    LONGEST_FRAME_BYTES = 3072,
    /** A buffer with all that belongs to it must fit a page of memory, and DPDK wants an odd number of cache lines:
     * 63 of the 64 that a page has, less 320 bytes for pool, mbuf and headroom. The kernel keeps 256 more for itself.
     */
    BUFFER_BYTES = 63 * 64 - 320,
    HELD_BUFFERS = 4096, /**< the driver's fill ring */
    TRIES = 50,
    TRY_AGAIN_US = 20000,
    MOST_QUEUES = 64, /**< of the program's map */
};

struct af_xdp_port {
    struct rm_dpdk_device_port base;
    uint32_t interface_index;
    int interface;                 /**< to ask about it; holds the multicast groups */
    struct rm_xdp_sockets sockets; /**< the driver's */
};

static struct af_xdp_port *af_xdp_port_self(struct rm_port *port) { return (struct af_xdp_port *)port; }

static void af_xdp_totals(struct rm_port *port, struct rm_port_statistics *totals) {
    rm_dpdk_device_totals(&af_xdp_port_self(port)->base.device, totals);
    totals->link_up = rm_interface_up(af_xdp_port_self(port)->interface, af_xdp_port_self(port)->interface_index);
}

/** The driver takes its program off the interface. */
static void af_xdp_close(struct rm_port *port) {
    rm_dpdk_port_close(port);
    rm_xdp_sockets_close(&af_xdp_port_self(port)->sockets);
    close(af_xdp_port_self(port)->interface);
}

static struct rm_port_ops const af_xdp_ops = {.framing = RM_FRAMING_ETHERNET,
                                              .receive = rm_dpdk_port_receive,
                                              .release = rm_dpdk_port_release,
                                              .discard = rm_dpdk_port_discard,
                                              .reserve = rm_dpdk_port_reserve,
                                              .send = rm_dpdk_port_send,
                                              .totals = af_xdp_totals,
                                              .mac = rm_dpdk_port_mac,
                                              .close = af_xdp_close};

/** Also finds the interface's index. */
static enum rm_code af_xdp_port_check(struct rm_port_config const *config, uint32_t *interface_index,
                                      struct rm_error *error) {
    enum rm_code const code = rm_interface_find(config, interface_index, error);
    if (code != RM_OK)
        return code;
    if (config->queues > MOST_QUEUES)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has %u queues; af_xdp takes at most %d", config->name,
                       config->queues, MOST_QUEUES);
    if (config->ring_slots != 0)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has %u ring slots; af_xdp has its own number, write 0",
                       config->name, config->ring_slots);
    if (config->claim_count == 0 && config->ethertype_count == 0)
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s' claims no UDP port and no EtherType; af_xdp needs one at least, or all frames would "
                       "go to the kernel",
                       config->name);
    if (config->longest_frame > LONGEST_FRAME_BYTES)
        return rm_fail(
            error, RM_E_CONFIG,
            "port '%s': a longest frame of %u bytes; af_xdp takes at most %d, for a frame must fit a page of "
            "memory. Use af_packet for longer ones",
            config->name, config->longest_frame, LONGEST_FRAME_BYTES);
    if (config->exception_path)
        return rm_fail(
            error, RM_E_CONFIG,
            "port '%s': af_xdp has no exception path, for it leaves to the kernel what no instrument sent; give "
            "the address to the interface itself",
            config->name);
    return RM_OK;
}

/** Without hugepages a pool's buffers lie one in a page, and leave a gap; the driver registers memory as if they had
 * none, and the kernel refuses those beyond. They stay out of use: taken from the pool and not given back. */
static void withdraw_unregistered(struct rte_mempool *pool) {
    uintptr_t const first = (uintptr_t)STAILQ_FIRST(&pool->mem_list)->addr;
    uintptr_t const end = first + pool->populated_size * rte_mempool_calc_obj_size(pool->elt_size, pool->flags, NULL);
    struct rte_mbuf *good = NULL; // a list of those that go back
    for (struct rte_mbuf *one = rte_pktmbuf_alloc(pool); one != NULL; one = rte_pktmbuf_alloc(pool)) {
        if ((uintptr_t)one + pool->elt_size > end)
            continue;
        one->next = good;
        good = one;
    }
    while (good != NULL) {
        struct rte_mbuf *const next = good->next;
        good->next = NULL;
        rte_pktmbuf_free(good);
        good = next;
    }
}

/** Makes the driver's device, which loads our program from a file in memory. */
static enum rm_code make_af_xdp_device(struct af_xdp_port *xdp, struct rm_port_config const *config,
                                       struct rm_error *error) {
    int const program = rm_xdp_claim_file();
    if (program < 0)
        return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot make a file in memory: %s", config->name,
                       strerror(errno));
    uint16_t const queues = config->spread ? 1 : config->queues;
    char arguments[192];
    // No busy polling: the kernel's half then needs no settings of the interface.
    snprintf(arguments, sizeof arguments, "iface=%s,queue_count=%u,xdp_prog=/proc/self/fd/%d,busy_budget=0",
             config->interface, queues, program);
    struct rm_dpdk_wants const wants = {
        .arguments = arguments, .send_queues = queues, .held_buffers = HELD_BUFFERS, .buffer_bytes = BUFFER_BYTES};
    xdp->base.device.bus = "vdev";
    rm_dpdk_device_name("net_af_xdp", xdp->base.device.name);
    struct rm_xdp_sockets others;
    rm_xdp_sockets_find(&others);
    enum rm_code const code = rm_dpdk_port_open(&xdp->base, config, &wants, error);
    rm_xdp_sockets_find(&xdp->sockets);
    rm_xdp_sockets_without(&xdp->sockets, &others);
    if (code == RM_OK)
        withdraw_unregistered(xdp->base.device.pool);
    else
        rm_xdp_sockets_close(&xdp->sockets);
    close(program);
    return code;
}

/** The kernel lets a queue go some time after its last socket was closed, by this process or one that has just died. */
static enum rm_code make_device_with_retries(struct af_xdp_port *xdp, struct rm_port_config const *config,
                                             struct rm_error *error) {
    enum rm_code code = make_af_xdp_device(xdp, config, error);
    for (int tries = 1; code == RM_E_SYSTEM && tries < TRIES; ++tries) {
        usleep(TRY_AGAIN_US);
        code = make_af_xdp_device(xdp, config, error);
    }
    return code;
}

static enum rm_code open_af_xdp_device(struct af_xdp_port *xdp, struct rm_port_config const *config,
                                       struct rm_error *error) {
    enum rm_code code = rm_xdp_claim_clear(config, xdp->interface_index, error);
    if (code != RM_OK)
        return code;
    code = rm_interface_open(xdp->interface_index, config, &xdp->interface, error);
    if (code != RM_OK)
        return code;
    code = make_device_with_retries(xdp, config, error);
    if (code != RM_OK) {
        close(xdp->interface);
        return code;
    }
    code = rm_xdp_claim_fill(config, xdp->interface_index, error);
    if (code != RM_OK)
        af_xdp_close(&xdp->base.port);
    return code;
}

enum rm_code rm_af_xdp_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error) {
    uint32_t interface_index = 0;
    enum rm_code code = af_xdp_port_check(config, &interface_index, error);
    if (code != RM_OK)
        return code;
    struct rm_port *const made = rm_port_new(sizeof(struct af_xdp_port), &af_xdp_ops, config, error);
    if (made == NULL)
        return RM_E_NO_SPACE;
    af_xdp_port_self(made)->interface_index = interface_index;
    code = open_af_xdp_device(af_xdp_port_self(made), config, error);
    if (code == RM_OK)
        *port = made;
    else
        rm_port_free(made);
    return code;
}
