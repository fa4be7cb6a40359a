// SPDX-License-Identifier: Apache-2.0
/* Hosted applications: the same hosts as in processes of their own, stepped by a core of the server. */
#include "engine/server_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/application_setup.h"

/** One role. Its core turns before the workspace has the application's folder, so the host comes later: stored with
 * release, loaded with acquire. */
struct rm_hosted {
    _Atomic(struct rm_host *) host;
    char const *name;
};

static uint32_t duty(void *role, uint64_t tsc) {
    struct rm_hosted *hosted = role;
    struct rm_host *host = atomic_load_explicit(&hosted->host, memory_order_acquire);
    return host != NULL ? rm_host_duty(host, tsc) : 0;
}

static void say(void *context, char const *text) {
    struct rm_hosted const *hosted = context;
    fprintf(stderr, "ringmaster-server: application %s: %s\n", hosted->name, text);
}

enum rm_code rm_server_make_application(struct rm_server *server, uint32_t role, struct rm_error *error) {
    struct rm_hosted *hosted = calloc(1, sizeof *hosted);
    if (hosted == NULL)
        return rm_server_no_memory(error);
    hosted->name = server->config->application[server->config->role[role].application].name;
    server->hosted[role] = hosted;
    return RM_OK;
}

struct rm_duty rm_server_application_duty(struct rm_server *server, uint32_t role) {
    return (struct rm_duty){duty, server->hosted[role]};
}

enum rm_code rm_server_open_applications(struct rm_server *server, struct rm_error *error) {
    for (uint32_t role = 0; role < server->config->role_count; ++role) {
        struct rm_hosted *hosted = server->hosted[role];
        if (hosted == NULL)
            continue;
        struct rm_host *host;
        enum rm_code const code = rm_application_open(server->config, server->config->role[role].application, false,
                                                      say, hosted, &host, error);
        if (code != RM_OK)
            return code;
        atomic_store_explicit(&hosted->host, host, memory_order_release);
    }
    return RM_OK;
}

void rm_server_close_applications(struct rm_server *server) {
    for (uint32_t role = 0; server->hosted != NULL && role < server->config->role_count; ++role) {
        if (server->hosted[role] != NULL)
            rm_host_close(atomic_load_explicit(&server->hosted[role]->host, memory_order_relaxed));
        free(server->hosted[role]);
    }
    free(server->hosted);
    server->hosted = NULL;
}
