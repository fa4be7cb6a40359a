// SPDX-License-Identifier: Apache-2.0
#include "forward/control.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "forward/control_parts.h"

enum {
    KERNEL_QUEUE = 0,
    TURN_PACKETS = 256, /**< of one core and turn */
    NAP_NS = 100000,
    LONG_NAP_NS = 1000000, /**< after so many turns without work: */
    IDLE_TURNS = 500,
    KERNEL_EVERY_MS = 2,
    NS_IN_MS = 1000000,
};

void rm_control_send(struct rm_control *control, uint32_t port, uint8_t const *frame, uint32_t length) {
    struct rm_handoff_packet const packet = {.port = (uint16_t)port, .length = length, .frame = frame};
    struct rm_control_core *const core = &control->setup.core[control->setup.port[port].core];
    if (!rm_handoff_put(&core->from_control, &packet))
        rm_control_count(control, RM_ROUTER_OUT_FULL, 1);
}

void rm_control_to_kernel(struct rm_control *control, uint32_t port, uint8_t const *frame, uint32_t length) {
    struct rm_port *const kernel = control->setup.port[port].kernel;
    struct rm_burst *const out = &control->out;
    if (kernel == NULL) {
        rm_control_count(control, RM_ROUTER_UNCLAIMED, 1);
        return;
    }
    bool sent = false;
    if (length <= control->setup.longest_frame && rm_port_reserve(kernel, KERNEL_QUEUE, out, 1) == 1) {
        memcpy(out->data[0], frame, length);
        out->length[0] = length;
        sent = rm_port_send(kernel, KERNEL_QUEUE, out) == 1;
        rm_port_release(kernel, KERNEL_QUEUE, out);
    }
    rm_control_count(control, sent ? RM_ROUTER_TO_KERNEL : RM_ROUTER_KERNEL_FULL, 1);
}

static uint32_t take_from_kernel(struct rm_control *control, uint32_t port) {
    struct rm_port *const kernel = control->setup.port[port].kernel;
    uint32_t const count = rm_port_receive(kernel, KERNEL_QUEUE, &control->in);
    for (uint32_t i = 0; i < count; ++i)
        if (control->in.length[i] <= control->setup.longest_frame)
            rm_control_send(control, port, control->in.data[i], control->in.length[i]);
    rm_control_count(control, RM_ROUTER_FROM_KERNEL, count);
    if (count != 0)
        rm_port_release(kernel, KERNEL_QUEUE, &control->in);
    return count;
}

void rm_control_publish(struct rm_control *control) {
    if (rm_known_changed(control->known))
        rm_routes_publish(control->setup.routes);
}

/* ── packets that waited ── */

static void send_forwarded(void *context, uint32_t port, struct rm_burst *burst) {
    for (uint32_t i = 0; i < burst->count; ++i)
        rm_control_send(context, port, burst->data[i], burst->length[i]);
}

static void neighbour_send(void *context, uint32_t port, uint8_t const *frame, uint32_t length) {
    rm_control_send(context, port, frame, length);
}

static void neighbour_again(void *context, uint32_t port, uint8_t const *frame, uint32_t length) {
    struct rm_control *const control = context;
    struct rm_burst burst = {.count = 1, .data = {control->frame}, .length = {length}};
    memcpy(control->frame, frame, length);
    rm_forward_burst(&control->forward, port, &burst, control->now_ms * NS_IN_MS);
}

/* ── interfaces ── */

static struct rm_known_route connected_route(struct rm_prefix prefix, enum rm_route_kind kind, uint32_t interface) {
    struct rm_known_route route = {.prefix = prefix, .source = RM_SOURCE_CONNECTED, .kind = kind};
    if (kind == RM_ROUTE_UNICAST)
        route.path[route.path_count++] =
            (struct rm_known_path){.gateway = {.ipv6 = prefix.ip.ipv6}, .interface = interface, .weight = 1};
    return route;
}

/** The routes that an address of ours makes: itself, its network, and the network's broadcast address. */
static uint32_t address_routes(uint32_t interface, struct rm_router_address const *address,
                               struct rm_known_route route[3]) {
    uint8_t const bits = rm_ip_bits(&address->ip);
    uint32_t count = 0;
    route[count++] = connected_route(rm_prefix_of(&address->ip, bits), RM_ROUTE_LOCAL, interface);
    if (address->length == bits)
        return count;
    route[count++] = connected_route(rm_prefix_of(&address->ip, address->length), RM_ROUTE_UNICAST, interface);
    if (address->ip.ipv6 || address->length >= bits - 1)
        return count;
    struct rm_ip const last = rm_ip_of_ipv4(rm_ip_ipv4(&address->ip) | UINT32_MAX >> address->length);
    route[count++] = connected_route(rm_prefix_of(&last, bits), RM_ROUTE_LOCAL, interface);
    return count;
}

