// SPDX-License-Identifier: Apache-2.0
/** Settings: numbers that people change while the application runs, taken over between two steps.
 *
 * The thread beside (host_control_thread.h) proposes a whole set of them; the one that steps takes it over or refuses
 * it when it is between two steps. So all settings of one proposal change in one step, the application is asked by the
 * thread that it always runs in, and the parameters have one writer.
 *
 * The proposal goes through a mailbox. It names the settings that it is about: all others stay as they are, also where
 * they have changed since it was written. So a permission that was withdrawn meanwhile does not come back with another
 * setting's change.
 */
#ifndef RM_HOST_HOST_SETTINGS_H
#define RM_HOST_HOST_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/application.h>
#include <ringmaster/group.h>

#include "base/mailbox.h"
#include "host/host_program.h"

struct rm_host_settings {
    uint32_t count;
    /** Number of values of all settings together: they lie flat, arrays whole. */
    uint32_t values;
    /** [setting] place and length; the program's. */
    uint32_t const *at, *length;
    /** [setting] its parameter in the application's segment. */
    struct rm_parameter **parameter;
    /** The group of these parameters; NULL when there are none. */
    struct rm_group *group;
    /** Values in force, which are the program's. Written and read by the stepping thread alone. */
    double *value;
    /** Values of the command. */
    double *proposed;
    /** [setting] the proposal is about it. */
    bool *asked;
    /** enum rm_withdrawal; NULL: the code has no permissions. */
    struct rm_parameter *withdrawn;
    /** The proposal: `proposed` and `asked`. */
    struct rm_mailbox mailbox;
    /** The answer: whether it was accepted, and else why not. */
    bool accepted;
    struct rm_error reason;
};

bool rm_host_settings_allocate(struct rm_host_settings *settings, struct rm_host_program const *program);
void rm_host_settings_free(struct rm_host_settings *settings);

/** Writes all parameters, as one change of the group. */
void rm_host_settings_show(struct rm_host_settings *settings, struct rm_stamp stamp);

/** For the stepping thread: writes one of the parameters, inside a change of the group. */
void rm_host_settings_write(struct rm_host_settings *settings, uint32_t i, struct rm_stamp stamp);

/** For the stepping thread, between two steps: takes over what is proposed, if the code accepts it. Returns how many
 * settings have changed. One load when nothing is proposed. */
uint32_t rm_host_settings_take(struct rm_host_settings *settings, struct rm_host_program const *program,
                               struct rm_stamp stamp);

/** For the proposer: begins a new command, before its first setting. */
void rm_host_settings_begin(struct rm_host_settings *settings);

/** For the proposer: puts values of elements `first` and following of a setting into the command. */
void rm_host_settings_ask(struct rm_host_settings *settings, uint32_t setting, uint64_t first, void const *values,
                          size_t bytes);

/** For the proposer: posts `proposed` and waits at most `timeout_ns` for the answer. RM_OK; RM_E_ARGUMENT with the
 * application's reason; RM_E_BUSY when the stepping thread has not taken it within that time: the proposal is void
 * then. */
enum rm_code rm_host_settings_propose(struct rm_host_settings *settings, uint64_t timeout_ns, struct rm_error *error);

#endif
