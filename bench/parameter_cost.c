// SPDX-License-Identifier: Apache-2.0
/** On one core, back to back: reading and writing parameters of some sizes. */
#include "parameter_cost.h"

#include <stdint.h>
#include <stdio.h>

#include <ringmaster/group.h>

#include "base/timebase.h"

enum { COST_SERIES = 101, COST_ROUNDS = 1000, SHORT_ARRAY = 12, LONG_ARRAY = 336, GROUP_MEMBERS = 4 };

struct parameter_cost {
    struct rm_parameter *one, *alarmed, *twelve, *many, *member[GROUP_MEMBERS];
    struct rm_parameter const *one_seen, *twelve_seen, *many_seen, *member_seen[GROUP_MEMBERS];
    struct rm_group *group;
    struct rm_group const *group_seen;
    struct rm_clock_reading clock;
    struct rm_stamp stamp;
    double value[LONG_ARRAY];
    double sum; /**< of what was read, so that it is */
};

static void read_f64(struct parameter_cost *cost, unsigned round) {
    (void)round;
    cost->sum += rm_parameter_read_f64(cost->one_seen);
}

static void read_any(struct parameter_cost *cost, struct rm_parameter const *parameter, size_t count) {
    struct rm_parameter_reading reading;
    rm_parameter_read(parameter, cost->value, count * sizeof(double), &reading);
    cost->sum += cost->value[0];
}

static void read_whole(struct parameter_cost *cost, unsigned round) {
    (void)round;
    read_any(cost, cost->one_seen, 1);
}

static void read_12(struct parameter_cost *cost, unsigned round) {
    (void)round;
    read_any(cost, cost->twelve_seen, SHORT_ARRAY);
}

static void read_336(struct parameter_cost *cost, unsigned round) {
    (void)round;
    read_any(cost, cost->many_seen, LONG_ARRAY);
}

static void read_group(struct parameter_cost *cost, unsigned round) {
    (void)round;
    uint64_t seen;
    do {
        if (!rm_group_enter(cost->group_seen, &seen))
            bench_fail("the group stays in a change");
        for (int i = 0; i < GROUP_MEMBERS; ++i)
            cost->sum += rm_parameter_read_f64(cost->member_seen[i]);
    } while (!rm_group_leave(cost->group_seen, seen));
}

static void write_f64(struct parameter_cost *cost, unsigned round) {
    rm_parameter_write_f64(cost->one, round, cost->stamp);
}

static void write_stamped(struct parameter_cost *cost, unsigned round) {
    rm_parameter_write_f64(cost->one, round, rm_stamp_of(&cost->clock, rm_tsc(), round));
}

static void write_alarmed(struct parameter_cost *cost, unsigned round) {
    rm_parameter_write_f64(cost->alarmed, round, cost->stamp);
}

static void write_12(struct parameter_cost *cost, unsigned round) {
    cost->value[0] = round;
    rm_parameter_write(cost->twelve, cost->value, SHORT_ARRAY * sizeof(double), cost->stamp);
}

static void write_336(struct parameter_cost *cost, unsigned round) {
    cost->value[0] = round;
    rm_parameter_write(cost->many, cost->value, LONG_ARRAY * sizeof(double), cost->stamp);
}

static void write_group(struct parameter_cost *cost, unsigned round) {
    rm_group_begin(cost->group);
    for (int i = 0; i < GROUP_MEMBERS; ++i)
        rm_parameter_write_f64(cost->member[i], round, cost->stamp);
    rm_group_commit(cost->group, cost->stamp);
}

static struct {
    char const *name;
    void (*act)(struct parameter_cost *cost, unsigned round);
} const acts[] = {
    {"read_f64", read_f64},
    {"read", read_whole},
    {"read_12", read_12},
    {"read_336", read_336},
    {"read_group_4", read_group},
    {"write_f64", write_f64},
    {"write_stamped", write_stamped},
    {"write_alarmed", write_alarmed},
    {"write_12", write_12},
    {"write_336", write_336},
    {"write_group_4", write_group},
};

enum { ACTS = sizeof acts / sizeof *acts };

static void parameter_cost_prepare(struct parameter_cost *cost, char const *where) {
    static struct rm_limits const limits = {.display_low = 0,
                                            .display_high = 1e6,
                                            .control_low = 0,
                                            .control_high = 1e6,
                                            .minor_low = 0,
                                            .minor_high = 1e5,
                                            .major_low = -1,
                                            .major_high = 2e5,
                                            .hysteresis = 1};
    static char const *const names[GROUP_MEMBERS] = {"bench/kp", "bench/ki", "bench/kd", "bench/limit"};
    struct rm_owner *const owner = owner_of(where, "server");
    rm_owner_index const one = plan(owner, "bench/one", 1, NULL, NULL);
    rm_owner_index const alarmed = plan(owner, "bench/alarmed", 1, &limits, NULL);
    rm_owner_index const twelve = plan(owner, "bench/twelve", SHORT_ARRAY, NULL, NULL);
    rm_owner_index const many = plan(owner, "bench/many", LONG_ARRAY, NULL, NULL);
    rm_owner_index const group = rm_owner_group(owner, "bench/group", "");
    rm_owner_index member[GROUP_MEMBERS];
    for (int i = 0; i < GROUP_MEMBERS; ++i)
        member[i] = plan(owner, names[i], 1, NULL, "bench/group");
    open_owner(owner);
    cost->one = rm_owner_memory(owner, one);
    cost->alarmed = rm_owner_memory(owner, alarmed);
    cost->twelve = rm_owner_memory(owner, twelve);
    cost->many = rm_owner_memory(owner, many);
    cost->group = rm_owner_memory(owner, group);
    struct rm_workspace *const workspace = attach(where, RM_OBJECT_PARAMETER, "bench/one");
    cost->one_seen = find(workspace, RM_OBJECT_PARAMETER, "bench/one");
    cost->twelve_seen = find(workspace, RM_OBJECT_PARAMETER, "bench/twelve");
    cost->many_seen = find(workspace, RM_OBJECT_PARAMETER, "bench/many");
    cost->group_seen = find(workspace, RM_OBJECT_GROUP, "bench/group");
    for (int i = 0; i < GROUP_MEMBERS; ++i) {
        cost->member[i] = rm_owner_memory(owner, member[i]);
        cost->member_seen[i] = find(workspace, RM_OBJECT_PARAMETER, names[i]);
    }
}

static double parameter_cost_series(struct parameter_cost *cost, int act) {
    uint64_t const begin = rm_tsc();
    for (unsigned round = 0; round < COST_ROUNDS; ++round)
        acts[act].act(cost, round);
    return (double)(rm_tsc() - begin) / COST_ROUNDS;
}

int measure_cost(char const *where, int cpu) {
    static struct parameter_cost cost;
    static double ns[ACTS][COST_SERIES];
    bench_pin((uint32_t)cpu);
    double const tsc_hz = rm_tsc_hz_measure();
    cost.stamp = rm_stamp_now();
    cost.clock = (struct rm_clock_reading){.tsc_hz = tsc_hz, .tai_tsc = rm_tsc(), .tai_ns = cost.stamp.tai_ns};
    parameter_cost_prepare(&cost, where);
    for (int i = 0; i < COST_SERIES; ++i) {
        for (int act = 0; act < ACTS; ++act)
            ns[act][i] = parameter_cost_series(&cost, act) / tsc_hz * 1e9;
    }
    putchar('{');
    for (int act = 0; act < ACTS; ++act)
        bench_figure_json(acts[act].name, ns[act], COST_SERIES, act + 1 < ACTS ? ", " : "}\n");
    return cost.sum == 0.5;
}
