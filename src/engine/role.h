// SPDX-License-Identifier: Apache-2.0
/** A role: what a core of the server does besides its other roles.
 *
 * Each role is one constant, in a file of its own that says all of it: how the server makes its state, what a turn of
 * the duty cycle does, how the state is freed. server_roles.c has the table of them by kind, and puts them on cores. A new
 * role is its kind and word in src/config/ (config.h, schema.c, roles.c), a file here, and a line of the table.
 *
 * Order: `make` for all roles, with ports and instruments there, before any core runs. `arrive` when a core takes the
 * role, then `duty` on that core alone, over and over, until another core takes it. All that the one core did happens
 * before what the other does, so a role need not know that threads differ, as long as it keeps nothing in one. `free`
 * when all cores have stopped, also where `make` failed or was never called: the state may be NULL, or half made.
 */
#ifndef RM_ENGINE_ROLE_H
#define RM_ENGINE_ROLE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>
#include <ringmaster/error.h>

#include "config/config.h"

struct rm_server;
struct rm_command_table;

enum { RM_ROLE_TABLES_MAX = 2 };

struct rm_role {
    /** Makes the state of config->role[role], and stores it in `*made` as soon as there is anything to free. */
    enum rm_code (*make)(struct rm_server *server, uint32_t role, void **made, struct rm_error *error);
    /** One turn of the duty cycle at `tsc`. Returns packets, or whatever it counts as work; 0 is idle. */
    uint32_t (*duty)(void *made, uint64_t tsc);
    /** Called on the role's core before its first duty there, with the counters of that core: a role may move to another
     * one (core.h). NULL: nothing of it goes with the core. */
    void (*arrive)(void *made, rm_counter *core_counters);
    void (*free)(void *made);
    /** Fills in the tables of commands that this role knows (commands/command.h): RM_ROLE_TABLES_MAX at most. They are
     * done by the commands' thread while the role's core runs. Returns how many; 0: it has none, or a role before it has
     * them. NULL: its kind has none. */
    uint32_t (*commands)(void *made, struct rm_command_table *table);
    /** It answers to one event, not to many: its core never waits for more packets. */
    bool latency_critical;
};

extern struct rm_role const rm_role_receive, rm_role_housekeeping, rm_role_spread, rm_role_exception_path,
    rm_role_transmit, rm_role_application, rm_role_generate, rm_role_forward;

#endif
