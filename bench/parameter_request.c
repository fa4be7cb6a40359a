// SPDX-License-Identifier: Apache-2.0
/** Asking the owner: from the request to its reply, by an owner that polls and by one that sleeps. */
#include "parameter_cost.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ringmaster/request.h>

#include "base/timebase.h"

enum {
    PUTS = 2000,
    WARM_PUTS = 100,
    LOOK_EVERY = 100000, /**< an owner that polls looks for newcomers after so many empty looks at those it knows */
};

enum phase { POLLING = 1, SLEEPING = 2, OVER = 3 };

static void answer_requests(struct ball *ball, char const *where) {
    struct rm_owner *const owner = owner_of(where, "server");
    struct rm_inbox *inbox;
    struct rm_error error;
    plan(owner, "bench/one", 1, NULL, NULL);
    rm_owner_replies(owner);
    open_owner(owner);
    bench_must(rm_inbox_new(owner, &inbox, &error), &error);
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
        bench_must(rm_requests_put(owner, workspace, "bench/one", 0, &value, sizeof value, 2000000000, &reply, &error),
                   &error);
        uint64_t const end = rm_tsc();
        if (reply.verdict != RM_VERDICT_DONE)
            bench_fail(reply.reason);
        if (i >= 0)
            ns[i] = (double)(end - begin) / tsc_hz * 1e9;
    }
}

int measure_request(char const *where, int first, int second) {
    static double polled[PUTS], asleep[PUTS];
    struct ball *const ball = shared();
    atomic_store(&ball->phase, POLLING);
    pid_t const child = beside(second);
    if (child == 0) {
        answer_requests(ball, where);
        _exit(0);
    }
    bench_pin((uint32_t)first);
    double const tsc_hz = rm_tsc_hz_measure();
    while (!atomic_load(&ball->go)) {
        if (waitpid(child, NULL, WNOHANG) == child)
            return 1;
    }
    struct rm_error error;
    struct rm_owner *owner;
    bench_must(rm_owner_new_requester(where, "bench", &owner, &error), &error);
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
    bench_figure_json("put_polled", polled, PUTS, ", ");
    bench_figure_json("put_asleep", asleep, PUTS, "}\n");
    return 0;
}
