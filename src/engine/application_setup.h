// SPDX-License-Identifier: Apache-2.0
/** From an application of the configuration to its host. */
#ifndef RM_ENGINE_APPLICATION_SETUP_H
#define RM_ENGINE_APPLICATION_SETUP_H

#include <stdint.h>

#include <ringmaster/error.h>

#include "config/config.h"
#include "host/host.h"

/** Finds the application NAME, which is not the operator. RM_E_CONFIG lists the applications, with the place. */
enum rm_code rm_application_find(struct rm_config const *config, char const *name, uint32_t *index,
                                 struct rm_error *error);

/** Checks that the application is a process of its own. RM_E_CONFIG where the server runs it. */
enum rm_code rm_application_stands_alone(struct rm_config const *config, uint32_t index, struct rm_error *error);

/** Makes the setup of its host. Names are the configuration's; lists are owned by `setup`. RM_E_NO_SPACE. */
enum rm_code rm_application_setup_make(struct rm_config const *config, uint32_t index, struct rm_host_setup *setup,
                                       struct rm_error *error);
void rm_application_setup_free(struct rm_host_setup *setup);

/** Adds to `reason`, the host's error, the place in the configuration where it can be corrected: the line of
 * `wrong_setting`, or the application's where that is UINT32_MAX. Returns the error's code. */
enum rm_code rm_application_fail(struct rm_config const *config, uint32_t index, uint32_t wrong_setting,
                                 enum rm_code code, struct rm_error const *reason, struct rm_error *error);

/** Opens its host (rm_host_open). An error that the configuration can correct names its line. `fresh`, `say` and
 * `context` as in rm_host_setup. */
enum rm_code rm_application_open(struct rm_config const *config, uint32_t index, bool fresh,
                                 void (*say)(void *context, char const *text), void *context, struct rm_host **host,
                                 struct rm_error *error);

#endif
