// SPDX-License-Identifier: Apache-2.0
/** What does a parameter cost: to read, to write, to be seen by another core, and to ask its owner for?
 *
 *     ringmaster-parameter-cost cost WORKSPACE CPU          one process, back to back, everything in the first cache
 *     ringmaster-parameter-cost visible WORKSPACE CPU CPU   two processes, a ball back and forth
 *     ringmaster-parameter-cost request WORKSPACE CPU CPU   two processes: put through the owner, until its reply
 *
 * WORKSPACE is one of its own, which it makes and leaves. It is linked to libringmaster.so, as a user's program is:
 * every call goes through the dynamic linker's table. Values are read in the read-only mapping that any reader has, and
 * written in the owner's. Prints a JSON object, nanoseconds.
 *
 * `visible` throws the ball in two ways, series by series in turns: as two parameters, one of either process; and as
 * one plain word in a cache line that both may write, which is what the machine can do (as core_to_core.c has it). Half
 * of there and back is the time from just before a write to its reader having the value.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ringmaster/group.h>
#include <ringmaster/owner.h>
#include <ringmaster/parameter.h>
#include <ringmaster/request.h>
#include <ringmaster/workspace.h>

#include "base/timebase.h"

enum {
    COST_SERIES = 101,
    COST_ROUNDS = 1000,
    BALL_SERIES = 501,
    BALL_ROUNDS = 200,
    WARM_ROUNDS = 20,
    SHORT_ARRAY = 12,
    LONG_ARRAY = 336,
    GROUP_MEMBERS = 4,
    PUTS = 2000,
    WARM_PUTS = 100,
    ATTACH_TRIES = 5000,
    LOOK_EVERY = 100000, /**< an owner that polls looks for newcomers after so many empty looks at those it knows */
};

static void die(char const *what, struct rm_error const *error) {
    fprintf(stderr, "ringmaster-parameter-cost: %s%s%s\n", what, error ? ": " : "", error ? error->text : "");
    exit(1);
}

static void pin(int cpu) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    if (sched_setaffinity(0, sizeof only, &only) != 0)
        die("needs CPUs that it may use", NULL);
}

static int by_value(void const *one, void const *other) {
    double const a = *(double const *)one, b = *(double const *)other;
    return (a > b) - (a < b);
}

static void print(char const *name, double *values, size_t count, char const *end) {
    qsort(values, count, sizeof *values, by_value);
    printf("\"%s\": {\"median\": %.3f, \"low\": %.3f, \"high\": %.3f, \"p99\": %.3f}%s", name, values[count / 2],
           values[count / 10], values[count - 1 - count / 10], values[count - 1 - count / 100], end);
}

static void *find(struct rm_workspace *workspace, enum rm_object_kind kind, char const *name) {
    struct rm_object const *object;
    void const *memory;
    struct rm_error error;
    if (rm_workspace_find(workspace, kind, name, &object, &memory, &error) != RM_OK)
        die("find", &error);
    return (void *)(uintptr_t)memory;
}

/** Attaches once `name` is there. */
static struct rm_workspace *attach(char const *where, enum rm_object_kind kind, char const *name) {
    struct rm_error error = {0};
    for (int tries = 0; tries < ATTACH_TRIES; ++tries) {
        struct rm_workspace *workspace;
        if (rm_workspace_attach(where, 0, &workspace, &error) == RM_OK) {
            struct rm_object const *object;
            void const *memory;
            if (rm_workspace_find(workspace, kind, name, &object, &memory, &error) == RM_OK)
                return workspace;
            rm_workspace_detach(workspace);
        }
        usleep(1000);
    }
    die("attach", &error);
    return NULL;
}

static struct rm_owner *owner_of(char const *where, char const *name) {
    struct rm_owner *owner;
    struct rm_error error;
    if (rm_owner_new(where, name, &owner, &error) != RM_OK)
        die("owner", &error);
    return owner;
}

static void open_owner(struct rm_owner *owner) {
    struct rm_error error;
    if (rm_owner_open(owner, &error) != RM_OK)
        die("open", &error);
}

static rm_owner_index plan(struct rm_owner *owner, char const *name, size_t count, struct rm_limits const *limits,
                           char const *group) {
    struct rm_parameter_plan const planned = {.name = name,
                                              .unit = "A",
                                              .description = "",
                                              .type = RM_ELEMENT_F64,
                                              .rows = count,
                                              .columns = 1,
                                              .limits = limits,
                                              .flags = RM_PARAMETER_WRITABLE,
                                              .group = group};
    return rm_owner_parameter(owner, &planned);
}

/* ── on one core ── */

struct cost {
    struct rm_parameter *one, *alarmed, *twelve, *many, *member[GROUP_MEMBERS];
    struct rm_parameter const *one_seen, *twelve_seen, *many_seen, *member_seen[GROUP_MEMBERS];
    struct rm_group *group;
    struct rm_group const *group_seen;
    struct rm_clock_reading clock;
    struct rm_stamp stamp;
    double value[LONG_ARRAY];
    double sum; /**< of what was read, so that it is */
};

