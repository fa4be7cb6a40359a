// SPDX-License-Identifier: Apache-2.0
#include "base/pin.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

/** "0-3,8" */
static void list_cores(cpu_set_t const *cores, char list[128]) {
    size_t length = 0;
    list[0] = '\0';
    for (int core = 0; core < CPU_SETSIZE && length < 100; ++core) {
        if (!CPU_ISSET(core, cores))
            continue;
        int const first = core;
        while (core + 1 < CPU_SETSIZE && CPU_ISSET(core + 1, cores))
            ++core;
        length += (size_t)snprintf(list + length, 128 - length, first == core ? "%s%d" : "%s%d-%d",
                                   length == 0 ? "" : ",", first, core);
    }
}

enum rm_code rm_pin(uint32_t core, struct rm_error *error) {
    cpu_set_t allowed, only;
    CPU_ZERO(&only); /* a core beyond the set is none: the kernel says so */
    if (core < CPU_SETSIZE)
        CPU_SET(core, &only);
    bool const known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    if (sched_setaffinity(0, sizeof only, &only) == 0)
        return RM_OK;
    int const why = errno;
    char list[128] = "unknown";
    if (known)
        list_cores(&allowed, list);
    return rm_fail(error, RM_E_ARGUMENT, "cannot run on core %u: %s; this process may use the cores %s", core,
                   strerror(why), list);
}
