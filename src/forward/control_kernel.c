// SPDX-License-Identifier: Apache-2.0
#include <net/if.h>
#include <string.h>

#include "base/fail.h"
#include "forward/control_parts.h"

/** The router's interface that a kernel interface stands for: the tap of a port, or a VLAN above it. */
static uint32_t link_interface(struct rm_control const *control, struct rm_kernel_link const *link) {
    for (uint32_t port = 0; port < RM_FORWARD_PORTS_MAX; ++port) {
        uint32_t const tap = control->kernel_index[port];
        if (tap != 0 && tap == (link->below != 0 ? link->below : link->index))
            return rm_interfaces_of_port(control->setup.interfaces, port, link->below != 0 ? link->vlan : 0);
    }
    return RM_INTERFACE_NONE;
}

/** Up, down and MTU follow the kernel. */
static void kernel_link(void *context, struct rm_kernel_link const *link) {
    struct rm_control *const control = context;
    uint32_t const number = link_interface(control, link);
    if (number == RM_INTERFACE_NONE)
        return;
    struct rm_router_interface *const interface = &control->setup.interfaces->interface[number];
    struct rm_interface const before = interface->wire;
    interface->kernel_index = link->gone ? 0 : link->index;
    interface->wire.up = link->up && !link->gone;
    if (link->mtu >= 68 && link->mtu <= control->setup.longest_frame)
        interface->wire.mtu = link->mtu;
    if (before.up != interface->wire.up || before.mtu != interface->wire.mtu)
        rm_control_set_interface(control, number);
}

static void kernel_address(void *context, uint32_t index, struct rm_router_address const *address, bool gone) {
    struct rm_control *const control = context;
    uint32_t const number = rm_interfaces_of_kernel(control->setup.interfaces, index);
    if (number == RM_INTERFACE_NONE)
        return;
    if (gone)
        rm_control_remove_address(control, number, address);
    else {
        rm_interface_add_address(&control->told->interface[number], address);
        rm_control_add_address(control, number, address);
    }
}

/** Paths by other interfaces than ours are left out. */
static void kernel_route(void *context, struct rm_known_route const *told, bool gone) {
    struct rm_control *const control = context;
    struct rm_known_route route = *told;
    route.path_count = 0;
    for (uint32_t i = 0; i < told->path_count; ++i) {
        struct rm_known_path path = told->path[i];
        path.interface = rm_interfaces_of_kernel(control->setup.interfaces, path.interface);
        if (path.interface != RM_INTERFACE_NONE)
            route.path[route.path_count++] = path;
    }
    bool const ours = route.path_count != 0 || told->path_count == 0;
    if (gone || !ours)
        rm_known_remove(control->known, &route.prefix, RM_SOURCE_KERNEL, route.metric, NULL);
    else
        rm_known_set(control->known, &route, NULL);
}

static void kernel_neighbour(void *context, struct rm_kernel_neighbour const *neighbour) {
    struct rm_control *const control = context;
    uint32_t const number = rm_interfaces_of_kernel(control->setup.interfaces, neighbour->index);
    if (number == RM_INTERFACE_NONE)
        return;
    if (neighbour->gone)
        rm_neighbours_kernel_gone(control->neighbours, number, &neighbour->ip);
    else if (neighbour->permanent)
        rm_neighbours_set(control->neighbours, number, &neighbour->ip, neighbour->mac, true, NULL);
    else
        rm_neighbours_heard(control->neighbours, number, &neighbour->ip, neighbour->mac, true, true, control->now_ms);
}

static void kernel_begin(void *context) {
    struct rm_control *const control = context;
    for (uint32_t i = 0; i < control->setup.interfaces->count; ++i)
        control->told->interface[i].address_count = 0;
    rm_known_begin_dump(control->known);
    rm_neighbours_begin_dump(control->neighbours);
}

static bool was_told(struct rm_router_interface const *told, struct rm_router_address const *address) {
    for (uint32_t i = 0; i < told->address_count; ++i)
        if (rm_ip_same(&told->address[i].ip, &address->ip))
            return true;
    return false;
}

static void kernel_end(void *context) {
    struct rm_control *const control = context;
    for (uint32_t i = 0; i < control->setup.interfaces->count; ++i) {
        struct rm_router_interface const *const interface = &control->setup.interfaces->interface[i];
        for (uint32_t a = interface->address_count; a-- > 0 && interface->kernel_index != 0;) {
            struct rm_router_address const address = interface->address[a];
            if (!was_told(&control->told->interface[i], &address))
                rm_control_remove_address(control, i, &address);
        }
    }
    rm_known_end_dump(control->known);
    rm_neighbours_end_dump(control->neighbours);
}

/** Gives the tap of a port the port's MAC, the interface's MTU and our addresses. */
static enum rm_code prepare_tap(struct rm_control *control, uint32_t port, struct rm_error *error) {
    struct rm_control_port const *const of = &control->setup.port[port];
    uint32_t const index = if_nametoindex(of->kernel_interface);
    uint32_t const number = rm_interfaces_of_port(control->setup.interfaces, port, 0);
    if (index == 0)
        return rm_fail(error, RM_E_SYSTEM, "port %s: its kernel interface %s has gone", of->name, of->kernel_interface);
    control->kernel_index[port] = index;
    if (number == RM_INTERFACE_NONE)
        return RM_OK; /* its VLANs are the kernel's to make above it */
    struct rm_router_interface *const interface = &control->setup.interfaces->interface[number];
    interface->kernel_index = index;
    enum rm_code code = rm_kernel_set_link(index, of->mac, interface->wire.mtu, error);
    for (uint32_t i = 0; i < interface->address_count && code == RM_OK; ++i)
        code = rm_kernel_add_address(index, &interface->address[i], error);
    return code;
}

enum rm_code rm_control_follow_kernel(struct rm_control *control, struct rm_error *error) {
    struct rm_kernel_events const events = {kernel_begin, kernel_end,       kernel_link, kernel_address,
                                            kernel_route, kernel_neighbour, control};
    bool wanted = false;
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < RM_FORWARD_PORTS_MAX && code == RM_OK; ++i)
        if (control->setup.port[i].kernel != NULL) {
            wanted = true;
            code = prepare_tap(control, i, error);
        }
    return code == RM_OK && wanted ? rm_kernel_tables_start(&control->kernel, &events, error) : code;
}