static void read_f64(struct cost *cost, unsigned round) {
    (void)round;
    cost->sum += rm_parameter_read_f64(cost->one_seen);
}

static void read_any(struct cost *cost, struct rm_parameter const *parameter, size_t count) {
    struct rm_parameter_reading reading;
    rm_parameter_read(parameter, cost->value, count * sizeof(double), &reading);
    cost->sum += cost->value[0];
}

static void read_whole(struct cost *cost, unsigned round) {
    (void)round;
    read_any(cost, cost->one_seen, 1);
}

static void read_12(struct cost *cost, unsigned round) {
    (void)round;
    read_any(cost, cost->twelve_seen, SHORT_ARRAY);
}

static void read_336(struct cost *cost, unsigned round) {
    (void)round;
    read_any(cost, cost->many_seen, LONG_ARRAY);
}

static void read_group(struct cost *cost, unsigned round) {
    (void)round;
    uint64_t seen;
    do {
        if (!rm_group_enter(cost->group_seen, &seen))
            die("the group stays in a change", NULL);
        for (int i = 0; i < GROUP_MEMBERS; ++i)
            cost->sum += rm_parameter_read_f64(cost->member_seen[i]);
    } while (!rm_group_leave(cost->group_seen, seen));
}

static void write_f64(struct cost *cost, unsigned round) { rm_parameter_write_f64(cost->one, round, cost->stamp); }

static void write_stamped(struct cost *cost, unsigned round) {
    rm_parameter_write_f64(cost->one, round, rm_stamp_of(&cost->clock, rm_tsc(), round));
}

static void write_alarmed(struct cost *cost, unsigned round) {
    rm_parameter_write_f64(cost->alarmed, round, cost->stamp);
}

static void write_12(struct cost *cost, unsigned round) {
    cost->value[0] = round;
    rm_parameter_write(cost->twelve, cost->value, SHORT_ARRAY * sizeof(double), cost->stamp);
}

static void write_336(struct cost *cost, unsigned round) {
    cost->value[0] = round;
    rm_parameter_write(cost->many, cost->value, LONG_ARRAY * sizeof(double), cost->stamp);
}

static void write_group(struct cost *cost, unsigned round) {
    rm_group_begin(cost->group);
    for (int i = 0; i < GROUP_MEMBERS; ++i)
        rm_parameter_write_f64(cost->member[i], round, cost->stamp);
    rm_group_commit(cost->group, cost->stamp);
}