void rm_control_set_interface(struct rm_control *control, uint32_t interface) {
    rm_routes_set_interface(control->setup.routes, interface, &control->setup.interfaces->interface[interface].wire,
                            NULL);
    rm_known_choose_again(control->known);
}

void rm_control_add_address(struct rm_control *control, uint32_t interface, struct rm_router_address const *address) {
    struct rm_known_route route[3];
    if (!rm_interface_add_address(&control->setup.interfaces->interface[interface], address))
        return;
    uint32_t const count = address_routes(interface, address, route);
    for (uint32_t i = 0; i < count; ++i)
        rm_known_set(control->known, &route[i], NULL);
    rm_control_set_interface(control, interface);
}

void rm_control_remove_address(struct rm_control *control, uint32_t interface,
                               struct rm_router_address const *address) {
    struct rm_known_route route[3];
    if (!rm_interface_remove_address(&control->setup.interfaces->interface[interface], address))
        return;
    uint32_t const count = address_routes(interface, address, route);
    for (uint32_t i = 0; i < count; ++i)
        rm_known_remove(control->known, &route[i].prefix, RM_SOURCE_CONNECTED, 0, NULL);
    rm_control_set_interface(control, interface);
}

/** Lets the tables know the interfaces, and adds the routes of their addresses. */
static enum rm_code begin_interfaces(struct rm_control *control, struct rm_error *error) {
    struct rm_router_interfaces *const interfaces = control->setup.interfaces;
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < interfaces->count && code == RM_OK; ++i) {
        struct rm_router_interface *const interface = &interfaces->interface[i];
        memcpy(interface->wire.mac, control->setup.port[interface->wire.port].mac, sizeof interface->wire.mac);
        interface->wire.up = true;
        code = rm_routes_set_interface(control->setup.routes, i, &interface->wire, error);
        for (uint32_t a = 0; a < interface->address_count && code == RM_OK; ++a) {
            struct rm_known_route route[3];
            uint32_t const count = address_routes(i, &interface->address[a], route);
            for (uint32_t r = 0; r < count && code == RM_OK; ++r)
                code = rm_known_set(control->known, &route[r], error);
        }
    }
    return code;
}

static enum rm_code begin_tables(struct rm_control *control, struct rm_error *error) {
    struct rm_control_setup const *const setup = &control->setup;
    enum rm_code code = begin_interfaces(control, error);
    for (uint32_t i = 0; i < setup->route_count && code == RM_OK; ++i)
        code = rm_known_set(control->known, &setup->route[i], error);
    for (uint32_t i = 0; i < setup->neighbour_count && code == RM_OK; ++i)
        code = rm_neighbours_set(control->neighbours, setup->neighbour[i].interface, &setup->neighbour[i].ip,
                                 setup->neighbour[i].mac, false, error);
    if (code == RM_OK)
        code = rm_control_follow_kernel(control, error);
    rm_control_publish(control);
    return code;
}

/* ── start, thread, stop ── */

static bool make_parts(struct rm_control *control) {
    struct rm_control_setup const *const setup = &control->setup;
    struct rm_neighbour_ways const ways = {neighbour_send, neighbour_again, control};
    control->known = rm_known_make(setup->routes, setup->interfaces);
    control->frame = malloc(setup->longest_frame);
    control->told = calloc(1, sizeof *control->told);
    control->forward_counts = calloc((size_t)RM_FORWARD_PORTS_MAX * RM_FORWARD_COUNTERS, sizeof(rm_counter));
    if (control->known == NULL || control->frame == NULL || control->told == NULL || control->forward_counts == NULL)
        return false;
    control->neighbours =
        rm_neighbours_make(setup->routes, control->known, setup->interfaces, &ways, setup->longest_frame);
    struct rm_forward *const forward = &control->forward;
    *forward = (struct rm_forward){.routes = setup->routes,
                                   .reader = RM_ROUTES_READER_NONE,
                                   .port_count = RM_FORWARD_PORTS_MAX,
                                   .longest_frame = setup->longest_frame,
                                   .send = send_forwarded,
                                   .send_context = control};
    for (uint32_t i = 0; i < RM_FORWARD_PORTS_MAX; ++i)
        forward->counters[i] = &control->forward_counts[i * RM_FORWARD_COUNTERS];
    return control->neighbours != NULL && rm_forward_make(forward, RM_FORWARD_ROUTE);
}

