// SPDX-License-Identifier: Apache-2.0
/** Lapping stress: a writer at full speed on a small ring, a reader where the ring is about to be overwritten.
 *
 *     test_stream_lap READS
 *
 * Every word of a record follows from its turn and its turn-counter epoch, so that a word of another record, or of the
 * same turn in another epoch, is told at once. The writer leaves gaps, fills some of them late, and restarts its turn
 * counter now and then, a little lower, so that the ring holds older records of the very turns that come again. The
 * reader asks for turns around the oldest one and in the gaps behind the head. Fails at the first record that is torn,
 * of another turn or of another epoch; and when one of the verdicts never came, because then it tested nothing. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/test_ring.h"

enum {
    CAPACITY = 2048,
    MARGIN = 4, /**< records; far less than a server's, so that the writer is always at the reader's heels */
    LATE_TURNS = 256,
    BURST = 64,              /**< turns between two publishes: the margin asks for more of them */
    EPOCH_TURNS = 2500,      /**< of a turn-counter epoch, on average */
    RESTART_BACK = 3000,     /**< a restart falls back by at most that many turns */
    FIRST_TURN = 1000000,    /**< no restart falls below it */
    EDGE = 8,                /**< turns from the oldest one on that the reader asks for */
    BEHIND_HEAD = 2 * BURST, /**< turns behind the head that it asks for */
    VERDICTS = RM_READ_BEFORE + 1,
    WINDOW = 64,   /**< records */
    WINDOWS = 256, /**< one read of so many is of a window, too */
};

struct stress {
    struct stream_ring ring;
    _Atomic bool stop;
    uint64_t late; /**< records that the writer filled in late */
    uint64_t written;
};

struct tally {
    uint64_t of[VERDICTS];
    uint64_t overtaken; /**< lapped between two looks: the second look at the head refused them */
    uint64_t window_records;
    uint64_t wrong;
};

/** xorshift64: any number that is hard to guess for the processor. */
static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/** Word `i` ≥ 1 of the record of `turn` in turn-counter epoch `epoch`. */
static uint64_t mix(rm_turn turn, uint64_t epoch, uint64_t i) {
    return (turn * 8 + i) * 0x9E3779B97F4A7C15ull + epoch * 0xC2B2AE3D27D4EB4Full;
}

static void put(struct stress *stress, rm_turn turn, uint64_t epoch) {
    uint64_t word[8] = {turn, epoch};
    for (uint64_t i = 2; i < 8; ++i)
        word[i] = mix(turn, epoch, i);
    struct rm_record record;
    memcpy(&record, word, sizeof record);
    stress->late += rm_stream_writer_put(&stress->ring.writer, &record) == RM_PUT_OUT_OF_ORDER;
}

/** A restart by a few turns makes the record that a reader is copying come again; one by many leaves the ring full of
 * turns that come again later. */
static rm_turn fall_back(rm_turn turn, uint64_t random) {
    uint64_t const back = random % 2 ? random / 2 % RESTART_BACK : random / 2 % EDGE;
    return turn > FIRST_TURN + back ? turn - back : turn;
}

static void *write_turns(void *argument) {
    struct stress *stress = argument;
    struct rm_stream_writer *writer = &stress->ring.writer;
    uint64_t seed = 88172645463325252ull;
    uint64_t epoch = 0;
    rm_turn turn = FIRST_TURN;
    while (!atomic_load_explicit(&stress->stop, memory_order_relaxed)) {
        uint64_t const dice = next_random(&seed);
        bool const restart = dice % EPOCH_TURNS == 0;
        if (restart) {
            rm_stream_writer_restart(writer);
            ++epoch;
            turn = fall_back(turn, dice >> 32);
        } else if (dice % 64 == 1) {
            turn += (dice >> 32) % 32;
        } else if (dice % 8192 == 2) {
            turn += (dice >> 32) % (4 * CAPACITY);
        } else if (dice % 32 == 3) {
            put(stress, turn - 1 - (dice >> 32) % 64, epoch);
        }
        put(stress, turn++, epoch);
        ++stress->written;
        if (turn % BURST == 0 || restart)
            rm_stream_writer_publish(writer, 0);
    }
    return NULL;
}

/** Whole, of `turn`, and of a turn-counter epoch between those seen before and after. */
static bool right(struct rm_record const *record, rm_turn turn, uint64_t before, uint64_t after) {
    uint64_t word[8];
    memcpy(word, record, sizeof word);
    bool good = word[0] == turn && word[1] >= before && word[1] <= after;
    for (uint64_t i = 2; i < 8; ++i)
        good = good && word[i] == mix(turn, word[1], i);
    return good;
}

