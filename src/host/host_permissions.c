// SPDX-License-Identifier: Apache-2.0
#include "host/host_permissions.h"

#include <ringmaster/group.h>
#include <ringmaster/parameter.h>

static bool is_on(struct rm_host_settings const *settings, struct rm_host_program const *program, uint32_t i) {
    return program->code.it->settings[i].is_permission && settings->value[settings->at[i]] != 0.0;
}

void rm_host_permissions_withdraw(struct rm_host_settings *settings, struct rm_host_program const *program,
                                  enum rm_withdrawal why, struct rm_stamp stamp) {
    if (settings->withdrawn == NULL)
        return;
    bool any = false;
    rm_group_begin(settings->group);
    for (uint32_t i = 0; i < settings->count; ++i) {
        if (!is_on(settings, program, i))
            continue;
        settings->value[settings->at[i]] = 0.0;
        rm_host_settings_write(settings, i, stamp);
        any = true;
    }
    rm_group_commit(settings->group, stamp);
    if (any)
        rm_parameter_write_f64(settings->withdrawn, why, stamp);
}

void rm_host_permissions_note(struct rm_host_settings *settings, struct rm_host_program const *program,
                              struct rm_stamp stamp) {
    if (settings->withdrawn == NULL || rm_parameter_read_f64(settings->withdrawn) == RM_WITHDRAWN_NOT)
        return;
    for (uint32_t i = 0; i < settings->count; ++i) {
        if (!is_on(settings, program, i))
            continue;
        rm_parameter_write_f64(settings->withdrawn, RM_WITHDRAWN_NOT, stamp);
        return;
    }
}

enum rm_withdrawal rm_host_permissions_left(struct rm_host_settings const *settings,
                                            struct rm_host_program const *program) {
    if (settings->withdrawn == NULL)
        return RM_WITHDRAWN_NOT;
    for (uint32_t i = 0; i < settings->count; ++i) {
        bool const is_permission = program->code.it->settings[i].is_permission;
        /* Not a number where it was killed in the midst of changing it: then it may have been on. */
        if (is_permission && !(rm_parameter_read_f64(settings->parameter[i]) == 0.0))
            return RM_WITHDRAWN_DIED;
    }
    double const left = rm_parameter_read_f64(settings->withdrawn);
    return left == RM_WITHDRAWN_SERVER ? RM_WITHDRAWN_SERVER
           : left == RM_WITHDRAWN_NOT  ? RM_WITHDRAWN_NOT
                                       : RM_WITHDRAWN_DIED;
}

char const *rm_withdrawal_words(enum rm_withdrawal why) {
    return why == RM_WITHDRAWN_DIED ? "its last process died" : "the server ended, or granted anew";
}
