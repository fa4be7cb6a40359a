// SPDX-License-Identifier: Apache-2.0
/* The application role: the same hosts as in processes of their own, stepped by a core of the server. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/application_setup.h"
#include "engine/role.h"
#include "engine/server_state.h"

/** One role. Its core turns before the workspace has the application's folder, so the host comes later: stored with
 * release, loaded with acquire. */
struct hosted {
    _Atomic(struct rm_host *) host;
    char const *name;
};

static uint32_t hosted_duty(void *role, uint64_t tsc) {
    struct hosted *const hosted = role;
    struct rm_host *const host = atomic_load_explicit(&hosted->host, memory_order_acquire);
    return host != NULL ? rm_host_duty(host, tsc) : 0;
}

static void hosted_say(void *context, char const *text) {
    struct hosted const *const hosted = context;
    fprintf(stderr, "ringmaster-server: application %s: %s\n", hosted->name, text);
}

static enum rm_code hosted_make(struct rm_server *server, uint32_t role, void **made, struct rm_error *error) {
    struct hosted *const hosted = *made = calloc(1, sizeof *hosted);
    if (hosted == NULL)
        return rm_server_no_memory(error);
    hosted->name = server->config->application[server->config->role[role].application].name;
    return RM_OK;
}

struct rm_role const rm_role_application = {
    .make = hosted_make, .duty = hosted_duty, .free = free, .latency_critical = true};

enum rm_code rm_server_open_applications(struct rm_server *server, struct rm_error *error) {
    struct rm_config const *const config = server->config;
    enum rm_code code = RM_OK;
    for (uint32_t role = 0; code == RM_OK && role < config->role_count; ++role) {
        struct hosted *const hosted = server->role[role];
        struct rm_host *host;
        if (config->role[role].kind != RM_ROLE_APPLICATION)
            continue;
        code = rm_application_open(config, config->role[role].application, false, hosted_say, hosted, &host, error);
        if (code == RM_OK)
            atomic_store_explicit(&hosted->host, host, memory_order_release);
    }
    return code;
}

void rm_server_close_applications(struct rm_server *server) {
    for (uint32_t role = 0; server->role != NULL && role < server->config->role_count; ++role) {
        struct hosted *const hosted = server->role[role];
        if (server->config->role[role].kind == RM_ROLE_APPLICATION && hosted != NULL)
            rm_host_close(atomic_exchange_explicit(&hosted->host, NULL, memory_order_relaxed));
    }
}
