// SPDX-License-Identifier: Apache-2.0
/** Finds out what an application would refuse at its start, without starting it. */
#ifndef RM_ENGINE_APPLICATION_CHECK_H
#define RM_ENGINE_APPLICATION_CHECK_H

#include <stdint.h>

#include <ringmaster/error.h>

#include "config/config.h"

/** Loads the application's code, and has it `open` its own file and `init` itself, with inputs and supplies as the
 * configuration describes them. Nothing is shared, granted or stepped. The error has the place and the words that the
 * start would have. */
enum rm_code rm_application_check(struct rm_config const *config, uint32_t index, struct rm_error *error);

#endif