enum rm_code rm_control_make(struct rm_control_setup const *setup, struct rm_control **made, struct rm_error *error) {
    struct rm_control *const control = calloc(1, sizeof *control);
    if (control == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the router's control side");
    control->setup = *setup;
    pthread_mutex_init(&control->lock, NULL);
    enum rm_code const code = make_parts(control)
                                  ? begin_tables(control, error)
                                  : rm_fail(error, RM_E_NO_SPACE, "no memory for the router's control side");
    if (code == RM_OK)
        *made = control;
    else
        rm_control_stop(control);
    return code;
}

static void publish_counts(struct rm_control *control) {
    struct rm_neighbour_counts const *const counts = rm_neighbours_counts(control->neighbours);
    uint32_t known = 0;
    for (enum rm_route_source source = RM_SOURCE_CONNECTED; source < RM_SOURCE_NEIGHBOUR; ++source)
        known += rm_known_count(control->known, source);
    struct {
        enum rm_router_counter counter;
        uint64_t value;
    } const values[] = {
        {RM_ROUTER_ASKED, counts->asked},
        {RM_ROUTER_FOUND, counts->found},
        {RM_ROUTER_NOT_FOUND, counts->failed},
        {RM_ROUTER_WAITED, counts->waited},
        {RM_ROUTER_WAITING_FULL, counts->full},
        {RM_ROUTER_KERNEL_DUMPS, control->kernel != NULL ? rm_kernel_tables_dumps(control->kernel) : 0},
        {RM_ROUTER_ROUTES,
         rm_routes_count(control->setup.routes, false) + (uint64_t)rm_routes_count(control->setup.routes, true)},
        {RM_ROUTER_ROUTES_KNOWN, known},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i)
        rm_counter_set(control->setup.counters, values[i].counter, values[i].value);
}

static uint32_t take_handed(struct rm_control *control, struct rm_control_core *core) {
    struct rm_handoff_packet packet;
    uint32_t count = 0;
    for (; count < TURN_PACKETS && rm_handoff_see(&core->to_control, &packet); ++count) {
        rm_control_packet(control, &packet);
        rm_handoff_done(&core->to_control);
    }
    rm_control_count(control, RM_ROUTER_HANDED, count);
    return count;
}

uint32_t rm_control_turn(struct rm_control *control, uint64_t now_ms) {
    uint32_t work = 0;
    bool const new_ms = now_ms != control->now_ms;
    control->now_ms = now_ms;
    for (uint32_t i = 0; i < control->setup.core_count; ++i)
        work += take_handed(control, &control->setup.core[i]);
    for (uint32_t i = 0; i < RM_FORWARD_PORTS_MAX; ++i)
        if (control->setup.port[i].kernel != NULL)
            work += take_from_kernel(control, i);
    if (new_ms && control->kernel != NULL && now_ms % KERNEL_EVERY_MS == 0)
        work += rm_kernel_tables_follow(control->kernel, now_ms);
    rm_neighbours_tick(control->neighbours, now_ms);
    rm_control_publish(control);
    rm_neighbours_forward(control->neighbours);
    if (new_ms)
        publish_counts(control);
    return work;
}

static void *control_thread(void *context) {
    struct rm_control *const control = context;
    struct rm_error error;
    uint32_t idle = 0;
    rm_net_thread_join(&error);
    while (!atomic_load_explicit(&control->stop, memory_order_relaxed)) {
        pthread_mutex_lock(&control->lock);
        uint32_t const work = rm_control_turn(control, rm_monotonic_ns() / NS_IN_MS);
        pthread_mutex_unlock(&control->lock);
        idle = work != 0 ? 0 : idle + 1;
        nanosleep(&(struct timespec){.tv_nsec = idle < IDLE_TURNS ? NAP_NS : LONG_NAP_NS}, NULL);
    }
    rm_net_thread_leave();
    return NULL;
}

enum rm_code rm_control_start(struct rm_control *control, struct rm_error *error) {
    control->started = pthread_create(&control->thread, NULL, control_thread, control) == 0;
    return control->started ? RM_OK
                            : rm_fail(error, RM_E_SYSTEM, "cannot start the thread of the router's control side");
}

void rm_control_stop(struct rm_control *control) {
    if (control == NULL)
        return;
    atomic_store(&control->stop, true);
    if (control->started)
        pthread_join(control->thread, NULL);
    rm_kernel_tables_stop(control->kernel);
    rm_neighbours_free(control->neighbours);
    rm_known_free(control->known);
    rm_forward_free(&control->forward);
    free(control->forward_counts);
    free(control->told);
    free(control->frame);
    pthread_mutex_destroy(&control->lock);
    free(control);
}
