// SPDX-License-Identifier: Apache-2.0
/** The probes of a round-trip measurement, and what became of each: when it was due, when it was sent, when its answer
 * came. All times are TSC ticks. */
#ifndef RM_BENCH_WIRE_PROBES_H
#define RM_BENCH_WIRE_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

/** They take 1 GiB of memory. */
enum { RM_PROBES_MOST = 1 << 26 };

struct rm_probe_times {
    uint64_t sent;
    /** 0: no answer yet. */
    uint64_t received;
};

struct rm_probes {
    struct rm_probe_times *times;
    /** Number of probes to be sent. */
    uint64_t count;
    /** The first so many of them are warm-up, and are not counted. */
    uint64_t warm_up;
    /** Number of the probe to send next, which is how many were sent. */
    uint64_t next;
    /** TSC at which probe 0 is due. */
    uint64_t begin;
    /** Period in TSC ticks. */
    double period;

    uint64_t answered, duplicate, late;
};

/** What was counted, without the warm-up. */
struct rm_probes_summary {
    uint64_t probes, received, lost;
    /** TSC ticks from when the first was due to a period after the last was sent. */
    double ticks;
};

/** Makes room for the probes. The memory is touched, so that no page is fetched while probes fly. RM_E_ARGUMENT for
 * more than RM_PROBES_MOST; RM_E_NO_SPACE. */
enum rm_code rm_probes_make(struct rm_probes *probes, uint64_t count, uint64_t warm_up, double period,
                            struct rm_error *error);
void rm_probes_free(struct rm_probes *probes);

/** TSC at which a probe is due, whatever became of the others. */
static inline uint64_t rm_probes_due(struct rm_probes const *probes, uint64_t number) {
    return probes->begin + (uint64_t)((double)number * probes->period);
}

/** Notes that the next probe has been sent. One that was sent more than a period after it was due is late. */
void rm_probes_sent(struct rm_probes *probes, uint64_t now);

/** Notes an answer. False for one to a probe that was never sent. */
bool rm_probes_answered(struct rm_probes *probes, uint64_t number, uint64_t now);

struct rm_probes_summary rm_probes_sum(struct rm_probes const *probes);

/** Writes three little-endian u64 for each probe sent after the warm-up: due, sent, received. RM_E_SYSTEM. */
enum rm_code rm_probes_write(struct rm_probes const *probes, char const *path, struct rm_error *error);

#endif
