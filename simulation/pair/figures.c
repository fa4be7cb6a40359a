// SPDX-License-Identifier: Apache-2.0
#include "figures.h"

#include <inttypes.h>

static void figures_swap(struct rm_pair *pair, char const *name, enum rm_pair_swap_kind kind, FILE *out) {
    struct rm_pair_lengths *const lengths = &pair->tally.length[kind];
    fprintf(out, "  \"%s\": {\"count\": %u, \"median\": %.2f, \"max\": %.2f},\n", name, lengths->count,
            rm_pair_lengths_median(lengths), rm_pair_lengths_max(lengths));
}

static void figures_faults(struct rm_pair const *pair, FILE *out) {
    char const *between = "";
    fputs("  \"faults\": {", out);
    for (uint32_t k = 0; k < RM_PAIR_FAULT_KINDS; ++k) {
        fprintf(out, "%s\"%s\": %" PRIu64, between, rm_pair_fault_name((enum rm_pair_fault_kind)k),
                pair->faults.done[k]);
        between = ", ";
    }
    fputs("},\n", out);
}

/** Take-overs by what befell the pair. */
static void figures_after(struct rm_pair *pair, FILE *out) {
    fputs("  \"after\": {", out);
    for (uint32_t k = 0; k <= RM_PAIR_FAULT_KINDS; ++k) {
        struct rm_pair_lengths *const lengths = &pair->tally.after[k];
        fprintf(out, "%s\n    \"%s\": {\"count\": %u, \"median\": %.2f, \"max\": %.2f}", k == 0 ? "" : ",",
                k == RM_PAIR_FAULT_KINDS ? "two" : rm_pair_fault_name((enum rm_pair_fault_kind)k), lengths->count,
                rm_pair_lengths_median(lengths), rm_pair_lengths_max(lengths));
    }
    fputs("},\n", out);
}

/** A violation is a setpoint beyond limits or slew, or chains that are divided for longer than a take-over. */
static void figures_judged(struct rm_pair const *pair, FILE *out) {
    struct rm_pair_judged const judged = rm_pair_judged(pair);
    fprintf(out,
            "  \"violations\": %" PRIu64 ",\n  \"over_limit\": %" PRIu64 ",\n  \"over_slew\": %" PRIu64
            ",\n  \"divided\": %" PRIu64 ",\n  \"divided_cycles\": %.2f,\n  \"two_masters\": %" PRIu64 ",\n",
            judged.over_limit + judged.over_slew + judged.divided, judged.over_limit, judged.over_slew, judged.divided,
            judged.divided_cycles, judged.two_masters);
}

/** Steps that a standby made again, and what kept it from that. */
static void figures_steps(struct rm_pair const *pair, FILE *out) {
    struct rm_pair_stepping const *const one = &pair->server[0].stepping, *const other = &pair->server[1].stepping;
    fprintf(out,
            "  \"steps\": %" PRIu64 ",\n  \"followed\": %" PRIu64 ",\n  \"different_bits\": %" PRIu64
            ",\n  \"named_inputs\": %" PRIu64 ",\n  \"copies\": %" PRIu64 ",\n",
            one->steps + other->steps, one->followed + other->followed, one->differences + other->differences,
            one->named + other->named, one->copies + other->copies);
}

static uint32_t swaps_of(struct rm_pair const *pair) {
    uint32_t swaps = 0;
    for (uint32_t k = 0; k < RM_PAIR_SWAP_KINDS; ++k)
        swaps += pair->tally.length[k].count;
    return swaps;
}

void rm_pair_figures_json(struct rm_pair *pair, double wall_s, FILE *out) {
    struct rm_pair_tally const *const tally = &pair->tally;
    fprintf(out, "{\n  \"cycles\": %" PRIu64 ",\n  \"cycle_hz\": %.1f,\n  \"missed_cycles\": %u,\n",
            pair->cycle - pair->first_cycle, 1e9 / pair->period_ns, pair->setup->missed_cycles);
    fprintf(out, "  \"chains\": %u,\n  \"seed\": %" PRIu64 ",\n", tally->chains, pair->setup->seed);
    figures_swap(pair, "swap_cycles", RM_PAIR_TAKEN_OVER, out);
    figures_swap(pair, "late_cycles", RM_PAIR_TAKEN_LATE, out);
    figures_swap(pair, "planned_cycles", RM_PAIR_SWITCHED, out);
    figures_swap(pair, "begin_cycles", RM_PAIR_BEGUN, out);
    fprintf(out, "  \"swaps\": %u,\n", swaps_of(pair));
    fprintf(out, "  \"planned_missing_cycles\": %" PRIu64 ",\n  \"planned_duplicate_cycles\": %" PRIu64 ",\n",
            tally->planned_missing, tally->planned_duplicate);
    fprintf(out, "  \"false_swaps\": %" PRIu64 ",\n", tally->false_swaps);
    figures_judged(pair, out);
    fprintf(out, "  \"datagrams_obeyed\": %" PRIu64 ",\n  \"terms_raised\": %" PRIu64 ",\n", tally->obeyed,
            tally->raised);
    fprintf(out, "  \"led_by_readback\": %" PRIu64 ",\n", tally->led);
    figures_steps(pair, out);
    fprintf(out, "  \"orbit_nm\": {\"mean\": %.1f, \"max\": %.1f, \"max_after_swap\": %.1f},\n",
            tally->orbits == 0 ? 0 : tally->orbit_sum_nm / (double)tally->orbits, tally->orbit_quiet_nm,
            tally->orbit_swap_nm);
    fprintf(out, "  \"passed\": %" PRIu64 ",\n  \"lost\": %" PRIu64 ",\n", pair->network.passed, pair->network.lost);
    figures_faults(pair, out);
    figures_after(pair, out);
    fprintf(out, "  \"rounds\": %" PRIu64 ",\n  \"unsettled\": %" PRIu64 ",\n  \"wall_s\": %.3f\n}\n",
            pair->faults.rounds, pair->faults.unsettled, wall_s);
}