static uint64_t turn_epoch(struct stress const *stress) {
    return atomic_load_explicit(&stress->ring.stream->turn_epoch, memory_order_acquire);
}

static void report(struct rm_record const *record, rm_turn turn, uint64_t before, uint64_t after) {
    uint64_t word[8];
    memcpy(word, record, sizeof word);
    printf("WRONG: asked for turn %" PRIu64 " in epoch %" PRIu64 " to %" PRIu64 ", got turn %" PRIu64
           " of epoch %" PRIu64 "; words of it:",
           turn, before, after, word[0], word[1]);
    for (uint64_t i = 2; i < 8; ++i)
        printf(" %s", word[i] == mix(word[0], word[1], i) ? "whole" : "torn");
    printf("\n");
}

/** A window of records is of one turn-counter epoch, the one that it names. */
static void read_window(struct stress const *stress, rm_turn first, struct tally *tally) {
    struct rm_record records[WINDOW];
    uint8_t results[WINDOW];
    struct rm_stream_look look;
    size_t const good = rm_stream_read_results(&stress->ring.view, first, WINDOW, records, results, &look);
    size_t whole = 0;
    for (uint64_t i = 0; i < WINDOW; ++i) {
        whole += results[i] == RM_READ_OK;
        if (results[i] != RM_READ_OK || right(&records[i], first + i, look.turn_epoch, look.turn_epoch))
            continue;
        if (++tally->wrong == 1)
            report(&records[i], first + i, look.turn_epoch, look.turn_epoch);
    }
    tally->wrong += whole != good;
    tally->window_records += good;
}

static void read_one(struct stress const *stress, uint64_t random, struct tally *tally) {
    struct rm_stream_view const *view = &stress->ring.view;
    uint64_t const before = turn_epoch(stress);
    rm_turn const head = rm_stream_head(view);
    rm_turn const oldest = rm_stream_oldest(view, head, 0);
    rm_turn const turn = random & 1 ? oldest - 1 + (random >> 32) % EDGE : head + 2 - (random >> 32) % BEHIND_HEAD;
    struct rm_record record;
    enum rm_read const verdict = rm_stream_read(view, turn, &record);
    ++tally->of[verdict];
    if ((random >> 8) % WINDOWS == 0)
        read_window(stress, turn, tally);
    if (verdict == RM_READ_LAPPED && turn >= oldest)
        ++tally->overtaken;
    if (verdict != RM_READ_OK)
        return;
    uint64_t const after = turn_epoch(stress);
    if (right(&record, turn, before, after))
        return;
    if (++tally->wrong == 1)
        report(&record, turn, before, after);
}

static void count(char const *what, uint64_t number, bool needed, bool *good) {
    bool const missing = needed && number == 0;
    printf("%12" PRIu64 " %s%s\n", number, what, missing ? ": NEVER, so this run shows nothing" : "");
    *good = *good && !missing;
}

static bool judge(struct stress const *stress, struct tally const *tally) {
    bool good = tally->wrong == 0;
    for (int verdict = 0; verdict < VERDICTS; ++verdict)
        count(rm_read_text((enum rm_read)verdict), tally->of[verdict], true, &good);
    count("of the lapped ones were overtaken meanwhile", tally->overtaken, true, &good);
    count("records in windows", tally->window_records, true, &good);
    count("records written", stress->written, true, &good);
    count("of them late, into a gap", stress->late, true, &good);
    count("restarts", turn_epoch(stress), true, &good);
    count("torn, or of another turn or epoch", tally->wrong, false, &good);
    return good;
}

int main(int count_of_arguments, char **arguments) {
    uint64_t const reads = count_of_arguments > 1 ? strtoull(arguments[1], NULL, 10) : 100000000;
    struct stress stress = {.late = 0};
    pthread_t writer;
    if (!test_ring_make(&stress.ring, CAPACITY, MARGIN, 1, LATE_TURNS) ||
        pthread_create(&writer, NULL, write_turns, &stress) != 0) {
        fprintf(stderr, "no memory or no thread for the stress\n");
        return 2;
    }
    struct tally tally = {0};
    uint64_t seed = 1234567891234567ull;
    for (uint64_t i = 0; i < reads; ++i)
        read_one(&stress, next_random(&seed), &tally);
    atomic_store_explicit(&stress.stop, true, memory_order_relaxed);
    pthread_join(writer, NULL);
    bool const good = judge(&stress, &tally);
    test_ring_free(&stress.ring);
    return good ? 0 : 1;
}
