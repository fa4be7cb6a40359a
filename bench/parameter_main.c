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
#include "base/options.h"
#include "base/pin.h"
#include "parameter_cost.h"

static char const USAGE[] = "Usage: ringmaster-parameter-cost cost WORKSPACE CPU\n"
                            "       ringmaster-parameter-cost visible|request WORKSPACE CPU CPU\n";

int main(int argc, char **argv) {
    enum { COST, VISIBLE, REQUEST };
    static char const *const commands[] = {[COST] = "cost", [VISIBLE] = "visible", [REQUEST] = "request", NULL};
    char const *workspace = NULL;
    uint64_t first = 0, second = 0;
    struct rm_option options[] = {
        {"WORKSPACE", &workspace, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"CPU", &first, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
        {"other CPU", &second, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
    };
    uint64_t const command = rm_options_command_or_exit(argc, argv, USAGE, commands);
    rm_options_or_exit(argc - 1, argv + 1, USAGE, options, command == COST ? 2 : 3);
    if (command == COST)
        return measure_cost(workspace, (int)first);
    if (first == second)
        bench_fail("two CPUs are needed");
    return command == VISIBLE ? measure_visible(workspace, (int)first, (int)second)
                              : measure_request(workspace, (int)first, (int)second);
}