void rm_pair_figures_say(struct rm_pair *pair, double wall_s, FILE *out) {
    struct rm_pair_lengths *const taken = &pair->tally.length[RM_PAIR_TAKEN_OVER];
    struct rm_pair_judged const judged = rm_pair_judged(pair);
    fprintf(out,
            "%" PRIu64 " cycles at %.6g Hz in %.3g s; %" PRIu64 " faults and switches; %u take-overs of %.2f cycles "
            "(median) to %.2f; %u switches, %" PRIu64 " cycles missing and %" PRIu64 " doubled; %" PRIu64
            " false; %" PRIu64 " times it did not come to rest; %" PRIu64 " violations (%" PRIu64 " limits, %" PRIu64
            " slews, %" PRIu64 " divided), %" PRIu64 " two masters; %" PRIu64 " different bits\n",
            pair->cycle - pair->first_cycle, 1e9 / pair->period_ns, wall_s, pair->faults.rounds, taken->count,
            rm_pair_lengths_median(taken), rm_pair_lengths_max(taken), pair->tally.length[RM_PAIR_SWITCHED].count,
            pair->tally.planned_missing, pair->tally.planned_duplicate, pair->tally.false_swaps, pair->faults.unsettled,
            judged.over_limit + judged.over_slew + judged.divided, judged.over_limit, judged.over_slew, judged.divided,
            judged.two_masters, pair->server[0].stepping.differences + pair->server[1].stepping.differences);
}

void rm_pair_say_unsettled(struct rm_pair const *pair) {
    fprintf(stderr, "cycle %" PRIu64 ", round %" PRIu64 ": the pair does not come to rest:\n",
            pair->cycle - pair->first_cycle, pair->faults.rounds);
    for (uint32_t f = 0; f < pair->faults.count; ++f)
        fprintf(stderr, "  fault %s of server %u\n", rm_pair_fault_name(pair->faults.fault[f].kind),
                pair->faults.fault[f].server + 1);
    for (uint32_t s = 0; s < RM_PAIR_SERVERS; ++s) {
        struct rm_standby const *const standby = &pair->server[s].standby;
        fprintf(stderr,
                "  server %u: %s, role %d for reason %d, term %u of %u, %s; follows cycle %" PRIu64 " of %" PRIu64 "\n",
                s + 1, pair->server[s].alive ? "alive" : "gone", (int)standby->role, (int)standby->reason,
                standby->term, standby->highest_term, standby->unacknowledged ? "unacknowledged" : "acknowledged",
                pair->server[s].next_step, pair->server[s].peer_cycle);
    }
    for (uint32_t c = 0; c < pair->config->chain_count && c < 8; ++c)
        fprintf(stderr, "  chain %u: obeyed term %u, %.1f cycles ago; joined %d %d\n", c, pair->tally.last[c].term,
                (double)(pair->now_ns - pair->tally.last[c].time_ns) / pair->period_ns,
                pair->server[0].contact[c].joined, pair->server[1].contact[c].joined);
}

void rm_pair_say_difference(struct rm_pair const *pair, struct rm_pair_server const *server) {
    enum { MOST_SAID = 5 };
    struct rm_host_replayed const *const told = &server->stepping.told;
    if (server->stepping.differences > MOST_SAID)
        return;
    fprintf(stderr, "cycle %" PRIu64 ": server %u does not follow step %" PRIu64 ": %s: %s\n",
            pair->cycle - pair->first_cycle, server->index + 1, told->step, rm_replay_difference_text(told->differs),
            told->text);
}