static struct {
    char const *name;
    void (*act)(struct cost *cost, unsigned round);
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

static void prepare(struct cost *cost, char const *where) {
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

static double series(struct cost *cost, int act) {
    uint64_t const begin = rm_tsc();
    for (unsigned round = 0; round < COST_ROUNDS; ++round)
        acts[act].act(cost, round);
    return (double)(rm_tsc() - begin) / COST_ROUNDS;
}

static int measure_cost(char const *where, int cpu) {
    static struct cost cost;
    static double ns[ACTS][COST_SERIES];
    pin(cpu);
    double const tsc_hz = rm_tsc_hz_measure();
    cost.stamp = rm_stamp_now();
    cost.clock = (struct rm_clock_reading){.tsc_hz = tsc_hz, .tai_tsc = rm_tsc(), .tai_ns = cost.stamp.tai_ns};
    prepare(&cost, where);
    for (int i = 0; i < COST_SERIES; ++i) {
        for (int act = 0; act < ACTS; ++act)
            ns[act][i] = series(&cost, act) / tsc_hz * 1e9;
    }
    putchar('{');
    for (int act = 0; act < ACTS; ++act)
        print(acts[act].name, ns[act], COST_SERIES, act + 1 < ACTS ? ", " : "}\n");
    return cost.sum == 0.5;
}

/* ── from core to core ── */

struct ball {
    _Alignas(64) atomic_uint plain;
    _Alignas(64) atomic_bool go; /**< both have what they need */
    _Alignas(64) atomic_uint phase;
};

static void *shared(void) {
    void *const memory = mmap(NULL, sizeof(struct ball), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        die("no memory", NULL);
    return memory;
}

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

/** So many rounds; numbers begin above `number`, and each round takes two: that of who begins, and the answer. */
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

static void play(struct player const *player, unsigned number, unsigned rounds, bool plain) {
    if (plain)
        play_plain(player, number, rounds);
    else
        play_parameter(player, number, rounds);
}

/** Both play the same series: plain and by parameter in turns. Ticks of there and back, to the one who begins. */
static void play_all(struct player const *player, double ticks[2][BALL_SERIES]) {
    unsigned number = 0;
    for (int i = 0; i < 2 * BALL_SERIES; ++i) {
        bool const plain = i % 2 == 0;
        play(player, number, WARM_ROUNDS, plain);
        number += 2 * WARM_ROUNDS;
        uint64_t const begin = rm_tsc();
        play(player, number, BALL_ROUNDS, plain);
        ticks[plain][i / 2] = (double)(rm_tsc() - begin) / BALL_ROUNDS;
        number += 2 * BALL_ROUNDS;
    }
}

static pid_t beside(int cpu) {
    pid_t const parent = getpid();
    pid_t const child = fork();
    if (child < 0)
        die("cannot fork", NULL);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        pin(cpu);
    }
    return child;
}

static int measure_visible(char const *where, int first, int second) {
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
    pin(first);
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
    print("plain", ticks[true], BALL_SERIES, ", ");
    print("parameter", ticks[false], BALL_SERIES, ", ");
    print("ratio", ratios, BALL_SERIES, "}\n");
    return 0;
}

/* ── asking the owner ── */

enum phase { POLLING = 1, SLEEPING = 2, OVER = 3 };

static void answer(struct ball *ball, char const *where) {
    struct rm_owner *const owner = owner_of(where, "server");
    struct rm_inbox *inbox;
    struct rm_error error;
    plan(owner, "bench/one", 1, NULL, NULL);
    rm_owner_replies(owner);
    open_owner(owner);
    if (rm_inbox_new(owner, &inbox, &error) != RM_OK)
        die("inbox", &error);
    atomic_store(&ball->go, true);
    static struct rm_request request;
    for (unsigned empty = 0; atomic_load(&ball->phase) != OVER;) {
        if (rm_inbox_take(inbox, &request)) {
            rm_inbox_apply(inbox, &request, rm_stamp_now());
            continue;
        }
        if (atomic_load(&ball->phase) == SLEEPING)
            rm_inbox_wait(inbox, 1000000);
        else
            rm_pause();
        if (empty++ % LOOK_EVERY == 0)
            rm_inbox_look(inbox);
    }
}

static void put_all(struct rm_owner *owner, struct rm_workspace *workspace, double ns[PUTS], double tsc_hz) {
    for (int i = -WARM_PUTS; i < PUTS; ++i) {
        double const value = i;
        struct rm_reply reply;
        struct rm_error error;
        uint64_t const begin = rm_tsc();
        if (rm_requests_put(owner, workspace, "bench/one", 0, &value, sizeof value, 2000000000, &reply, &error) !=
            RM_OK)
            die("put", &error);
        uint64_t const end = rm_tsc();
        if (reply.verdict != RM_VERDICT_DONE)
            die(reply.reason, NULL);
        if (i >= 0)
            ns[i] = (double)(end - begin) / tsc_hz * 1e9;
    }
}

static int measure_request(char const *where, int first, int second) {
    static double polled[PUTS], asleep[PUTS];
    struct ball *const ball = shared();
    atomic_store(&ball->phase, POLLING);
    pid_t const child = beside(second);
    if (child == 0) {
        answer(ball, where);
        _exit(0);
    }
    pin(first);
    double const tsc_hz = rm_tsc_hz_measure();
    while (!atomic_load(&ball->go)) {
        if (waitpid(child, NULL, WNOHANG) == child)
            return 1;
    }
    struct rm_error error;
    struct rm_owner *owner;
    if (rm_owner_new_requester(where, "bench", &owner, &error) != RM_OK)
        die("requester", &error);
    rm_owner_requests(owner);
    open_owner(owner);
    struct rm_workspace *const workspace = attach(where, RM_OBJECT_PARAMETER, "bench/one");
    put_all(owner, workspace, polled, tsc_hz);
    atomic_store(&ball->phase, SLEEPING);
    put_all(owner, workspace, asleep, tsc_hz);
    atomic_store(&ball->phase, OVER);
    rm_owner_close(owner);
    waitpid(child, NULL, 0);
    putchar('{');
    print("put_polled", polled, PUTS, ", ");
    print("put_asleep", asleep, PUTS, "}\n");
    return 0;
}

int main(int argc, char **argv) {
    char const *const what = argc > 3 ? argv[1] : "";
    if (strcmp(what, "cost") == 0 && argc == 4)
        return measure_cost(argv[2], atoi(argv[3]));
    if (argc == 5 && atoi(argv[3]) != atoi(argv[4])) {
        if (strcmp(what, "visible") == 0)
            return measure_visible(argv[2], atoi(argv[3]), atoi(argv[4]));
        if (strcmp(what, "request") == 0)
            return measure_request(argv[2], atoi(argv[3]), atoi(argv[4]));
    }
    fprintf(stderr, "Usage: %s cost WORKSPACE CPU | visible WORKSPACE CPU CPU | request WORKSPACE CPU CPU\n", argv[0]);
    return 2;
}
