// SPDX-License-Identifier: Apache-2.0
#include "summary.h"

#include <inttypes.h>

#include "fabric/counter_names.h"

/** The counters of faults. */
static enum rm_sender_counter const faults[] = {
    RM_SENDER_DROPPED,   RM_SENDER_DUPLICATED,    RM_SENDER_REORDERED,  RM_SENDER_DELAYED,     RM_SENDER_CORRUPTED,
    RM_SENDER_TRUNCATED, RM_SENDER_WRONG_VERSION, RM_SENDER_TURN_JUMPS, RM_SENDER_TURN_RESETS,
};
enum { FAULTS = sizeof faults / sizeof faults[0] };

static uint64_t sum_sender_counter(struct rm_summary const *summary, enum rm_sender_counter counter) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < summary->blocks; ++i)
        total += rm_counter_get(summary->counters[i], counter);
    return total;
}

static double longest_wait_us(struct rm_summary const *summary) {
    uint64_t longest = 0;
    for (uint32_t i = 0; i < summary->blocks; ++i) {
        uint64_t const ticks = rm_counter_get(summary->counters[i], RM_SENDER_LONGEST_WAIT_TICKS);
        if (ticks > longest)
            longest = ticks;
    }
    return 1e6 * (double)longest / summary->tsc_hz;
}

static double per_second(struct rm_summary const *summary, uint64_t count) {
    return summary->result.seconds > 0 ? (double)count / summary->result.seconds : 0;
}

static uint64_t sum_supply(struct rm_summary const *summary, enum rm_supply_counter counter) {
    uint64_t total = 0;
    for (uint32_t c = 0; c < summary->chains; ++c)
        total += rm_counter_get(summary->supply_counters[c], counter);
    return total;
}

static uint64_t sum_refused(struct rm_summary const *summary) {
    return sum_supply(summary, RM_SUPPLY_MALFORMED) + sum_supply(summary, RM_SUPPLY_MISDIRECTED) +
           sum_supply(summary, RM_SUPPLY_OLD_TERM) + sum_supply(summary, RM_SUPPLY_REPEATED);
}

/** What the judge counted in the chains' own counters. */
static enum rm_supply_counter const judged[] = {
    RM_SUPPLY_TWO_MASTERS, RM_SUPPLY_OVER_LIMIT, RM_SUPPLY_OVER_SLEW, RM_SUPPLY_CYCLES_MISSED, RM_SUPPLY_CYCLES_DOUBLED,
};
enum { JUDGED = sizeof judged / sizeof judged[0] };

static uint64_t longest_gap(struct rm_summary const *summary) {
    uint64_t longest = 0;
    for (uint32_t c = 0; c < summary->chains; ++c) {
        uint64_t const gap = rm_counter_get(summary->supply_counters[c], RM_SUPPLY_LONGEST_GAP);
        longest = gap > longest ? gap : longest;
    }
    return longest;
}

/** What must not be: nothing is printed for people where there is none of it. */
static void print_violations(struct rm_summary const *summary, FILE *out) {
    struct rm_chain_verdict const *const verdict = summary->verdict;
    uint64_t const masters = sum_supply(summary, RM_SUPPLY_TWO_MASTERS) + verdict->two_instances;
    uint64_t const limits = sum_supply(summary, RM_SUPPLY_OVER_LIMIT), slews = sum_supply(summary, RM_SUPPLY_OVER_SLEW);
    if (masters + limits + slews + verdict->divided != 0)
        fprintf(out,
                "violations: two masters %" PRIu64 ", beyond limits %" PRIu64 ", beyond slew %" PRIu64
                ", divided chains %" PRIu64 "\n",
                masters, limits, slews, verdict->divided);
    if (verdict->swaps != 0)
        fprintf(out, "%" PRIu64 " swaps to another server, of %" PRIu64 " cycles at most\n", verdict->swaps,
                verdict->longest_swap_cycles);
}

static void print_judge_json(struct rm_summary const *summary, FILE *out) {
    struct rm_chain_verdict const *const verdict = summary->verdict;
    fputs(", \"judge\": {", out);
    for (unsigned i = 0; i < JUDGED; ++i)
        fprintf(out, "\"%s\": %" PRIu64 ", ", rm_counter_name(RM_COUNTER_SET_SUPPLY, judged[i]),
                sum_supply(summary, judged[i]));
    fprintf(out,
            "\"longest_gap\": %" PRIu64 ", \"two_instances\": %" PRIu64 ", \"divided\": %" PRIu64
            ", \"longest_divided_cycles\": %.3f, \"swaps\": %" PRIu64 ", \"swap_cycles\": %" PRIu64
            ", \"longest_swap_cycles\": %" PRIu64 "}",
            longest_gap(summary), verdict->two_instances, verdict->divided, verdict->longest_divided_cycles,
            verdict->swaps, verdict->swap_cycles, verdict->longest_swap_cycles);
}

