// SPDX-License-Identifier: Apache-2.0
#include "engine/mirror.h"

#include <stdlib.h>
#include <string.h>

bool rm_mirror_path_init(struct rm_mirror_path *path, rm_counter *counters) {
    *path = (struct rm_mirror_path){.counters = counters};
    path->presence = calloc(RM_MIRROR_RECORDS / 64, sizeof *path->presence);
    return path->presence != NULL;
}

void rm_mirror_path_free(struct rm_mirror_path *path) {
    free(path->presence);
    path->presence = NULL;
}

void rm_mirror_path_restart(struct rm_mirror_path *path) { path->begun = false; }

static uint64_t *word_of(struct rm_mirror_path const *path, uint64_t number) {
    return &path->presence[number % RM_MIRROR_RECORDS / 64];
}

static uint64_t bit_of(uint64_t number) { return 1ull << number % 64; }

/** Adds up what is missing below `number`, while its bits are still kept. */
static void mirror_reconcile(struct rm_mirror_path *path, uint64_t number) {
    for (; path->reconciled < number; ++path->reconciled)
        path->lost += (*word_of(path, path->reconciled) & bit_of(path->reconciled)) == 0;
    rm_counter_set(path->counters, RM_PATH_LOST, path->lost);
}

/** Makes room for records up to `number`. */
static void mirror_path_advance(struct rm_mirror_path *path, uint64_t number) {
    if (number - path->newest >= RM_MIRROR_RECORDS) { /* it was away for longer than is remembered */
        mirror_reconcile(path, path->newest + 1);
        path->lost += number - path->newest - 1;
        memset(path->presence, 0, RM_MIRROR_RECORDS / 8);
        path->reconciled = path->newest = number;
        return;
    }
    if (number >= path->reconciled + RM_MIRROR_RECORDS)
        mirror_reconcile(path, number - RM_MIRROR_RECORDS + 1);
    while (path->newest < number) {
        ++path->newest;
        *word_of(path, path->newest) &= ~bit_of(path->newest);
    }
}

static void mirror_path_begin(struct rm_mirror_path *path, uint64_t number) {
    memset(path->presence, 0, RM_MIRROR_RECORDS / 8);
    path->begun = true;
    path->newest = path->reconciled = number;
}

bool rm_mirror_path_note(struct rm_mirror_path *path, uint64_t number, enum rm_put put) {
    if (put == RM_PUT_BEHIND)
        return false;
    if (!path->begun)
        mirror_path_begin(path, number);
    if (number > path->newest)
        mirror_path_advance(path, number);
    rm_counter_add(path->counters, RM_PATH_RECEIVED, 1);
    bool const known = path->newest - number < RM_MIRROR_RECORDS;
    bool const there = known && (*word_of(path, number) & bit_of(number)) != 0;
    bool const twice = put == RM_PUT_DUPLICATE && there;
    rm_counter_add(path->counters,
                   put != RM_PUT_DUPLICATE ? RM_PATH_FIRST
                   : twice                 ? RM_PATH_DUPLICATE
                                           : RM_PATH_SECOND,
                   1);
    if (known)
        *word_of(path, number) |= bit_of(number);
    return twice;
}

void rm_mirror_path_reconcile(struct rm_mirror_path *path, uint64_t number) {
    if (!path->begun)
        mirror_path_begin(path, number);
    if (number > path->newest)
        mirror_path_advance(path, number);
    mirror_reconcile(path, number);
}
