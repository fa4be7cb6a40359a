// SPDX-License-Identifier: Apache-2.0
/** What the model plays, the core plays: in each cycle of each trace the same act, role, term and acknowledgement.
 *
 * A trace is what `spin` prints of a run of model.pml, a line for each thing that a server is told or does:
 *
 *     S s term unack                      server s starts, with a term and a take-over of before
 *     R                                   the next cycle
 *     O s synchronised age role term unack    its orders: a copy so many cycles old, and what the link says of the peer
 *     C s act role term unack             it decides: what the core must come to
 *     A s chain age term obeyed asked silent listening    it hears an answer to a datagram of `age` cycles ago
 *     K, W s cycles                       an operator acknowledges; server s is told of a switch in so many cycles
 *
 * traces/make_traces.py makes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "standby.h"

enum {
    /** As model.pml has them. */
    N = 2,
    CHAINS = 3,
    BEGINS = 10,
    NEVER = 2 * BEGINS + 1,
    PERIOD = 12,
    /** Even, as the model's first round is odd. */
    FIRST_CYCLE = 1000,
};

struct trace_server {
    struct rm_standby core;
    struct rm_standby_orders_reading orders;
};

static struct trace_server server[2];
static uint64_t cycle;
/** So that traces in which nothing happens do not pass. */
static uint32_t decisions, sends, takeovers;

static void trace_start(uint32_t s, int const *word) {
    struct rm_standby_setup const setup = {.server = s + 1,
                                           .chains = CHAINS,
                                           .missed_cycles = N,
                                           .begin_cycles = BEGINS,
                                           .term = (uint32_t)word[1],
                                           .unacknowledged = word[2] != 0};
    rm_standby_make(&server[s].core, &setup);
    server[s].orders = (struct rm_standby_orders_reading){.switch_turn = RM_TURN_NONE};
}

static void trace_order(uint32_t s, int const *word) {
    struct rm_standby_orders_reading *const orders = &server[s].orders;
    ++orders->beat;
    orders->synchronised = word[1] != 0;
    orders->synchronised_turn = (cycle - (uint64_t)word[2]) * PERIOD;
    orders->peer_role = (uint64_t)word[3];
    orders->peer_term = (uint64_t)word[4];
    orders->peer_unacknowledged = word[5] != 0;
}

static void trace_decide(uint32_t s, int const *word) {
    struct rm_standby *const core = &server[s].core;
    struct rm_standby_seen const seen = {
        .cycle = cycle, .turn = cycle * PERIOD, .ran = true, .hears = true, .orders = server[s].orders};
    bool const sent = core->role == RM_STANDBY_ACTIVE;
    assert_int_equal(rm_standby_cycle(core, &seen), word[1]);
    assert_int_equal(core->role, word[2]);
    assert_int_equal(core->term, word[3]);
    assert_int_equal(core->unacknowledged, word[4]);
    ++decisions;
    sends += word[1] == RM_STANDBY_SENDS;
    takeovers += !sent && core->role == RM_STANDBY_ACTIVE && core->reason == RM_STANDBY_TOOK_OVER;
}

static void trace_answer(uint32_t s, int const *word) {
    struct rm_standby_answer const answer = {.cycle = cycle - (uint64_t)word[2],
                                             .term = (uint32_t)word[3],
                                             .obeyed = word[4] != 0,
                                             .asked = word[5] != 0,
                                             .silent_cycles = word[6] >= NEVER ? UINT32_MAX : (uint32_t)word[6],
                                             .listening = word[7] != 0};
    rm_standby_answer(&server[s].core, (uint32_t)word[1], &answer);
}

static void trace_line(char const *line) {
    int word[8] = {0};
    int const words = sscanf(line + 1, "%d %d %d %d %d %d %d %d", &word[0], &word[1], &word[2], &word[3], &word[4],
                             &word[5], &word[6], &word[7]);
    uint32_t const s = words > 0 ? (uint32_t)word[0] : 0;
    assert_in_range(s, 0, 1);
    switch (line[0]) {
    case 'S':
        trace_start(s, word);
        break;
    case 'R':
        ++cycle;
        break;
    case 'O':
        trace_order(s, word);
        break;
    case 'C':
        trace_decide(s, word);
        break;
    case 'A':
        trace_answer(s, word);
        break;
    case 'K':
        ++server[0].orders.acknowledged;
        ++server[1].orders.acknowledged;
        break;
    case 'W':
        server[s].orders.switch_turn = (cycle + (uint64_t)word[1]) * PERIOD;
        break;
    default:
        fail_msg("a line that no trace has: %s", line);
    }
}

/** Which line is being played, for the message of a failure. */
static struct {
    char const *path;
    uint32_t line;
} playing;

static void play_trace(char const *path) {
    char line[128];
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    cycle = FIRST_CYCLE;
    playing.path = path;
    playing.line = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        ++playing.line;
        if (line[0] != '#')
            trace_line(line);
    }
    (void)fclose(file);
}

static void test_traces(void **state) {
    for (char **path = *state; *path != NULL; ++path)
        play_trace(*path);
    assert_true(decisions > 100 && sends > 50);
}

static int say_where(void **state) {
    (void)state;
    print_message("%s, line %u: %u decisions in all, %u to send, %u take-overs\n", playing.path, playing.line,
                  decisions, sends, takeovers);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s TRACE...\n", argv[0]);
        return 2;
    }
    struct CMUnitTest const tests[] = {
        {.name = "test_traces", .test_func = test_traces, .teardown_func = say_where, .initial_state = argv + 1}};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