static void print_chains(struct rm_summary const *summary, FILE *out) {
    fprintf(out,
            "%u chains obeyed %" PRIu64 " setpoint datagrams, were asked %" PRIu64 " times, refused %" PRIu64
            ", sent %" PRIu64 " answers\n",
            summary->chains, sum_supply(summary, RM_SUPPLY_SETPOINTS), sum_supply(summary, RM_SUPPLY_QUERIES),
            sum_refused(summary), sum_supply(summary, RM_SUPPLY_ANSWERS));
    if (summary->verdict != NULL)
        print_violations(summary, out);
}

static void print_chains_json(struct rm_summary const *summary, FILE *out) {
    fprintf(out,
            ", \"chains\": %u, \"setpoints\": %" PRIu64 ", \"queries\": %" PRIu64 ", \"refused\": %" PRIu64
            ", \"answers\": %" PRIu64,
            summary->chains, sum_supply(summary, RM_SUPPLY_SETPOINTS), sum_supply(summary, RM_SUPPLY_QUERIES),
            sum_refused(summary), sum_supply(summary, RM_SUPPLY_ANSWERS));
    if (summary->verdict != NULL)
        print_judge_json(summary, out);
}

void rm_summary_print(struct rm_summary const *summary, FILE *out) {
    uint64_t const sent = sum_sender_counter(summary, RM_SENDER_SENT), turns = summary->result.turns;
    if (summary->chains != 0)
        print_chains(summary, out);
    if (summary->instruments == 0)
        return;
    fprintf(out,
            "sent %" PRIu64 " datagrams of %u instruments, %" PRIu64
            " turns in %.3f s (%.0f turns/s, %.3f Mpps); waited "
            "%" PRIu64 " times for the link, %.1f us at most; faults:",
            sent, summary->instruments, turns, summary->result.seconds, per_second(summary, turns),
            1e-6 * per_second(summary, sent), sum_sender_counter(summary, RM_SENDER_WAITS), longest_wait_us(summary));
    bool any = false;
    for (unsigned f = 0; f < FAULTS; ++f) {
        uint64_t const count = sum_sender_counter(summary, faults[f]);
        if (count != 0)
            fprintf(out, "%s %" PRIu64 " %s", any ? "," : "", count, rm_counter_name(RM_COUNTER_SET_SENDER, faults[f]));
        any = any || count != 0;
    }
    fputs(any ? "" : " none", out);
    if (summary->result.link_down_turns != 0)
        fprintf(out, "; %" PRIu64 " turns left out when the link went down", summary->result.link_down_turns);
    if (summary->result.skipped_turns != 0)
        fprintf(out, "; %" PRIu64 " turns passed while it was further behind than its maximum lag",
                summary->result.skipped_turns);
    if (summary->unsent != 0)
        fprintf(out, "; %" PRIu64 " refused by the port", summary->unsent);
    for (uint32_t s = 0; s < RM_CONFIG_SERVERS; ++s)
        if (summary->result.missed[s] != 0)
            fprintf(out, "; %" PRIu64 " not taken by server %s, which the other one has", summary->result.missed[s],
                    summary->server[s].name);
    fputc('\n', out);
}

void rm_summary_print_json(struct rm_summary const *summary, FILE *out) {
    uint64_t const sent = sum_sender_counter(summary, RM_SENDER_SENT), turns = summary->result.turns;
    fprintf(out,
            "{\"instruments\": %u, \"sent\": %" PRIu64 ", \"turns\": %" PRIu64 ", \"link_down_turns\": %" PRIu64
            ", \"skipped_turns\": %" PRIu64 ", \"unsent\": %" PRIu64
            ", \"seconds\": %.6f, \"turn_rate_hz\": %.3f, \"rate_pps\": %.0f, ",
            summary->instruments, sent, turns, summary->result.link_down_turns, summary->result.skipped_turns,
            summary->unsent, summary->result.seconds, per_second(summary, turns), per_second(summary, sent));
    fprintf(out, "\"waits\": %" PRIu64 ", \"wait_us\": %.1f, \"longest_wait_us\": %.1f, ",
            sum_sender_counter(summary, RM_SENDER_WAITS),
            1e6 * (double)sum_sender_counter(summary, RM_SENDER_WAIT_TICKS) / summary->tsc_hz,
            longest_wait_us(summary));
    if (summary->beam != NULL)
        fprintf(out, "\"tune_x\": %.9g, \"tune_y\": %.9g, ", summary->beam->tune_x, summary->beam->tune_y);
    else
        fputs("\"tune_x\": null, \"tune_y\": null, ", out);
    fputs("\"faults\": {", out);
    for (unsigned f = 0; f < FAULTS; ++f)
        fprintf(out, "%s\"%s\": %" PRIu64, f == 0 ? "" : ", ", rm_counter_name(RM_COUNTER_SET_SENDER, faults[f]),
                sum_sender_counter(summary, faults[f]));
    fputc('}', out);
    if (summary->server != NULL)
        fprintf(out, ", \"missed\": {\"%s\": %" PRIu64 ", \"%s\": %" PRIu64 "}", summary->server[0].name,
                summary->result.missed[0], summary->server[1].name, summary->result.missed[1]);
    if (summary->chains != 0)
        print_chains_json(summary, out);
    fputs("}\n", out);
}
