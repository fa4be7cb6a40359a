// SPDX-License-Identifier: Apache-2.0
/** From an application of the configuration to its host. */
#ifndef RM_ENGINE_APPLICATION_SETUP_H
#define RM_ENGINE_APPLICATION_SETUP_H

#include <stdint.h>

#include <ringmaster/error.h>

#include "engine/config.h"
#include "host/host.h"

/** Index of the application NAME, which the operator is not. RM_E_CONFIG says which there are, and where. */
enum rm_code rm_application_find(struct rm_config const *config, char const *name, uint32_t *index,
                                 struct rm_error *error);

/** Opens its host: rm_host_open. An error that the configuration can mend names its line. `fresh`, `say` and `context`
 * as in rm_host_setup. */
enum rm_code rm_application_open(struct rm_config const *config, uint32_t index, bool fresh,
                                 void (*say)(void *context, char const *text), void *context, struct rm_host **host,
                                 struct rm_error *error);

#endif
