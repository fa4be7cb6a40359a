// SPDX-License-Identifier: Apache-2.0
/** What the parts of the server share while it starts and stops; server.h is its outside.
 *
 *     server.c         the order of things, and instruments
 *     server_ports.c   ports, with what each must know of the instruments behind it
 *     server_roles.c   the table of roles (role.h), and the cores they run on
 *     server_move.c    roles move between cores; server_reload.c has the commands
 *     role_receive.c, role_transmit.c, role_application.c, …   a role each
 *     server_control_thread.c   what the control thread is given
 *     server_router.c           what roles forward share
 */
#ifndef RM_ENGINE_SERVER_STATE_H
#define RM_ENGINE_SERVER_STATE_H

#include <stdatomic.h>

#include "config/config.h"
#include "config/placement.h"
#include "engine/control_thread.h"
#include "engine/core.h"
#include "engine/exception_path.h"
#include "engine/receive.h"
#include "engine/server_router.h"
#include "engine/store.h"
#include "engine/telemetry_answers.h"
#include "engine/transmit.h"
#include "fabric/owner_parts.h"

/** One port, and what sends through it. */
struct rm_server_port {
    /** NULL until opened. */
    struct rm_port *port;
    /** The tap beside it, or NULL. */
    struct rm_port *kernel;
    /** Counters of the set "port". */
    rm_counter *counters;
    /** As housekeeping has found it; for people. */
    atomic_bool link_up;

    struct rm_identity_table identities;
    /** Formats that come to the port. */
    struct rm_receive_format format[RM_PORT_CLAIMS_MAX];

    uint32_t format_count;
};

/** What the transmit role and the control thread share of the segment. */
struct rm_server_setpoints {
    /** [chain]. */
    struct rm_transmit_chain *chain;
    /** [application]. */
    struct rm_grant **grant;
    /** [application]. */
    rm_counter **guard_counters;
    /** NULL without chains. */
    struct rm_setpoints *sent;
    /** [supply]. */
    struct rm_parameter **setpoint;
    /** [supply]. */
    struct rm_parameter **readback;
    /** A view of the server's own segment. It owns nothing. */
    struct rm_owner owner;
    /** Where this is one of two servers, or keeps its term in a file: NULL and 0 else. */
    struct rm_standby_state *standby_state;
    rm_counter *standby_counters;
    /** Highest term that the file had. */
    uint32_t saved_term;
};

struct rm_command_server;
struct rm_command_table;
struct rm_generator;

struct rm_server {
    struct rm_config const *config;
    enum rm_simd simd;
    double tsc_hz;
    struct rm_store store;
    bool store_open;
    bool net_started;
    /** Memory of the instruments and their decimators. */
    struct rm_arena arena;
    /** [port]. */
    struct rm_server_port *port;
    /** [instrument]. */
    struct rm_instrument **instrument;
    /** What each role of config->role has made of itself (role.h). */
    void **role;
    /** [role]: where it runs. */
    struct rm_place *place;
    /** Where the roles are to run, and in which order. Written at the start, then by the commands' thread alone. */
    struct rm_config_placement placement;
    /** [role]: how often it has moved. The same thread's. */
    uint32_t moves[RM_CONFIG_ROLES_MADE_MAX];

    /** Of this life: TAI nanoseconds at its start. */
    uint64_t generation;

    struct rm_server_setpoints setpoints;
    /** The transmit role's, whose file frees it; NULL without chains. */
    struct rm_transmit *transmit;

    /** NULL where no role forwards. */
    struct rm_server_router *router;

    struct rm_control_thread *control_thread;
    /** The packet generator, made and freed by the first role that generates; NULL: there is none. */
    struct rm_generator *generator;
    /** NULL: not started yet. */
    struct rm_command_server *commands;
    /** What DPDK's thread reads while rm_telemetry_open has it. */
    struct rm_telemetry_view telemetry;
    /** In the order of store.core. */
    struct rm_core *core;

    uint32_t cores_started;
    atomic_bool stop;
};

enum rm_code rm_server_no_memory(struct rm_error *error);

/** Starts the network and opens all ports. */
enum rm_code rm_server_open_ports(struct rm_server *server, struct rm_error *error);

/** Tells an instrument's ports about it, so that they know its datagrams. */
void rm_server_announce(struct rm_server *server, uint32_t instrument);
void rm_server_close_ports(struct rm_server *server);

/** The role that polls what comes from `source_ipv4` to a port; `*queue` is the queue, or RM_QUEUE_ANY. */
uint32_t rm_server_role_of(struct rm_server const *server, uint32_t port, uint32_t source_ipv4, uint16_t *queue);

/** Checks that every identity has one role, and publishes which: the parameter "server/steering". */
enum rm_code rm_server_steer(struct rm_server *server, struct rm_error *error);

/** Makes all roles, and starts the cores. */
enum rm_code rm_server_make_roles(struct rm_server *server, struct rm_error *error);
enum rm_code rm_server_start_cores(struct rm_server *server, struct rm_error *error);
void rm_server_stop_cores(struct rm_server *server);

/** The roles of core `core` by a placement, in their order. RM_E_CONFIG: more than a core takes; `wanted` is the file that
 * has that placement. */
enum rm_code rm_server_list(struct rm_server const *server, struct rm_config const *wanted,
                            struct rm_config_placement const *placement, uint32_t core, struct rm_core_list *list,
                            struct rm_error *error);

/** Publishes where roles run: the parameter "server/roles". */
enum rm_code rm_server_publish_roles(struct rm_server *server, struct rm_error *error);

/** Moves roles to where `placement` has them, which is a placement of the server's own roles on its own cores, and
 * returns when they run there. RM_E_CONFIG: `wanted`, the file that has it, gives a core too many. RM_E_BUSY: a core does
 * not come round; the error says which. On errors nothing has moved. For one thread at a time, while the cores run. */
enum rm_code rm_server_move(struct rm_server *server, struct rm_config const *wanted,
                            struct rm_config_placement const *placement, struct rm_error *error);

/** The commands `reload` and `roles`: their context is the server. */
struct rm_command_table rm_server_reload_commands(struct rm_server *server);

/** Does what the scripts of roles say, then serves the server's commands, and those of roles that have some. The cores
 * run. */
enum rm_code rm_server_start_commands(struct rm_server *server, struct rm_error *error);
void rm_server_free_roles(struct rm_server *server);

/** True where there are chains and no instrument tells the turn: then the transmit role publishes the clock. */
bool rm_server_transmit_tells(struct rm_server const *server);
enum rm_code rm_server_start_control_thread(struct rm_server *server, struct rm_error *error);
/** CPU clock of the thread that runs the transmit role. Without such a role the clock is not read. */
clockid_t rm_server_transmit_time(struct rm_server const *server);
void rm_server_free_setpoints(struct rm_server *server);

/** Hosted applications: opened once the control thread has made their folders, closed when the cores have stopped. */
enum rm_code rm_server_open_applications(struct rm_server *server, struct rm_error *error);
void rm_server_close_applications(struct rm_server *server);

#endif
