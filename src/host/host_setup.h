// SPDX-License-Identifier: Apache-2.0
/** Copies a setup with everything that it points to. */
#ifndef RM_HOST_HOST_SETUP_H
#define RM_HOST_HOST_SETUP_H

#include <ringmaster/error.h>

#include "host/host.h"

/** Copies the setup. `*copy` is zero before, and can be freed afterwards in any case. */
enum rm_code rm_host_setup_copy(struct rm_host_setup *copy, struct rm_host_setup const *setup, struct rm_error *error);
void rm_host_setup_free(struct rm_host_setup *copy);

#endif
