// SPDX-License-Identifier: Apache-2.0
#include "engine/control_thread.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "engine/control_thread_state.h"

static void control_thread_look(void *context) {
    rm_control_thread_look_at_clients(context);
    rm_control_thread_look_at_standby(context);
    rm_control_thread_show_supplies(context);
}

static enum rm_code control_thread_prepare(struct rm_control_thread *control_thread, struct rm_error *error) {
    struct rm_config const *const config = control_thread->setup.config;
    control_thread->client = calloc(config->application_count + 1u, sizeof *control_thread->client);
    control_thread->heard = calloc((size_t)config->chain_count * RM_CHAIN_ID_PARTS + 1u, sizeof *control_thread->heard);
    control_thread->sent = calloc(config->supply_count + 1u, sizeof *control_thread->sent);
    if (control_thread->client == NULL || control_thread->heard == NULL || control_thread->sent == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the control thread of %u applications",
                       config->application_count);
    memset(control_thread->heard, 0xff,
           ((size_t)config->chain_count * RM_CHAIN_ID_PARTS) * sizeof *control_thread->heard);
    control_thread->shown = RM_TURN_NONE;
    enum rm_code code = rm_workspace_path(config->workspace, control_thread->workspace, error);
    if (code == RM_OK)
        code = rm_control_thread_make_folders(control_thread, error);
    return code;
}

enum rm_code rm_control_thread_start(struct rm_control_thread_setup const *setup,
                                     struct rm_control_thread **control_thread, struct rm_error *error) {
    struct rm_control_thread *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the control thread");
    made->setup = *setup;
    made->saved_term = setup->saved_term;
    rm_control_thread_follow(made, setup->transmit_time);
    made->beside =
        (struct rm_inbox_thread){.look = control_thread_look, .answer = rm_control_thread_answer, .context = made};
    enum rm_code code = control_thread_prepare(made, error);
    if (code == RM_OK)
        code = rm_inbox_thread_start(&made->beside, setup->owner, error);
    if (code == RM_OK)
        *control_thread = made;
    else
        rm_control_thread_stop(made);
    return code;
}

void rm_control_thread_follow(struct rm_control_thread *control_thread, clockid_t transmit_time) {
    atomic_store_explicit(&control_thread->transmit_time, transmit_time, memory_order_relaxed);
}

void rm_control_thread_stop(struct rm_control_thread *control_thread) {
    if (control_thread == NULL)
        return;
    rm_inbox_thread_stop(&control_thread->beside);
    if (control_thread->client != NULL)
        rm_control_thread_free_clients(control_thread);
    rm_control_thread_free_standby(control_thread);
    free(control_thread->client);
    free(control_thread->heard);
    free(control_thread->sent);
    free(control_thread);
}
