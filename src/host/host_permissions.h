// SPDX-License-Identifier: Apache-2.0
/** Permissions: settings that allow an application to act (rm_setting.is_permission), and when they are withdrawn.
 *
 * A setting is a choice, and survives a crash. A permission is given by a person to a running system that this person
 * sees: to one instance of the application, under one grant of one server. What comes after an end of either of them is
 * another system, in a state that no person has seen. So it begins without permissions, and says why.
 *
 * All of these are for the stepping thread.
 */
#ifndef RM_HOST_HOST_PERMISSIONS_H
#define RM_HOST_HOST_PERMISSIONS_H

#include <stdbool.h>

#include <ringmaster/application.h>

#include "host/host_settings.h"

/** Sets all permissions to 0. Where one was on, `why` is shown as the reason. */
void rm_host_permissions_withdraw(struct rm_host_settings *settings, struct rm_host_program const *program,
                                  enum rm_withdrawal why, struct rm_stamp stamp);

/** Call it after a change of settings: once a permission is on, the reason of a withdrawal is cleared. */
void rm_host_permissions_note(struct rm_host_settings *settings, struct rm_host_program const *program,
                              struct rm_stamp stamp);

/** Call it before the first values are shown, in a segment whose last owner was killed. Returns the reason to show
 * now: for permissions that the owner had, or that had been withdrawn from it. */
enum rm_withdrawal rm_host_permissions_left(struct rm_host_settings const *settings,
                                            struct rm_host_program const *program);

/** Why, in words for people. */
char const *rm_withdrawal_words(enum rm_withdrawal why);

#endif
