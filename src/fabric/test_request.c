// SPDX-License-Identifier: Apache-2.0
/** Requests and replies: between two threads, between two processes, judged, refused, overwritten, left behind. */
#include "fabric/test_segment_steps.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

#include <ringmaster/group.h>
#include <ringmaster/request.h>

#include "base/timebase.h"
#include "fabric/doorbell.h"
#include "fabric/owner_names.h"
#include "fabric/owner_parts.h"

static uint64_t const SECOND = 1000000000u;

/** A server by the public interface, with an inbox, that a thread may serve. */
struct server {
    struct rm_owner *owner;
    rm_owner_index current, gains, reading, count, group;
    struct rm_inbox *inbox;
    pthread_t thread;
    _Atomic bool stop;
    uint64_t rounds;
};

static void plan_server(struct server *server) {
    *server = (struct server){.stop = false};
    struct rm_error error;
    assert_ok(rm_owner_new("demo", "server", &server->owner, &error), &error);
    struct rm_limits const limits = {NAN, NAN, -10.0, 10.0, NAN, NAN, NAN, NAN, 0.0};
    struct rm_parameter_plan plan = {.name = "sr/ps/ch_s01_01/setpoint",
                                     .unit = "A",
                                     .type = RM_ELEMENT_F64,
                                     .rows = 1,
                                     .limits = &limits,
                                     .flags = RM_PARAMETER_WRITABLE,
                                     .group = "sr/settings"};
    server->group = rm_owner_group(server->owner, "sr/settings", "");
    server->current = rm_owner_parameter(server->owner, &plan);
    plan = (struct rm_parameter_plan){
        .name = "sr/gains", .type = RM_ELEMENT_F32, .rows = 2000, .flags = RM_PARAMETER_WRITABLE};
    server->gains = rm_owner_parameter(server->owner, &plan);
    plan = (struct rm_parameter_plan){.name = "sr/reading", .type = RM_ELEMENT_F64, .rows = 1};
    server->reading = rm_owner_parameter(server->owner, &plan);
    plan = (struct rm_parameter_plan){
        .name = "sr/count", .type = RM_ELEMENT_I32, .rows = 1, .flags = RM_PARAMETER_WRITABLE, .limits = &limits};
    server->count = rm_owner_parameter(server->owner, &plan);
    rm_owner_replies(server->owner);
}

static void start_inbox(struct server *server) {
    struct rm_error error;
    plan_server(server);
    assert_ok(rm_owner_open(server->owner, &error), &error);
    assert_ok(rm_inbox_new(server->owner, &server->inbox, &error), &error);
}

static void *serve(void *argument) {
    struct server *server = argument;
    struct rm_request request;
    while (!atomic_load(&server->stop)) {
        rm_inbox_look(server->inbox);
        while (rm_inbox_take(server->inbox, &request))
            rm_inbox_apply(server->inbox, &request, rm_stamp_now());
        ++server->rounds;
        rm_inbox_wait(server->inbox, SECOND / 10);
    }
    return NULL;
}

