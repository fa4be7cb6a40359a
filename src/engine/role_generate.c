// SPDX-License-Identifier: Apache-2.0
/* Generates traffic on its ports. */
#include <stdlib.h>

#include "engine/role.h"
#include "engine/server_state.h"

static enum rm_code generate_make(struct rm_server *server, uint32_t index, void **made, struct rm_error *error) {
    (void)index;
    *made = calloc(1, 1);
    (void)server;
    return *made != NULL ? RM_OK : rm_server_no_memory(error);
}

static uint32_t generate_duty(void *made, uint64_t tsc) {
    (void)made;
    (void)tsc;
    return 0;
}

struct rm_role const rm_role_generate = {.make = generate_make, .duty = generate_duty, .free = free};
