// SPDX-License-Identifier: Apache-2.0
/** What the forward roles of a server share: the router's tables, and its control side. */
#ifndef RM_ENGINE_SERVER_ROUTER_H
#define RM_ENGINE_SERVER_ROUTER_H

#include "forward/captures.h"
#include "forward/control.h"

struct rm_config;
struct rm_server;

struct rm_server_router {
    /** One for each forward role, in their order: its number is that of the reader of the routes. */
    struct rm_control_core core[RM_ROUTES_READERS_MAX];
    /** NULL in other modes than route, like the next two. */
    struct rm_routes *routes;
    struct rm_router_interfaces *interfaces;
    struct rm_control *control;
    struct rm_captures *captures;
    uint32_t core_count;
    /** [core]: index of its role in rm_config.role. */
    uint32_t role[RM_ROUTES_READERS_MAX];
    /** Bytes of the longest frame of any forwarded port. */
    uint32_t longest_frame;
};

/** Makes the tables, the rings to the control side, and fills them by the configuration; with the ports open, before
 * the roles are made. Nothing where no role forwards. */
enum rm_code rm_server_make_router(struct rm_server *server, struct rm_error *error);
/** Starts the control side's thread. */
enum rm_code rm_server_start_router(struct rm_server *server, struct rm_error *error);
/** When the cores have stopped. */
void rm_server_free_router(struct rm_server *server);

/** Number of a role among those that forward. */
uint32_t rm_server_router_core(struct rm_server const *server, uint32_t role);

/** MiB of DPDK's memory that the tables take. */
uint32_t rm_server_router_memory_mib(struct rm_config const *config);

#endif
