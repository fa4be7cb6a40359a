// SPDX-License-Identifier: Apache-2.0
/** A private place for workspaces, removed at the end, and a small segment to put there. */
#ifndef RM_FABRIC_TEST_WORKSPACE_H
#define RM_FABRIC_TEST_WORKSPACE_H

#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/segment_file.h"
#include "fabric/segment_plan.h"

enum { TEST_CAPACITY = 1024 };

/** Handles of what the plan below holds. */
struct test_plan {
    struct rm_segment_plan plan;
    rm_planned_index stream, counters, clock, histogram, text, parameter, group, setting, setpoints, requests, replies,
        grant, rows, images, standby_state, standby_orders, state;
};

/** Adds the objects that setting parameters needs. */
static inline void test_plan_rest(struct test_plan *test) {
    struct rm_limits const limits = {-20.0, 20.0, -10.0, 10.0, -8.0, 8.0, -9.0, 9.0, 0.1};
    struct rm_conversion const conversion = {.unit = "µrad", .c = {0.0, 12.5, 0.01, 0.0}};
    struct rm_grant const grant = {.application = "ramp", .actuator_count = 6};
    struct rm_standby_state const standby = {.server = 2, .chains = 5, .majority = 3};
    test->group = rm_plan_group(&test->plan, "ring/settings", "change together");
    test->setting = rm_plan_full_parameter(&test->plan, &(struct rm_parameter_plan){
                                                            .name = "ring/tunes",
                                                            .unit = "A",
                                                            .type = RM_ELEMENT_F64,
                                                            .rows = 10,
                                                            .columns = 2,
                                                            .limits = &limits,
                                                            .conversion = &conversion,
                                                            .flags = RM_PARAMETER_WRITABLE | RM_PARAMETER_SETTING,
                                                            .group = "ring/settings",
                                                        });
    test->setpoints = rm_plan_setpoints(&test->plan, "setpoints/sent", "rows", 6);
    test->requests = rm_plan_requests(&test->plan, "server/requests", "requests");
    test->replies = rm_plan_replies(&test->plan, "server/replies", "replies");
    test->grant = rm_plan_grant(&test->plan, "grant/ramp", "a grant", &grant);
    test->rows = rm_plan_rows(&test->plan, &(struct rm_rows_plan){
                                               .name = "ring/spectrum",
                                               .unit = "nm",
                                               .description = "spectra",
                                               .width = 21,
                                               .depth = 12,
                                               .period = 100,
                                               .axis_name = "tune",
                                               .axis_unit = "1/turn",
                                               .axis_step = 0.01,
                                           });
    test->images = rm_plan_images(&test->plan, &(struct rm_images_plan){.name = "cam01",
                                                                        .description = "images",
                                                                        .slots = 8,
                                                                        .leases = 3,
                                                                        .frame_bytes = 5000,
                                                                        .fragments_max = 70});
    test->standby_state = rm_plan_standby_state(&test->plan, "standby/state", "a role", &standby);
    test->standby_orders = rm_plan_standby_orders(&test->plan, "standby/orders", "orders");
    test->state = rm_plan_state(&test->plan, "state/ramp", "a state", 100);
}

static inline void test_plan_make(struct test_plan *test, uint64_t capacity) {
    struct rm_stream const stream = {
        .capacity = capacity,
        .period = 1,
        .instrument_kind = RM_KIND_BPM,
        .instrument_id = 7,
        .lane_count = 1,
        .filter = "none",
        .lane = {{.name = "x1", .unit = "nm", .type = RM_LANE_I32}},
    };
    rm_plan_init(&test->plan);
    test->stream = rm_plan_stream(&test->plan, "bpm01/turn", "a position monitor", &stream);
    test->counters = rm_plan_counters(&test->plan, "counters/port/ring", "a port", RM_COUNTER_SET_PORT, 21);
    test->clock = rm_plan_clock(&test->plan, "clock", "the clock");
    test->histogram = rm_plan_histogram(&test->plan, "latency/ring", "a latency", "ticks");
    test->text = rm_plan_text(&test->plan, "server/config", "a text", "key: value\n");
    test->parameter = rm_plan_parameter(&test->plan, "ring/gains", "1/s", "some numbers", RM_ELEMENT_F64, 3, NULL);
    test_plan_rest(test);
}

/** Makes a directory for this process's workspaces and points RINGMASTER_WORKSPACES there. */
static inline bool test_workspaces_make(char *path, size_t bytes) {
    snprintf(path, bytes, "/dev/shm/ringmaster-test-%ld-XXXXXX", (long)getpid());
    return mkdtemp(path) != NULL && setenv("RINGMASTER_WORKSPACES", path, 1) == 0;
}

/** Removes the target of a link to a segment on huge pages, with the folders made for it. */
static inline void test_remove_target(char const *link) {
    char target[PATH_MAX];
    ssize_t const length = readlink(link, target, sizeof target - 1);
    if (length <= 0)
        return;
    target[length] = '\0';
    for (int gone = unlink(target); gone == 0; gone = rmdir(target))
        *strrchr(target, '/') = '\0';
}

static inline int test_remove_one(char const *path, struct stat const *status, int kind, struct FTW *place) {
    (void)status;
    (void)place;
    if (kind == FTW_SL || kind == FTW_SLN)
        test_remove_target(path);
    return remove(path);
}

static inline void test_workspaces_remove(char const *path) { nftw(path, test_remove_one, 8, FTW_DEPTH | FTW_PHYS); }

#endif
