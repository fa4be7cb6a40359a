// SPDX-License-Identifier: Apache-2.0
#include "host/host_settings.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "host/host_permissions.h"

static long const NAP_NS = 50000;

bool rm_host_settings_allocate(struct rm_host_settings *settings, struct rm_host_program const *program) {
    settings->count = program->code.it->setting_count;
    settings->values = program->setting_values;
    settings->at = program->setting_at;
    settings->length = program->setting_length;
    settings->value = program->setting;
    settings->parameter = calloc(settings->count + 1ul, sizeof *settings->parameter);
    settings->proposed = calloc(settings->values + 1ul, sizeof *settings->proposed);
    settings->asked = calloc(settings->count + 1ul, sizeof *settings->asked);
    return settings->parameter != NULL && settings->proposed != NULL && settings->asked != NULL;
}

void rm_host_settings_free(struct rm_host_settings *settings) {
    free((void *)settings->parameter);
    free(settings->proposed);
    free(settings->asked);
}

void rm_host_settings_write(struct rm_host_settings *settings, uint32_t i, struct rm_stamp stamp) {
    rm_parameter_write(settings->parameter[i], settings->value + settings->at[i], settings->length[i] * sizeof(double),
                       stamp);
}

void rm_host_settings_show(struct rm_host_settings *settings, struct rm_stamp stamp) {
    if (settings->count == 0)
        return;
    rm_group_begin(settings->group);
    for (uint32_t i = 0; i < settings->count; ++i)
        rm_host_settings_write(settings, i, stamp);
    rm_group_commit(settings->group, stamp);
}

/** A setting that was not asked for is as it is now. */
static void complete_command(struct rm_host_settings *settings) {
    for (uint32_t i = 0; i < settings->count; ++i)
        if (!settings->asked[i])
            memcpy(settings->proposed + settings->at[i], settings->value + settings->at[i],
                   settings->length[i] * sizeof settings->value[0]);
}

/** Those that differ become what was proposed. */
static uint32_t host_settings_change(struct rm_host_settings *settings, struct rm_stamp stamp) {
    uint32_t changed = 0;
    rm_group_begin(settings->group);
    for (uint32_t i = 0; i < settings->count; ++i) {
        double *const value = settings->value + settings->at[i];
        double const *const proposed = settings->proposed + settings->at[i];
        size_t const bytes = settings->length[i] * sizeof *value;
        if (memcmp(value, proposed, bytes) == 0)
            continue;
        memcpy(value, proposed, bytes);
        rm_host_settings_write(settings, i, stamp);
        ++changed;
    }
    rm_group_commit(settings->group, stamp);
    return changed;
}

uint32_t rm_host_settings_take(struct rm_host_settings *settings, struct rm_host_program const *program,
                               struct rm_stamp stamp) {
    struct rm_application_code const *code = program->code.it;
    if (!rm_mailbox_take(&settings->mailbox))
        return 0;
    complete_command(settings);
    settings->reason = (struct rm_error){.code = RM_E_ARGUMENT, .text = "the application does not accept it"};
    settings->accepted =
        code->accept == NULL || code->accept(&program->passed, program->state, settings->proposed, &settings->reason);
    uint32_t const changed = settings->accepted ? host_settings_change(settings, stamp) : 0;
    if (changed > 0)
        rm_host_permissions_note(settings, program, stamp);
    rm_mailbox_answer(&settings->mailbox);
    return changed;
}

/** Waits until the command is answered; false when the time is over. */
static bool host_settings_wait_for_answer(struct rm_host_settings *settings, uint64_t timeout_ns) {
    struct timespec const nap = {.tv_nsec = NAP_NS};
    uint64_t const end = rm_monotonic_ns() + timeout_ns;
    while (!rm_mailbox_is_answered(&settings->mailbox)) {
        if (rm_monotonic_ns() >= end)
            return false;
        nanosleep(&nap, NULL);
    }
    return true;
}

void rm_host_settings_begin(struct rm_host_settings *settings) {
    memset(settings->asked, 0, settings->count * sizeof settings->asked[0]);
}

void rm_host_settings_ask(struct rm_host_settings *settings, uint32_t setting, uint64_t first, void const *values,
                          size_t bytes) {
    double *const proposed = settings->proposed + settings->at[setting];
    struct rm_parameter_reading when;
    if (!settings->asked[setting])
        rm_parameter_read(settings->parameter[setting], proposed, settings->length[setting] * sizeof *proposed, &when);
    settings->asked[setting] = true;
    memcpy(proposed + first, values, bytes);
}

enum rm_code rm_host_settings_propose(struct rm_host_settings *settings, uint64_t timeout_ns, struct rm_error *error) {
    rm_mailbox_post(&settings->mailbox);
    if (!host_settings_wait_for_answer(settings, timeout_ns)) {
        /* Taken just now: then `accept` is at work, and the answer will come. */
        if (rm_mailbox_withdraw(&settings->mailbox))
            return rm_fail(
                error, RM_E_BUSY,
                "the application has been inside of one step, or of one turn's inputs, for longer than %.1f s",
                (double)timeout_ns * 1e-9);
        if (!host_settings_wait_for_answer(settings, timeout_ns))
            return rm_fail(error, RM_E_BUSY, "the application does not come back from judging it");
    }
    enum rm_code const code = settings->accepted ? RM_OK : rm_fail(error, RM_E_ARGUMENT, "%s", settings->reason.text);
    rm_mailbox_close(&settings->mailbox);
    return code;
}
