// SPDX-License-Identifier: Apache-2.0
#include "base/cores.h"

#include "base/fail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum rm_code rm_cores_available(cpu_set_t *cores, struct rm_error *error) {
    if (sched_getaffinity(0, sizeof *cores, cores) != 0)
        return rm_fail(error, RM_E_SYSTEM, "cannot ask which cores there are: %s", strerror(errno));
    return RM_OK;
}

char const *rm_cores_text(cpu_set_t const *cores, char *text, size_t size) {
    enum { LONGEST_RANGE = 12 };
    size_t used = 0;
    text[0] = '\0';
    for (int first = 0; first < CPU_SETSIZE; first++) {
        if (!CPU_ISSET(first, cores))
            continue;
        int last = first;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, cores))
            last++;
        char const *const comma = used == 0 ? "" : ",";
        if (size - used < LONGEST_RANGE + sizeof "…") {
            snprintf(text + used, size - used, "%s…", comma);
            break;
        }
        used += (size_t)(last == first ? snprintf(text + used, size - used, "%s%d", comma, first)
                                       : snprintf(text + used, size - used, "%s%d-%d", comma, first, last));
        first = last;
    }
    return text;
}

/* Reads a number below CPU_SETSIZE at `*text`, and goes behind it. */
static bool read_core(char const **text, int *core) {
    char const *at = *text;
    for (*core = 0; *at >= '0' && *at <= '9' && *core < CPU_SETSIZE; at++)
        *core = *core * 10 + (*at - '0');
    bool const good = at != *text && *core < CPU_SETSIZE;
    *text = at;
    return good;
}

bool rm_cores_read(char const *text, cpu_set_t *cores) {
    CPU_ZERO(cores);
    for (;;) {
        int first, last;
        if (!read_core(&text, &first))
            return false;
        last = first;
        if (*text == '-') {
            text++;
            if (!read_core(&text, &last) || last < first)
                return false;
        }
        for (int core = first; core <= last; core++)
            CPU_SET(core, cores);
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
}
