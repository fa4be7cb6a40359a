// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/measure_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "bench/measure/measure_feed.h"
#include "bench/rounds.h"
#include "config/instrument_rates.h"

enum {
    LINE_BYTES = 64,
    BUFFER_LINES = 2, /**< of a packet's buffer that describe it (struct rte_mbuf) */
};

/** What is left outside of it at either end. */
static double const MIDDLE_HALF = 0.25;

static uint64_t touched_bytes(struct rm_config const *config, uint32_t datagrams) {
    uint32_t const frame_lines = (rm_measure_frame_bytes(config, 0) + LINE_BYTES - 1) / LINE_BYTES;
    return (uint64_t)datagrams * (frame_lines + BUFFER_LINES) * LINE_BYTES;
}

static bool print_figure(struct rm_config const *config, struct rm_measure_figure *figure, FILE *out) {
    double *added_ns = calloc(figure->rounds, sizeof *added_ns);
    if (added_ns == NULL)
        return false;
    for (uint32_t i = 0; i < figure->rounds; ++i)
        added_ns[i] = figure->full_ns[i] - figure->poll_ns[i];
    fprintf(out, "{\"name\":\"%s\",\"datagrams\":%u,\"touched_bytes\":%" PRIu64 ",", figure->name, figure->datagrams,
            touched_bytes(config, figure->datagrams));
    bench_figure_print("poll_ns", bench_figure_of(figure->poll_ns, figure->rounds, MIDDLE_HALF), ", ", out);
    bench_figure_print("full_ns", bench_figure_of(figure->full_ns, figure->rounds, MIDDLE_HALF), ", ", out);
    bench_figure_print("added_ns", bench_figure_of(added_ns, figure->rounds, MIDDLE_HALF), "}", out);
    free(added_ns);
    return true;
}

static void print_rates(struct rm_config const *config, FILE *out) {
    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    uint32_t const count = rm_instrument_rates(config, config->instrument[0].period_turns, rate);
    fputs("\"rates\":[", out);
    for (uint32_t i = 0; i < count; ++i)
        fprintf(out, "%s\"%s\"", i == 0 ? "" : ",", rate[i].name);
    fputs("],", out);
}

bool rm_measure_print(struct rm_config const *config, struct rm_measure_conditions const *conditions,
                      struct rm_measure_figure *figure, uint32_t figures, FILE *out) {
    fprintf(out, "{\"instruments\":%u,\"frame_bytes\":%u,", config->instrument_count,
            rm_measure_frame_bytes(config, 0));
    print_rates(config, out);
    fprintf(out, "\"order\":\"%s\",\"simd\":\"%s\",\"huge_pages\":%s,\"ring_bytes\":%" PRIu64 ",\"rounds\":%u,",
            conditions->by_turn ? "turn" : "random", rm_simd_name(conditions->simd),
            conditions->huge_pages ? "true" : "false", rm_config_stream_bytes(config), figure[0].rounds);
    fputs("\"figures\":[", out);
    bool good = true;
    for (uint32_t i = 0; good && i < figures; ++i) {
        fputs(i == 0 ? "" : ",", out);
        good = print_figure(config, &figure[i], out);
    }
    fputs("]}\n", out);
    return good;
}
