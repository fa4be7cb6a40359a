// SPDX-License-Identifier: Apache-2.0
/** What eddy currents in vacuum chambers leave of the correctors' currents: one pole, or two. Between two steps a
 * current stays, so that each step is exact, however long. */
#include <math.h>

#include "machine_parts.h"

/** What a chamber of the poles a and b does to a current that stays for a step: 1 − e^(−aT), e^(−bT), and the share of
 * what the first pole has still to go that comes to the second, b (e^(−aT) − e^(−bT)) / (b − a). */
struct chamber_step {
    double taken, left, across;
};

static struct chamber_step chamber_step_of(struct rm_machine_group const *group, double passed) {
    double const a = 2 * M_PI * group->eddy_hz, b = 2 * M_PI * group->eddy2_hz, apart = b - a;
    struct chamber_step step = {.taken = a > 0 ? -expm1(-a * passed) : 1, .left = b > 0 ? exp(-b * passed) : 0};
    if (a > 0 && b > 0)
        step.across = b * exp(-a * passed) * (apart != 0 ? -expm1(-apart * passed) / apart : passed);
    return step;
}

void rm_machine_pass_chambers(struct rm_machine *machine, double passed, double const *current) {
    struct chamber_step step[RM_MACHINE_GROUPS_MAX + 1];
    for (uint32_t g = 0; g <= RM_MACHINE_GROUPS_MAX; ++g) /* the last is the RF's, which has no chamber */
        step[g] = machine->stepped && g < machine->config->group_count
                      ? chamber_step_of(&machine->config->group[g], passed)
                      : (struct chamber_step){.taken = 1};
    for (uint32_t l = 0; l < machine->lever_count; ++l) {
        struct rm_machine_lever *lever = &machine->lever[l];
        struct chamber_step const *of = &step[lever->group];
        double const now = current[lever->supply], behind = lever->between - now;
        lever->between += of->taken * (now - lever->between);
        lever->filtered =
            of->left > 0 ? now + of->left * (lever->filtered - now) + of->across * behind : lever->between;
        machine->now[l] = lever->filtered;
    }
}
