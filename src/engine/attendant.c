// SPDX-License-Identifier: Apache-2.0
#include "engine/attendant.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "engine/attendant_state.h"

static uint64_t const LOOK_NS = 100000000; /**< from one look at the workspace to the next */
static uint64_t const SLEEP_NS = 5000000;  /**< for which a bell may go unheard: a wake has no memory */

static void *run(void *argument) {
    struct rm_attendant *const attendant = argument;
    uint64_t look_ns = 0;
    while (!atomic_load_explicit(&attendant->stop, memory_order_relaxed)) {
        uint64_t const now = rm_monotonic_ns();
        if (now >= look_ns) {
            look_ns = now + LOOK_NS;
            rm_inbox_look(attendant->inbox);
            rm_attendant_look_at_visitors(attendant);
            rm_attendant_show_supplies(attendant);
        }
        rm_attendant_answer(attendant, look_ns);
        uint64_t const slept = rm_monotonic_ns();
        rm_inbox_wait(attendant->inbox, SLEEP_NS);
        if (rm_monotonic_ns() - slept < SLEEP_NS / 2) /* somebody rang, maybe for the first time */
            rm_inbox_look(attendant->inbox);
    }
    return NULL;
}

static enum rm_code prepare(struct rm_attendant *attendant, struct rm_error *error) {
    struct rm_config const *const config = attendant->setup.config;
    attendant->visitor = calloc(config->application_count + 1u, sizeof *attendant->visitor);
    attendant->heard = calloc((size_t)config->chain_count * RM_CHAIN_ID_PARTS + 1u, sizeof *attendant->heard);
    attendant->sent = calloc(config->supply_count + 1u, sizeof *attendant->sent);
    if (attendant->visitor == NULL || attendant->heard == NULL || attendant->sent == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the attendant of %u applications",
                       config->application_count);
    memset(attendant->heard, 0xff, ((size_t)config->chain_count * RM_CHAIN_ID_PARTS) * sizeof *attendant->heard);
    attendant->shown = RM_TURN_NONE;
    enum rm_code code = rm_workspace_path(config->workspace, attendant->workspace, error);
    if (code == RM_OK)
        code = rm_attendant_make_folders(attendant, error);
    if (code == RM_OK)
        code = rm_inbox_new(attendant->setup.owner, &attendant->inbox, error);
    return code;
}

enum rm_code rm_attendant_start(struct rm_attendant_setup const *setup, struct rm_attendant **attendant,
                                struct rm_error *error) {
    struct rm_attendant *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the attendant");
    made->setup = *setup;
    enum rm_code code = prepare(made, error);
    if (code == RM_OK) {
        int const reason = pthread_create(&made->thread, NULL, run, made);
        made->started = reason == 0;
        if (reason != 0)
            code = rm_fail(error, RM_E_SYSTEM, "no thread for the attendant: %s", strerror(reason));
    }
    if (code == RM_OK) {
        pthread_setname_np(made->thread, "rm-attendant");
        *attendant = made;
    } else {
        rm_attendant_stop(made);
    }
    return code;
}

void rm_attendant_stop(struct rm_attendant *attendant) {
    if (attendant == NULL)
        return;
    atomic_store(&attendant->stop, true);
    if (attendant->started)
        pthread_join(attendant->thread, NULL);
    if (attendant->visitor != NULL)
        rm_attendant_free_visitors(attendant);
    rm_inbox_free(attendant->inbox);
    free(attendant->visitor);
    free(attendant->heard);
    free(attendant->sent);
    free(attendant);
}
