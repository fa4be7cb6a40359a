// SPDX-License-Identifier: Apache-2.0
#include "probes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fail.h"

enum rm_code rm_probes_make(struct rm_probes *probes, uint64_t count, uint64_t warm_up, double period,
                            struct rm_error *error) {
    *probes = (struct rm_probes){.count = count, .warm_up = warm_up, .period = period};
    if (count > RM_PROBES_MOST)
        return rm_fail(error, RM_E_ARGUMENT, "%llu probes; at most %d fit: lower the rate or the time",
                       (unsigned long long)count, RM_PROBES_MOST);
    void *const memory = mmap(NULL, count * sizeof *probes->times, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %llu probes: %s; lower the rate or the time",
                       (unsigned long long)count, strerror(errno));
    probes->times = memory;
    return RM_OK;
}

void rm_probes_free(struct rm_probes *probes) {
    if (probes->times != NULL)
        munmap(probes->times, probes->count * sizeof *probes->times);
}

void rm_probes_sent(struct rm_probes *probes, uint64_t now) {
    uint64_t const due = rm_probes_due(probes, probes->next);
    probes->late += probes->next >= probes->warm_up && now > due && (double)(now - due) > probes->period;
    probes->times[probes->next++].sent = now;
}

bool rm_probes_answered(struct rm_probes *probes, uint64_t number, uint64_t now) {
    if (number >= probes->next)
        return false;
    struct rm_probe_times *const times = &probes->times[number];
    if (times->received != 0) {
        probes->duplicate += number >= probes->warm_up;
        return true;
    }
    times->received = now;
    ++probes->answered;
    return true;
}

struct rm_probes_summary rm_probes_sum(struct rm_probes const *probes) {
    struct rm_probes_summary sum = {0};
    for (uint64_t i = probes->warm_up; i < probes->next; ++i) {
        ++sum.probes;
        sum.received += probes->times[i].received != 0;
    }
    sum.lost = sum.probes - sum.received;
    if (sum.probes != 0)
        sum.ticks =
            (double)(probes->times[probes->next - 1].sent - rm_probes_due(probes, probes->warm_up)) + probes->period;
    return sum;
}

enum rm_code rm_probes_write(struct rm_probes const *probes, char const *path, struct rm_error *error) {
    FILE *const file = fopen(path, "wbe");
    if (file == NULL)
        return rm_fail(error, RM_E_SYSTEM, "cannot write the samples to %s: %s", path, strerror(errno));
    bool good = true;
    for (uint64_t i = probes->warm_up; i < probes->next && good; ++i) {
        uint64_t const row[] = {rm_probes_due(probes, i), probes->times[i].sent, probes->times[i].received};
        good = fwrite(row, sizeof row, 1, file) == 1;
    }
    if (fclose(file) == 0 && good)
        return RM_OK;
    return rm_fail(error, RM_E_SYSTEM, "cannot write all samples to %s: %s; make room there", path, strerror(errno));
}
