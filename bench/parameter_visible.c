// SPDX-License-Identifier: Apache-2.0
/** From core to core: a ball back and forth, by two parameters and by a plain word. */
#include "parameter_cost.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/timebase.h"

enum { BALL_SERIES = 501, BALL_ROUNDS = 200, WARM_ROUNDS = 20 };

/** One process's end of the game. */
struct player {
    struct ball *ball;
    struct rm_parameter *mine;
    struct rm_parameter const *theirs;
    bool begins;
};

static void join_game(struct player *player, char const *where) {
    char const *const own = player->begins ? "bench/ping" : "bench/pong";
    char const *const other = player->begins ? "bench/pong" : "bench/ping";
    struct rm_owner *const owner = owner_of(where, player->begins ? "server" : "bench");
    rm_owner_index const index = plan(owner, own, 1, NULL, NULL);
    open_owner(owner);
    player->mine = rm_owner_memory(owner, index);
    player->theirs = find(attach(where, RM_OBJECT_PARAMETER, other), RM_OBJECT_PARAMETER, other);
}

/** So many rounds; numbers begin above `number`, and each round takes two: the first player's, and the answer. */
static void play_plain(struct player const *player, unsigned number, unsigned rounds) {
    atomic_uint *const ball = &player->ball->plain;
    unsigned const mine = player->begins ? 1 : 2, theirs = 3 - mine;
    for (unsigned round = 0; round < rounds; ++round, number += 2) {
        if (player->begins)
            atomic_store_explicit(ball, number + mine, memory_order_release);
        while (atomic_load_explicit(ball, memory_order_acquire) != number + theirs)
            rm_pause();
        if (!player->begins)
            atomic_store_explicit(ball, number + mine, memory_order_release);
    }
}

/** The same by two parameters, in doubles from the start: nothing is converted on the way. */
static void play_parameter(struct player const *player, double number, unsigned rounds) {
    struct rm_stamp const stamp = {1, 1};
    double const mine = player->begins ? 1 : 2, theirs = 3 - mine;
    for (unsigned round = 0; round < rounds; ++round, number += 2) {
        if (player->begins)
            rm_parameter_write_f64(player->mine, number + mine, stamp);
        for (double const awaited = number + theirs; rm_parameter_read_f64(player->theirs) != awaited;)
            rm_pause();
        if (!player->begins)
            rm_parameter_write_f64(player->mine, number + mine, stamp);
    }
}

static void play_rounds(struct player const *player, unsigned number, unsigned rounds, bool plain) {
    if (plain)
        play_plain(player, number, rounds);
    else
        play_parameter(player, number, rounds);
}

/** Both play the same series: plain and by parameter in turns. Ticks of there and back, to the player that begins. */
static void play_all(struct player const *player, double ticks[2][BALL_SERIES]) {
    unsigned number = 0;
    for (int i = 0; i < 2 * BALL_SERIES; ++i) {
        bool const plain = i % 2 == 0;
        play_rounds(player, number, WARM_ROUNDS, plain);
        number += 2 * WARM_ROUNDS;
        uint64_t const begin = rm_tsc();
        play_rounds(player, number, BALL_ROUNDS, plain);
        ticks[plain][i / 2] = (double)(rm_tsc() - begin) / BALL_ROUNDS;
        number += 2 * BALL_ROUNDS;
    }
}

int measure_visible(char const *where, int first, int second) {
    static double ticks[2][BALL_SERIES], ratios[BALL_SERIES];
    struct player player = {.ball = shared(), .begins = true};
    pid_t const child = beside(second);
    if (child == 0) {
        player.begins = false;
        join_game(&player, where);
        atomic_store(&player.ball->go, true);
        play_all(&player, ticks);
        _exit(0);
    }
    bench_pin((uint32_t)first);
    double const tsc_hz = rm_tsc_hz_measure();
    join_game(&player, where);
    while (!atomic_load(&player.ball->go)) {
        if (waitpid(child, NULL, WNOHANG) == child)
            return 1;
    }
    play_all(&player, ticks);
    waitpid(child, NULL, 0);
    for (int i = 0; i < BALL_SERIES; ++i) {
        ratios[i] = ticks[false][i] / ticks[true][i];
        for (int plain = 0; plain < 2; ++plain)
            ticks[plain][i] *= 1e9 / tsc_hz / 2;
    }
    putchar('{');
    bench_figure_json("plain", ticks[true], BALL_SERIES, ", ");
    bench_figure_json("parameter", ticks[false], BALL_SERIES, ", ");
    bench_figure_json("ratio", ratios, BALL_SERIES, "}\n");
    return 0;
}
