// SPDX-License-Identifier: Apache-2.0
/** What the programs of bench/ have in common: what is compared takes turns in rounds, and of the rounds there are a
 * median and a spread; times that are counted one by one; and an end where something fails.
 *
 *     static uint64_t copy(void *subject) { …; return copies; }
 *
 *     struct bench_case cases[] = {{"copy", copy, &buffer}, …};
 *     bench_rounds(cases, COUNT, 15);
 *     bench_print(cases, COUNT, 15, "ns per copy", 1);
 */
#ifndef RM_BENCH_ROUNDS_H
#define RM_BENCH_ROUNDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ringmaster/error.h>

/** Of many values. */
struct bench_figure {
    double median, low, high, p99, max;
    size_t count;
};

/** Sorts the values. `outside` is the share of them that is below `low`, and the share that is above `high`: with 0
 * these are the least and the greatest. */
struct bench_figure bench_figure_of(double *values, size_t count, double outside);

/** Prints a member of a JSON object: "NAME": {"median": …, "low": …, "high": …, "p99": …, "max": …, "count": …}; then
 * `end`. */
void bench_figure_print(char const *name, struct bench_figure figure, char const *end, FILE *out);

/** The same of values, without the outermost tenths, to standard output. Sorts them. */
void bench_figure_json(char const *name, double *values, size_t count, char const *end);

/** One of the things that are compared. */
struct bench_case {
    char const *name;
    /** Does it for about a millisecond and returns how often. Ends the program where it goes wrong. */
    uint64_t (*act)(void *subject);

    void *subject;
    /** The case that this one is compared with; NULL: none. */
    struct bench_case const *beside;
    /** Nanoseconds of once, by round: made by bench_rounds(). */
    double *ns;
};

/** Once untimed; then every round has all cases, and begins with another one. Ends the program without memory. */
void bench_rounds(struct bench_case *cases, size_t count, size_t rounds);

/** A line for each case: its name, the median in the unit of so many nanoseconds, and the middle half of the rounds;
 * and the same of its difference to the one that it stands beside, round by round. */
void bench_print(struct bench_case const *cases, size_t count, size_t rounds, char const *unit, double unit_ns);

enum { BENCH_TICKS_MAX = 1 << 20 };

/** How often something took so many ticks. */
struct bench_times {
    uint32_t *count;
    uint64_t total, longest;
};

/** Takes memory at the first call; at others begins anew. */
void bench_times_clear(struct bench_times *times);

static inline void bench_times_take(struct bench_times *times, uint64_t ticks) {
    ++times->count[ticks < BENCH_TICKS_MAX ? ticks : BENCH_TICKS_MAX - 1];
    ++times->total;
    times->longest = ticks > times->longest ? ticks : times->longest;
}

/** The same of such times. */
void bench_times_json(char const *name, struct bench_times const *times, double ns_per_tick, char const *end);

/** Zeros on pages of their own. Ends the program without memory. */
void *bench_allocate(size_t bytes);

/** Ends the program unless the code is RM_OK: "PROGRAM: TEXT". */
void bench_must(enum rm_code code, struct rm_error const *error);

_Noreturn void bench_fail(char const *text);

/** Moves this thread to a CPU, or ends the program. */
void bench_pin(uint32_t cpu);

/** 64 random bits, the same in every run; for one thread. */
uint64_t bench_draw_bits(void);

/** The same as a number from -1 to 1. */
double bench_draw(void);

#endif
