// SPDX-License-Identifier: Apache-2.0
#include "base/pin.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "base/cores.h"
#include "base/fail.h"

enum rm_code rm_pin(uint32_t core, struct rm_error *error) {
    cpu_set_t allowed, only;
    CPU_ZERO(&only); /* a core beyond the set is none: the kernel says so */
    if (core < CPU_SETSIZE)
        CPU_SET(core, &only);
    bool const known = rm_cores_available(&allowed, NULL) == RM_OK;
    if (sched_setaffinity(0, sizeof only, &only) == 0)
        return RM_OK;
    int const why = errno;
    char list[128];
    return rm_fail(error, RM_E_ARGUMENT, "cannot run on core %u: %s; this process may use the cores %s", core,
                   strerror(why), known ? rm_cores_text(&allowed, list, sizeof list) : "unknown");
}
