// SPDX-License-Identifier: Apache-2.0
#include "receiver_print.h"

#include <stdio.h>

#include "json_text.h"

static unsigned long long receiver_print_whole(uint64_t number) { return number; }

void rm_receiver_print_core(struct rm_receiver_core const *core) {
    struct rm_poll_times const *const polling = &core->polling;
    double const share = core->seconds > 0 ? core->cpu_s / core->seconds : 0;
    printf("{\"core\": %u, \"seconds\": %.6f, \"loops\": %llu, \"busy_loops\": %llu, \"busy_share\": %.4f, ",
           core->core, core->seconds, receiver_print_whole(polling->loops), receiver_print_whole(polling->busy_loops),
           core->sleeps ? share : rm_poll_times_busy_share(polling));
    printf("\"longest_gap_us\": %.1f, \"gaps_over_10us\": %llu, \"cpu_s\": %.6f, \"share\": %.4f}",
           (double)polling->longest_gap / core->tsc_hz * 1e6, receiver_print_whole(polling->gaps_over_10us),
           core->cpu_s, share);
}

static void print_histogram(struct rm_histogram const *histogram, double ns_per_tick) {
    char const *separator = "";
    for (unsigned i = 0; i < RM_HISTOGRAM_BUCKETS; ++i) {
        uint64_t const count = atomic_load_explicit(&histogram->bucket[i], memory_order_relaxed);
        if (count == 0)
            continue;
        printf("%s[%.1f, %llu]", separator, (double)rm_histogram_floor(i) * ns_per_tick, receiver_print_whole(count));
        separator = ", ";
    }
}

static void print_instrument(struct rm_receiver_link const *received, uint32_t flow, double ns_per_tick) {
    struct rm_tally const *const tally = &received->tally[flow];
    printf("%s{\"flow\": %u, \"received\": %llu, \"lost\": %llu", flow == 0 ? "" : ", ", flow,
           receiver_print_whole(tally->received), receiver_print_whole(rm_tally_lost(tally, &received->window.range)));
    if (tally->intervals == 0) {
        printf(", \"mean_ns\": null, \"min_ns\": null, \"max_ns\": null, \"histogram\": []}");
        return;
    }
    uint64_t const largest = atomic_load_explicit(&tally->histogram->largest, memory_order_relaxed);
    printf(", \"mean_ns\": %.4f, \"min_ns\": %.1f, \"max_ns\": %.1f, \"histogram\": [",
           (double)tally->interval_sum / (double)tally->intervals * ns_per_tick,
           (double)tally->interval_least * ns_per_tick, (double)largest * ns_per_tick);
    print_histogram(tally->histogram, ns_per_tick);
    printf("]}");
}

double rm_receiver_link_seconds(struct rm_receiver_link const *received, double tsc_hz) {
    return (double)(received->last_tsc - received->first_tsc) / tsc_hz;
}

void rm_receiver_print_link(struct rm_receiver_link const *received, double tsc_hz) {
    struct rm_receiver_sums const sums = rm_receiver_link_sums(received);
    struct rm_tally_range const *const range = &received->window.range;
    uint64_t const cycles = range->end > range->begin ? range->end - range->begin : 0;
    printf("{\"link\": ");
    rm_json_text(rm_link_text(received->link));
    printf(", \"core\": %u, \"first_cycle\": %llu, \"cycles\": %llu, \"seconds\": %.6f, ", received->core,
           receiver_print_whole(cycles == 0 ? 0 : range->begin), receiver_print_whole(cycles),
           rm_receiver_link_seconds(received, tsc_hz));
    printf("\"received\": %llu, \"bytes\": %llu, \"lost\": %llu, \"duplicate\": %llu, \"reordered\": %llu, ",
           receiver_print_whole(sums.received), receiver_print_whole(received->bytes), receiver_print_whole(sums.lost),
           receiver_print_whole(sums.duplicate), receiver_print_whole(sums.reordered));
    printf("\"foreign\": %llu, \"missed\": %llu, \"instruments\": [",
           receiver_print_whole(received->after.foreign - received->before.foreign + received->unknown),
           receiver_print_whole(received->after.missed - received->before.missed));
    for (uint32_t flow = 0; flow < received->instruments; ++flow)
        print_instrument(received, flow, 1e9 / tsc_hz);
    printf("]}");
}