static void start_serving(struct server *server) {
    start_inbox(server);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void stop_inbox(struct server *server) {
    rm_inbox_free(server->inbox);
    rm_owner_close(server->owner);
}

static void stop_serving(struct server *server) {
    atomic_store(&server->stop, true);
    pthread_join(server->thread, NULL);
    stop_inbox(server);
}

static struct rm_owner *ask(char const *name) {
    struct rm_owner *owner;
    struct rm_error error;
    assert_ok(rm_owner_new_requester("demo", name, &owner, &error), &error);
    rm_owner_requests(owner);
    assert_ok(rm_owner_open(owner, &error), &error);
    return owner;
}

/** A requester, attached to the workspace. */
struct asker {
    struct rm_owner *owner;
    struct rm_workspace *workspace;
    struct rm_reply reply;
    struct rm_error error;
};

static void begin_asking(struct segment_test *test, struct asker *asker) {
    *asker = (struct asker){.owner = ask("put"), .workspace = attach(test, 0)};
}

static void end_asking(struct asker *asker) {
    rm_workspace_detach(asker->workspace);
    rm_owner_close(asker->owner);
}

static enum rm_code put(struct asker *asker, char const *name, uint64_t first, void const *values, size_t bytes) {
    return rm_requests_put(asker->owner, asker->workspace, name, first, values, bytes, 20 * SECOND, &asker->reply,
                           &asker->error);
}

static void assert_done(struct asker *asker, char const *name, uint64_t first, void const *values, size_t bytes) {
    assert_ok(put(asker, name, first, values, bytes), &asker->error);
    if (asker->reply.verdict != RM_VERDICT_DONE)
        fail_msg("%s", asker->reply.reason);
    assert_string_equal(asker->reply.reason, "");
}

static void assert_not_done(struct asker *asker, char const *name, double value, char const *reason) {
    assert_ok(put(asker, name, 0, &value, sizeof value), &asker->error);
    assert_int_equal(asker->reply.verdict, RM_VERDICT_REFUSED);
    assert_string_equal(asker->reply.reason, reason);
}

static void test_done_and_refused(void **state) {
    struct segment_test *test = *state;
    struct server server;
    struct asker asker;
    start_serving(&server);
    begin_asking(test, &asker);
    char const *const name = "sr/ps/ch_s01_01/setpoint";
    double value = 1.25;
    assert_done(&asker, name, 0, &value, sizeof value);
    struct rm_parameter *current = rm_owner_memory(server.owner, server.current);
    assert_true(rm_parameter_read_f64(current) == 1.25);
    assert_true(asker.reply.timestamp_tai_ns > 0);
    struct rm_group *group = rm_owner_memory(server.owner, server.group);
    assert_int_equal(atomic_load(&group->sequence), 2); // its group changed with it
    assert_not_done(&asker, name, 12.5, "sr/ps/ch_s01_01/setpoint: 12.5 A is above the control limit of 10 A");
    assert_not_done(&asker, name, -10.5, "sr/ps/ch_s01_01/setpoint: -10.5 A is below the control limit of -10 A");
    assert_not_done(&asker, name, NAN, "sr/ps/ch_s01_01/setpoint: NaN is no number to set it to");
    assert_not_done(&asker, name, INFINITY, "sr/ps/ch_s01_01/setpoint: infinity is no number to set it to");
    assert_not_done(&asker, "sr/reading", 1.0, "sr/reading: its owner alone sets it");
    assert_true(rm_parameter_read_f64(current) == 1.25);
    int32_t const count = 11;
    assert_ok(put(&asker, "sr/count", 0, &count, sizeof count), &asker.error);
    assert_string_equal(asker.reply.reason, "sr/count: 11 is above the control limit of 10");
    struct rm_replies const *replies = rm_owner_memory(server.owner, server.owner->replies);
    assert_int_equal(atomic_load(&replies->head), 7);
    assert_int_equal(atomic_load(&replies->refused), 6);
    end_asking(&asker);
    stop_serving(&server);
}

static void test_parts(void **state) {
    struct segment_test *test = *state;
    struct server server;
    struct asker asker;
    start_serving(&server);
    begin_asking(test, &asker);
    float part[RM_REQUEST_VALUE_BYTES / sizeof(float)], all[2000];
    for (size_t i = 0; i < RM_REQUEST_VALUE_BYTES / sizeof(float); ++i)
        part[i] = (float)(i + 1);
    assert_done(&asker, "sr/gains", 1999, part, sizeof(float));
    assert_done(&asker, "sr/gains", 1, part, sizeof part);
    struct rm_parameter_reading reading;
    rm_parameter_read(rm_owner_memory(server.owner, server.gains), all, sizeof all, &reading);
    assert_true(all[0] == 0.0f && all[1] == 1.0f && all[1024] == 1024.0f && all[1025] == 0.0f && all[1999] == 1.0f);
    struct {
        uint64_t first;
        size_t bytes;
    } const wrong[] = {{2000, 4}, {1999, 8}, {0, 0}, {0, 3}, {UINT64_MAX, 4}, {0, sizeof part + 4}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
        assert_int_equal(put(&asker, "sr/gains", wrong[i].first, all, wrong[i].bytes), RM_E_ARGUMENT);
    assert_int_equal(put(&asker, "sr/gain", 0, all, 4), RM_E_NOT_FOUND);
    assert_non_null(strstr(asker.error.text, "sr/gains"));
    end_asking(&asker);
    stop_serving(&server);
}

/** In the child: sets a value that names the process, over and over. */
static int ask_often(struct segment_test *test, double value, int times) {
    struct asker asker;
    begin_asking(test, &asker);
    for (int i = 0; i < times; ++i)
        if (put(&asker, "sr/ps/ch_s01_01/setpoint", 0, &value, sizeof value) != RM_OK ||
            asker.reply.verdict != RM_VERDICT_DONE)
            return 1;
    end_asking(&asker);
    return 0;
}

static void test_processes(void **state) {
    struct segment_test *test = *state;
    enum { CHILDREN = 4, TIMES = 50 };
    struct server server;
    plan_server(&server);
    assert_ok(rm_owner_open(server.owner, &test->error), &test->error);
    pid_t child[CHILDREN];
    for (int i = 0; i < CHILDREN; ++i) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            _exit(ask_often(test, (double)i, TIMES));
    }
    assert_ok(rm_inbox_new(server.owner, &server.inbox, &test->error), &test->error);
    assert_int_equal(pthread_create(&server.thread, NULL, serve, &server), 0);
    for (int i = 0; i < CHILDREN; ++i) {
        int status;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    struct rm_replies const *replies = rm_owner_memory(server.owner, server.owner->replies);
    assert_true(atomic_load(&replies->head) >= CHILDREN * TIMES); // a reply that was overwritten is asked for again
    assert_int_equal(atomic_load(&replies->refused), 0);
    stop_serving(&server);
}

/** Answers, and every other time so many others that the answer is overwritten before its requester looks, most often.
 * A requester that is always overwritten would ask again for ever. */
static void *answer_and_flood(void *argument) {
    struct server *server = argument;
    struct rm_request request;
    unsigned answers = 0;
    rm_inbox_look(server->inbox);
    while (!atomic_load(&server->stop)) {
        if (!rm_inbox_take(server->inbox, &request))
            continue;
        rm_inbox_answer(server->inbox, &request, RM_VERDICT_DONE, NULL);
        if (++answers % 2 == 0)
            continue;
        memcpy(request.requester, "somebody else", 14);
        for (int i = 0; i < RM_REPLY_SLOTS; ++i)
            rm_inbox_answer(server->inbox, &request, RM_VERDICT_DONE, NULL);
    }
    return NULL;
}

static void test_overwritten_replies(void **state) {
    struct segment_test *test = *state;
    struct server server;
    struct asker asker;
    start_inbox(&server);
    begin_asking(test, &asker);
    assert_int_equal(pthread_create(&server.thread, NULL, answer_and_flood, &server), 0);
    for (int i = 0; i < 500; ++i) {
        double const value = 1.0;
        assert_done(&asker, "sr/reading", 0, &value, sizeof value);
    }
    end_asking(&asker);
    stop_serving(&server);
}

/** The bell reaches a sleeper through a mapping that may only be read: were it deaf, this would take ten minutes. */
static void *sleep_long(void *argument) {
    struct server *server = argument;
    rm_inbox_wait(server->inbox, 600 * SECOND);
    return NULL;
}

static void test_doorbell(void **state) {
    struct segment_test *test = *state;
    struct server server;
    struct asker asker;
    start_inbox(&server);
    begin_asking(test, &asker);
    rm_inbox_look(server.inbox);
    pthread_t sleeper;
    assert_int_equal(pthread_create(&sleeper, NULL, sleep_long, &server), 0);
    struct rm_object const *object;
    void const *memory;
    assert_ok(rm_workspace_find(asker.workspace, RM_OBJECT_REPLIES, "server/replies", &object, &memory, &asker.error),
              &asker.error);
    struct timespec const nap = {.tv_nsec = 1000000};
    while (pthread_tryjoin_np(sleeper, NULL) != 0) { // it may not lie down yet
        rm_doorbell_ring(&((struct rm_replies const *)memory)->doorbell);
        nanosleep(&nap, NULL);
    }
    double const value = 1.0;
    uint64_t number;
    assert_ok(rm_requests_post(asker.owner, asker.workspace, "sr/reading", 0, &value, 8, &number, &asker.error),
              &asker.error);
    rm_inbox_wait(server.inbox, 600 * SECOND); // something waits: no sleep
    end_asking(&asker);
    stop_inbox(&server);
}

/** More under way than there are slots: the newest are answered, the others are counted. */
static void test_overwritten(void **state) {
    struct segment_test *test = *state;
    enum { POSTED = 100, KEPT = RM_REQUEST_SLOTS - 1 };
    struct server server;
    struct asker asker;
    struct rm_request request;
    start_inbox(&server);
    begin_asking(test, &asker);
    rm_inbox_look(server.inbox);
    assert_false(rm_inbox_take(server.inbox, &request));
    uint64_t number = 0;
    for (int i = 0; i < POSTED; ++i) {
        double const value = i;
        assert_ok(rm_requests_post(asker.owner, asker.workspace, "sr/reading", 0, &value, 8, &number, &asker.error),
                  &asker.error);
        assert_int_equal(number, i + 1);
    }
    for (uint64_t n = POSTED - KEPT + 1; n <= POSTED; ++n) {
        assert_true(rm_inbox_take(server.inbox, &request));
        assert_int_equal(request.number, n);
        assert_int_equal(request.requester_uid, geteuid());
        assert_string_equal(request.parameter, "sr/reading");
        assert_string_equal(request.requester, asker.owner->name);
        double value;
        memcpy(&value, request.value, sizeof value);
        assert_true(value == (double)(n - 1) && request.bytes == 8 && request.first == 0);
        rm_inbox_answer(server.inbox, &request, n % 2 ? RM_VERDICT_DONE : RM_VERDICT_REFUSED, n % 2 ? NULL : "no");
    }
    assert_false(rm_inbox_take(server.inbox, &request));
    struct rm_replies const *replies = rm_owner_memory(server.owner, server.owner->replies);
    assert_int_equal(atomic_load(&replies->missed), POSTED - KEPT);
    for (uint64_t n = 1; n <= POSTED; ++n) {
        bool const answered = n > POSTED - KEPT;
        assert_int_equal(rm_requests_reply(asker.owner, asker.workspace, "server", n, &asker.reply), answered);
        if (answered)
            assert_int_equal(asker.reply.verdict, n % 2 ? RM_VERDICT_DONE : RM_VERDICT_REFUSED);
    }
    assert_false(rm_requests_reply(asker.owner, asker.workspace, "nobody", POSTED, &asker.reply));
    end_asking(&asker);
    stop_inbox(&server);
}

static void test_long_reasons(void **state) {
    struct segment_test *test = *state;
    struct server server;
    struct asker asker;
    start_inbox(&server);
    begin_asking(test, &asker);
    rm_inbox_look(server.inbox);
    double const value = 1.0;
    uint64_t number;
    assert_ok(rm_requests_post(asker.owner, asker.workspace, "sr/reading", 0, &value, 8, &number, &asker.error),
              &asker.error);
    struct rm_request request;
    assert_true(rm_inbox_take(server.inbox, &request));
    char reason[300];
    for (size_t i = 0; i + 2 < sizeof reason; i += 2)
        memcpy(reason + i, "µ", 3); // two bytes each; the field has an odd number of bytes
    rm_inbox_answer(server.inbox, &request, RM_VERDICT_REFUSED, reason);
    assert_true(rm_requests_reply(asker.owner, asker.workspace, "server", number, &asker.reply));
    assert_int_equal(strlen(asker.reply.reason), RM_REASON_BYTES - 2); // no half character
    assert_memory_equal(asker.reply.reason, reason, RM_REASON_BYTES - 2);

    struct rm_parameter *parameter;
    memset(request.parameter, 'n', sizeof request.parameter - 1);
    memcpy(request.parameter + sizeof request.parameter - 9, "/current", 9);
    assert_false(rm_inbox_judge(server.inbox, &request, &parameter, reason));
    assert_null(parameter);
    assert_non_null(strstr(reason, "/current: there is no parameter of that name"));
    assert_true(strlen(reason) < RM_REASON_BYTES);
    end_asking(&asker);
    stop_inbox(&server);
}

/** An owner that does not answer, and one that has ended. */
static void test_no_answer(void **state) {
    struct segment_test *test = *state;
    struct server server;
    struct asker asker;
    start_inbox(&server);
    begin_asking(test, &asker);
    double const value = 1.0;
    assert_int_equal(rm_requests_put(asker.owner, asker.workspace, "sr/reading", 0, &value, 8, SECOND / 100,
                                     &asker.reply, &asker.error),
                     RM_E_BUSY);
    assert_non_null(strstr(asker.error.text, "server"));
    stop_inbox(&server);
    assert_int_equal(put(&asker, "sr/reading", 0, &value, 8), RM_E_DEAD);
    end_asking(&asker);
}

/** Two that are asked for before either is waited for; and one that is waited for in vain, and whose owner ends. */
static void test_posted_together(void **state) {
    struct segment_test *test = *state;
    struct server server;
    struct asker asker;
    struct rm_request request;
    start_inbox(&server);
    begin_asking(test, &asker);
    double const value = 1.0;
    uint64_t number[3];
    for (unsigned i = 0; i < 2; ++i)
        assert_ok(rm_requests_post(asker.owner, asker.workspace, "sr/reading", 0, &value, 8, &number[i], &asker.error),
                  &asker.error);
    rm_inbox_look(server.inbox);
    assert_true(rm_inbox_take(server.inbox, &request));
    rm_inbox_answer(server.inbox, &request, RM_VERDICT_REFUSED, "not now");
    assert_true(rm_inbox_take(server.inbox, &request));
    rm_inbox_answer(server.inbox, &request, RM_VERDICT_DONE, "");
    for (unsigned i = 0; i < 2; ++i) {
        assert_ok(
            rm_requests_wait(asker.owner, asker.workspace, "sr/reading", number[i], 1, &asker.reply, &asker.error),
            &asker.error);
        assert_int_equal(asker.reply.verdict, i == 0 ? RM_VERDICT_REFUSED : RM_VERDICT_DONE);
    }
    assert_ok(rm_requests_post(asker.owner, asker.workspace, "sr/reading", 0, &value, 8, &number[2], &asker.error),
              &asker.error);
    assert_int_equal(rm_requests_wait(asker.owner, asker.workspace, "sr/reading", number[2], SECOND / 100, &asker.reply,
                                      &asker.error),
                     RM_E_BUSY);
    stop_inbox(&server);
    assert_int_equal(rm_requests_wait(asker.owner, asker.workspace, "sr/reading", number[2], 20 * SECOND, &asker.reply,
                                      &asker.error),
                     RM_E_DEAD);
    end_asking(&asker);
}

/** What was asked of an instance that is no more is not done by the next one. */
static void test_asked_of_an_earlier_instance(void **state) {
    struct segment_test *test = *state;
    struct server server;
    struct asker asker;
    struct rm_request request;
    start_inbox(&server);
    begin_asking(test, &asker);
    double const value = 1.0;
    uint64_t number;
    assert_ok(rm_requests_post(asker.owner, asker.workspace, "sr/reading", 0, &value, 8, &number, &asker.error),
              &asker.error);
    stop_inbox(&server);
    start_inbox(&server);
    assert_true(rm_owner_adopted(server.owner));
    rm_inbox_look(server.inbox);
    assert_false(rm_inbox_take(server.inbox, &request));
    assert_ok(rm_requests_post(asker.owner, asker.workspace, "sr/reading", 0, &value, 8, &number, &asker.error),
              &asker.error);
    assert_true(rm_inbox_take(server.inbox, &request));
    assert_int_equal(request.number, 2);
    end_asking(&asker);
    stop_inbox(&server);
}

/** An application asks too; when it starts again its requests are numbered from 1, and are new ones. */
static void test_requester_that_restarts(void **state) {
    struct segment_test *test = *state;
    struct server server;
    struct rm_request request;
    start_inbox(&server);
    struct rm_workspace *workspace = attach(test, 0);
    for (uint64_t generation = 1; generation <= 3; ++generation) {
        struct rm_owner *owner;
        assert_ok(rm_owner_new("demo", "ramp", &owner, &test->error), &test->error);
        rm_owner_requests(owner);
        assert_ok(rm_owner_open(owner, &test->error), &test->error);
        rm_inbox_look(server.inbox);
        for (uint64_t n = 1; n <= generation; ++n) {
            double const value = 1.0;
            uint64_t number;
            assert_ok(rm_requests_post(owner, workspace, "sr/reading", 0, &value, 8, &number, &test->error),
                      &test->error);
            assert_int_equal(number, n);
            assert_true(rm_inbox_take(server.inbox, &request));
            assert_int_equal(request.number, n);
            assert_int_equal(request.requester_generation, generation);
            assert_string_equal(request.requester, "ramp");
            rm_inbox_answer(server.inbox, &request, RM_VERDICT_DONE, NULL);
            struct rm_reply reply;
            assert_true(rm_requests_reply(owner, workspace, "server", number, &reply));
        }
        assert_false(rm_inbox_take(server.inbox, &request));
        rm_owner_close(owner);
    }
    rm_workspace_detach(workspace);
    stop_inbox(&server);
}

static void ask_and_stay(struct segment_test *test) {
    struct asker asker;
    begin_asking(test, &asker);
    double const value = 1.0;
    uint64_t number;
    rm_requests_post(asker.owner, asker.workspace, "sr/reading", 0, &value, 8, &number, &asker.error);
}

/** What a killed requester asked is still answered; then its files are cleared away, and its place is free. */
static void test_dead_requesters(void **state) {
    struct segment_test *test = *state;
    struct server server;
    struct rm_request request;
    start_inbox(&server);
    for (int i = 0; i < RM_REQUESTERS_PER_USER + 8; ++i) { // more than there are places
        kill_owner(fork_owner(test, ask_and_stay));
        rm_inbox_look(server.inbox);
        assert_true(rm_inbox_take(server.inbox, &request));
        rm_inbox_look(server.inbox);
    }
    char path[PATH_MAX];
    path_of(test, "requests", path);
    struct rm_owner_names names;
    rm_owner_names_list_in(&names, path);
    assert_int_equal(names.count, 0);
    rm_owner_names_free(&names);
    stop_inbox(&server);
}

/** Owners that make no requests, as many as a reader maps, take no place from a requester. */
static void test_crowd_of_owners(void **state) {
    struct segment_test *test = *state;
    enum { CROWD = RM_OWNERS_MAX - 1 }; // and the server
    struct rm_owner *crowd[CROWD], *late;
    struct server server;
    for (int i = 0; i < CROWD; ++i) {
        char name[RM_OWNER_BYTES];
        snprintf(name, sizeof name, "crowd%d", i);
        assert_ok(rm_owner_new("demo", name, &crowd[i], &test->error), &test->error);
        snprintf(name, sizeof name, "crowd%d/one", i);
        rm_owner_parameter(crowd[i], &(struct rm_parameter_plan){.name = name, .type = RM_ELEMENT_F64, .rows = 1});
        assert_ok(rm_owner_open(crowd[i], &test->error), &test->error);
    }
    start_inbox(&server);
    assert_ok(rm_owner_new("demo", "late", &late, &test->error), &test->error);
    assert_int_equal(rm_owner_open(late, &test->error), RM_E_NO_SPACE);
    assert_non_null(strstr(test->error.text, "\"late\" has no place"));
    rm_owner_close(late);
    struct asker asker;
    struct rm_request request;
    double const value = 1.0;
    uint64_t number;
    begin_asking(test, &asker);
    assert_ok(
        rm_requests_post(asker.owner, asker.workspace, "sr/reading", 0, &value, sizeof value, &number, &asker.error),
        &asker.error);
    rm_inbox_look(server.inbox);
    assert_true(rm_inbox_take(server.inbox, &request));
    end_asking(&asker);
    stop_inbox(&server);
    for (int i = 0; i < CROWD; ++i)
        rm_owner_close(crowd[i]);
}

static void assert_refused_a_place(struct segment_test *test) {
    struct rm_owner *owner;
    char expected[64];
    assert_ok(rm_owner_new_requester("demo", "late", &owner, &test->error), &test->error);
    rm_owner_requests(owner);
    assert_int_equal(rm_owner_open(owner, &test->error), RM_E_BUSY);
    snprintf(expected, sizeof expected, "%d programs of your user hold a place", RM_REQUESTERS_PER_USER);
    assert_non_null(strstr(test->error.text, expected));
    rm_owner_close(owner);
}

/** All that one user may have open are served, the last as the first; one more is told at once that there is no place,
 * and why; and a place that is given back is free. */
static void test_places_of_a_user(void **state) {
    struct segment_test *test = *state;
    static struct asker asker[RM_REQUESTERS_PER_USER];
    struct server server;
    struct rm_request request;
    double const value = 1.0;
    uint64_t number;
    start_inbox(&server);
    for (int i = 0; i < RM_REQUESTERS_PER_USER; ++i) {
        begin_asking(test, &asker[i]);
        assert_ok(rm_requests_post(asker[i].owner, asker[i].workspace, "sr/reading", 0, &value, sizeof value, &number,
                                   &asker[i].error),
                  &asker[i].error);
    }
    assert_refused_a_place(test);
    rm_inbox_look(server.inbox);
    for (int i = 0; i < RM_REQUESTERS_PER_USER; ++i)
        assert_true(rm_inbox_take(server.inbox, &request));
    assert_false(rm_inbox_take(server.inbox, &request));
    end_asking(&asker[0]);
    begin_asking(test, &asker[0]);
    for (int i = 0; i < RM_REQUESTERS_PER_USER; ++i)
        end_asking(&asker[i]);
    stop_inbox(&server);
}

static void test_owner_without_replies(void **state) {
    struct segment_test *test = *state;
    struct rm_owner *quiet = NULL;
    struct server server;
    struct asker asker;
    double const value = 1.0;
    start_inbox(&server);
    assert_ok(rm_owner_new("demo", "quiet", &quiet, &test->error), &test->error);
    rm_owner_parameter(quiet, &(struct rm_parameter_plan){.name = "quiet/reading", .type = RM_ELEMENT_F64, .rows = 1});
    assert_ok(rm_owner_open(quiet, &test->error), &test->error);
    begin_asking(test, &asker);
    assert_int_equal(put(&asker, "quiet/reading", 0, &value, sizeof value), RM_E_NOT_FOUND);
    assert_string_equal(asker.error.text, "quiet/reading: its owner, quiet, answers no requests");
    end_asking(&asker);
    rm_owner_close(quiet);
    stop_inbox(&server);
}

/** A requester that asks after another of the same process has gone is not given that one's reply. */
static void test_replies_to_another(void **state) {
    struct segment_test *test = *state;
    struct server server;
    char name[RM_OWNER_BYTES];
    double const value = 1.0;
    uint64_t number = 0;
    start_inbox(&server);
    for (int i = 0; i < 3; ++i) {
        struct asker asker;
        struct rm_request request;
        begin_asking(test, &asker);
        if (i > 0)
            assert_string_not_equal(asker.owner->name, name);
        memcpy(name, asker.owner->name, sizeof name);
        assert_ok(rm_requests_post(asker.owner, asker.workspace, "sr/reading", 0, &value, 8, &number, &asker.error),
                  &asker.error);
        assert_false(rm_requests_reply(asker.owner, asker.workspace, "server", number, &asker.reply));
        rm_inbox_look(server.inbox);
        assert_true(rm_inbox_take(server.inbox, &request));
        rm_inbox_answer(server.inbox, &request, RM_VERDICT_DONE, NULL);
        assert_true(rm_requests_reply(asker.owner, asker.workspace, "server", number, &asker.reply));
        end_asking(&asker);
    }
    stop_inbox(&server);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_done_and_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_processes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_overwritten_replies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_doorbell, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_overwritten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_reasons, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_posted_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_asked_of_an_earlier_instance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_requester_that_restarts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dead_requesters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_crowd_of_owners, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_places_of_a_user, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_owner_without_replies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replies_to_another, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
