// SPDX-License-Identifier: Apache-2.0
/** What does it cost? One program for all that can be asked of a single core, without a port and without a peer.
 *
 *     ringmaster-cost NAME [WORD]… [--rounds N]
 *
 * The cases of a cost take turns in rounds. A line for each: the median in nanoseconds, the middle half of the rounds,
 * and where a case stands beside another, by how much it is more in the same round.
 */
#include <stdio.h>
#include <string.h>

#include "cost.h"

enum { USAGE_BYTES = 4096 };

static struct bench_cost const *const costs[] = {
    &assembly_cost, &beam_cost,    &calibrate_cost, &chain_cost,    &decision_cost,       &excite_cost,
    &filter_cost,   &follow_cost,  &frame_cost,     &guard_cost,    &layout_cost,         &machine_cost,
    &profile_cost,  &receive_cost, &runs_cost,      &sequence_cost, &setpoint_frame_cost, &solve_cost,
};

enum { COSTS = sizeof costs / sizeof *costs };

static char const *cost_usage(void) {
    static char text[USAGE_BYTES];
    int length = snprintf(text, sizeof text, "Usage: ringmaster-cost NAME [WORD]… [--rounds N]\n\n");
    for (size_t i = 0; i < COSTS; ++i) {
        char words[80] = "";
        for (struct rm_option const *word = costs[i]->words; word < costs[i]->words + COST_WORDS_MAX && word->name;
             ++word)
            snprintf(words + strlen(words), sizeof words - strlen(words), word->place == RM_WORD ? " %s" : " [%s]",
                     word->name);
        length += snprintf(text + length, sizeof text - (size_t)length, "  %s%s\n      %s\n", costs[i]->name, words,
                           costs[i]->about);
    }
    return text;
}

static void cost_measure(struct bench_cost const *cost, uint32_t rounds) {
    static struct bench_case cases[COST_CASES_MAX];
    size_t const count = cost->prepare(cases);
    bench_rounds(cases, count, rounds);
    bench_print(cases, count, rounds, cost->unit, cost->unit_ns);
    if (cost->check != NULL)
        cost->check();
}

int main(int argc, char **argv) {
    char const *names[COSTS + 1] = {NULL};
    for (size_t i = 0; i < COSTS; ++i)
        names[i] = costs[i]->name;
    struct bench_cost const *const cost = costs[rm_options_command_or_exit(argc, argv, cost_usage(), names)];
    uint64_t rounds = cost->rounds;
    struct rm_option options[1 + COST_WORDS_MAX] = {{"rounds", &rounds, 1, 1e6, .kind = RM_OPTION_WHOLE}};
    size_t count = 1;
    for (; count <= COST_WORDS_MAX && cost->words[count - 1].name != NULL; ++count)
        options[count] = cost->words[count - 1];
    rm_options_or_exit(argc - 1, argv + 1, cost_usage(), options, count);
    if (cost->run != NULL)
        cost->run((uint32_t)rounds);
    else
        cost_measure(cost, (uint32_t)rounds);
    return 0;
}
