// SPDX-License-Identifier: Apache-2.0
/** What does a parameter cost: to read, to write, to be seen by another core, and to ask its owner for?
 *
 *     ringmaster-parameter-cost cost WORKSPACE CPU          one process, back to back, everything in the first cache
 *     ringmaster-parameter-cost visible WORKSPACE CPU CPU   two processes, a ball back and forth
 *     ringmaster-parameter-cost request WORKSPACE CPU CPU   two processes: put through the owner, until its reply
 *
 * WORKSPACE is one of its own, which it makes and leaves. It is linked to libringmaster.so, as a user's program is:
 * every call goes through the dynamic linker's table. Values are read in the read-only mapping that any reader has, and
 * written in the owner's. Prints a JSON object, nanoseconds.
 *
 * `visible` throws the ball in two ways, series by series in turns: as two parameters, one of either process; and as
 * one plain word in a cache line that both may write, which is what the machine can do (as core_to_core.c has it). Half
 * of there and back is the time from just before a write to its reader having the value.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parameter_cost.h"

int main(int argc, char **argv) {
    char const *const what = argc > 3 ? argv[1] : "";
    if (strcmp(what, "cost") == 0 && argc == 4)
        return measure_cost(argv[2], atoi(argv[3]));
    if (argc == 5 && atoi(argv[3]) != atoi(argv[4])) {
        if (strcmp(what, "visible") == 0)
            return measure_visible(argv[2], atoi(argv[3]), atoi(argv[4]));
        if (strcmp(what, "request") == 0)
            return measure_request(argv[2], atoi(argv[3]), atoi(argv[4]));
    }
    fprintf(stderr, "Usage: %s cost WORKSPACE CPU | visible WORKSPACE CPU CPU | request WORKSPACE CPU CPU\n", argv[0]);
    return 2;
}
