// SPDX-License-Identifier: Apache-2.0
/** Lapping stress of a row ring: a writer at full speed on a ring of eight rows, a reader where a row is about to be
 * overwritten.
 *
 *     test_rows_lap READS
 *
 * Every value of a row follows from its turn and its turn-counter epoch, so that a value of another row, or of the same
 * turn in another epoch, is told at once. The writer skips rows, and restarts its turn counter now and then, so that
 * the very turns come again. Fails at the first row that is torn, of another turn or of another epoch; and when one of
 * the verdicts never came, because then it tested nothing. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timebase.h"
#include "fabric/rows_plan.h"
#include "fabric/rows_writer.h"

enum {
    WIDTH = 1001,
    DEPTH = 7,
    EPOCH_ROWS = 300,   /**< of a turn-counter epoch, on average */
    BACK_ROWS = 12,     /**< a restart falls back by fewer rows than that */
    FIRST_TURN = 10000, /**< no restart falls below it */
    VERDICTS = RM_READ_BEFORE + 1,
};

struct rows_stress {
    struct rm_stream_writer writer;
    struct rm_rows *rows;
    struct rm_rows_view view;
    _Atomic bool stop;
    uint64_t written;
};

struct rows_tally {
    uint64_t of[VERDICTS];
    /** Lapped while they were copied: they were not, when the reader looked first. */
    uint64_t overtaken;
    uint64_t wrong;
};

static bool stress_make(struct rows_stress *stress) {
    struct rm_rows rows;
    struct rm_rows_plan const plan = {.name = "stress", .width = WIDTH, .depth = DEPTH, .period = 1};
    if (rm_rows_describe(&plan, &rows, NULL) != RM_OK)
        return false;
    size_t const bytes = rm_rows_bytes(&rows);
    stress->rows = aligned_alloc(RM_PAGE_BYTES, (bytes + RM_PAGE_BYTES - 1) / RM_PAGE_BYTES * RM_PAGE_BYTES);
    if (stress->rows == NULL)
        return false;
    memset(stress->rows, 0, bytes);
    memcpy(stress->rows, &rows, sizeof rows);
    struct rm_stream *const stream = &stress->rows->stream;
    struct rm_slot *const slot = (struct rm_slot *)((uint8_t *)stream + stream->slots_offset);
    atomic_store(&stream->head, RM_TURN_NONE);
    atomic_store(&stream->first, RM_TURN_NONE);
    for (uint64_t i = 0; i < stream->capacity; ++i)
        atomic_store(&slot[i].word[0], RM_TURN_NONE);
    stress->view = (struct rm_rows_view){
        .header = stress->rows,
        .stream = {.header = stream, .slot = slot, .mask = stream->capacity - 1, .period = 1},
        .values = (uint8_t const *)stress->rows + rows.values_offset,
        .width = WIDTH,
        .row_bytes = rows.row_bytes,
        .unit = "",
    };
    return rm_stream_writer_open(&stress->writer, stream, 0);
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/** Its row's quality has the epoch. Whole numbers below 2^24, which a float holds. */
static float value_of(rm_turn turn, uint64_t epoch, uint64_t i) {
    return (float)((turn * 31 + epoch * 1009 + i * 7) % 16777213);
}

static void *write_rows(void *argument) {
    struct rows_stress *stress = argument;
    static float values[WIDTH];
    uint64_t seed = 88172645463325252ull, epoch = 0;
    rm_turn turn = FIRST_TURN;
    while (!atomic_load_explicit(&stress->stop, memory_order_relaxed)) {
        uint64_t const dice = next_random(&seed);
        if (dice % EPOCH_ROWS == 0) {
            rm_turn const back = (dice >> 32) % BACK_ROWS;
            rm_stream_writer_restart(&stress->writer);
            ++epoch;
            turn = turn > FIRST_TURN + back ? turn - back : turn;
        } else if (dice % 16 == 1) {
            turn += (dice >> 32) % 12;
        }
        for (uint64_t i = 0; i < WIDTH; ++i)
            values[i] = value_of(turn, epoch, i);
        rm_rows_put(&stress->writer, stress->rows, turn++, (uint32_t)epoch, values, 0);
        ++stress->written;
    }
    return NULL;
}

static void read_row(struct rows_stress const *stress, uint64_t random, struct rows_tally *tally) {
    static float values[WIDTH];
    struct rm_record record;
    struct rm_stream_view const *const stream = &stress->view.stream;
    rm_turn const head = rm_stream_head(stream), oldest = rm_stream_oldest(stream, head, 0);
    rm_turn const turn = random & 1 ? oldest - 1 + (random >> 32) % 4 : head + 1 - (random >> 32) % 8;
    enum rm_read const verdict = rm_rows_read(&stress->view, turn, &record, values);
    ++tally->of[verdict];
    tally->overtaken += verdict == RM_READ_LAPPED && turn >= oldest;
    if (verdict != RM_READ_OK)
        return;
    uint64_t wrong = record.turn != turn;
    for (uint64_t i = 0; i < WIDTH; ++i)
        wrong += values[i] != value_of(turn, (uint32_t)record.lane[RM_ROWS_QUALITY].i, i);
    if (wrong > 0 && tally->wrong == 0)
        printf("WRONG: asked for turn %" PRIu64 ", got turn %" PRIu64 " of epoch %d, %" PRIu64 " values of another\n",
               turn, record.turn, record.lane[RM_ROWS_QUALITY].i, wrong);
    tally->wrong += wrong > 0;
}

static bool count(char const *what, uint64_t number, bool needed) {
    bool const missing = needed && number == 0;
    printf("%12" PRIu64 " %s%s\n", number, what, missing ? ": NEVER, so this run shows nothing" : "");
    return !missing;
}

static bool judge(struct rows_stress const *stress, struct rows_tally const *tally) {
    bool good = tally->wrong == 0;
    for (int verdict = 0; verdict < VERDICTS; ++verdict)
        good &= count(rm_read_text((enum rm_read)verdict), tally->of[verdict], true);
    good &= count("of the lapped ones were overtaken meanwhile", tally->overtaken, true);
    good &= count("rows written", stress->written, true);
    good &= count("restarts", atomic_load(&stress->rows->stream.turn_epoch), true);
    count("torn, or of another turn or epoch", tally->wrong, false);
    return good;
}

int main(int argument_count, char **arguments) {
    uint64_t const reads = argument_count > 1 ? strtoull(arguments[1], NULL, 10) : 1000000;
    struct rows_stress stress = {.written = 0};
    pthread_t writer;
    if (!stress_make(&stress) || pthread_create(&writer, NULL, write_rows, &stress) != 0) {
        fprintf(stderr, "no memory or no thread for the stress\n");
        return 2;
    }
    struct rows_tally tally = {0};
    uint64_t seed = 1234567891234567ull;
    while (rm_stream_head(&stress.view.stream) == RM_TURN_NONE)
        rm_pause();
    for (uint64_t i = 0; i < reads; ++i)
        read_row(&stress, next_random(&seed), &tally);
    atomic_store_explicit(&stress.stop, true, memory_order_relaxed);
    pthread_join(writer, NULL);
    bool const good = judge(&stress, &tally);
    rm_stream_writer_close(&stress.writer);
    free(stress.rows);
    return good ? 0 : 1;
}
