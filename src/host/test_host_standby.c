// SPDX-License-Identifier: Apache-2.0
/** A host of server b follows that of server a, from a copy of its state and its recorded decisions, and leads when the
 * term passes. Argument: the path of test_replayed.so. */
#include "host/host_permissions.h"
#include "host/host_standby.h"
#include "host/host_state_bytes.h"
#include "host/test_replay_tapes.h"

#include <ringmaster/counters.h>
#include <ringmaster/standby.h>

enum { MIRRORED = UNFINISHED, SHORT_LIFE = 600 };

/** What server a left: its tapes, and its state at a step. */
struct left {
    struct replay_test *replay;
    struct rm_state_reading at;
    uint8_t *state;
    size_t room;
};

/** What `ringmaster-standby` writes on server b. */
struct mirror {
    struct rm_owner *owner;
    rm_owner_index state, orders, followed, stream[MIRRORED];
    /** [tape] the record that is put next. */
    uint32_t next[MIRRORED];
};

static int set_up_of_two(void **state) {
    int const failed = set_up(state);
    struct host_test *test = *state;
    if (failed != 0)
        return failed;
    test_server_close(&test->server);
    memset(&test->server, 0, sizeof test->server);
    test_server_plan_of(&test->server, "app", true);
    if (!test_server_open(&test->server))
        return -1;
    test_server_clock(&test->server, 0, BASE, TSC_HZ);
    test_server_send(&test->server, 0.5);
    test->setup.server = "a";
    test->setup.peer = "b";
    test->setup.input_count = TEST_INPUTS;
    test->setup.input = inputs;
    of_a_step = 1;
    return 0;
}

/* ── server a ── */

/** Where an application needs more than there is, there is no state, and nothing is written behind. */
static void assert_no_room(struct rm_host const *host, size_t room) {
    static uint64_t const BEHIND = 0x5A5A5A5A5A5A5A5A;
    static uint8_t bytes[1 << 16];
    assert_true(room <= sizeof bytes - sizeof BEHIND);
    memcpy(bytes + room, &BEHIND, sizeof BEHIND);
    assert_int_equal(rm_host_state_save(host->program, &host->decisions, host->inputs.record, bytes, room), 0);
    assert_memory_equal(bytes + room, &BEHIND, sizeof BEHIND);
}

/** Asks for the state, and goes on until it is there. */
static void copy_state(struct host_test *test, struct left *left) {
    struct host_asker asker = asker_open();
    uint64_t const number = ask(&asker, "app/state_wanted", 1.0);
    struct rm_reply reply;
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (!rm_requests_reply(asker.owner, asker.workspace, "app", number, &reply)) {
        assert_true(rm_monotonic_ns() < end);
        run_cycle(test, left->replay);
        usleep(1000);
    }
    if (reply.verdict != RM_VERDICT_DONE)
        fail_msg("%s", reply.reason);
    asker_close(&asker);
    struct rm_state const *state = test->host->standby->state;
    left->room = state->capacity;
    left->state = malloc(left->room);
    assert_true(rm_state_copy(state, left->state, left->room, &left->at));
    assert_true(left->at.bytes > 0);
    assert_no_room(test->host, left->at.bytes - sizeof(uint64_t));
}

static struct replay_test *replay_new(struct host_test const *test) {
    struct replay_test *replay = calloc(1, sizeof *replay);
    assert_non_null(replay);
    replay->random = 20261126;
    for (unsigned i = 0; i < TAPES; ++i)
        replay->next[i] = test->turn;
    replay->vector = calloc(TAPE_RECORDS, sizeof *replay->vector);
    replay->committed = calloc(TAPE_RECORDS, sizeof *replay->committed);
    assert_true(replay->vector != NULL && replay->committed != NULL);
    return replay;
}

/** Server a leads: some life, a copy of its state, and some more. */
static void lead(struct host_test *test, struct left *left) {
    struct replay_test *const replay = replay_new(test);
    *left = (struct left){.replay = replay};
    test_server_role(&test->server, RM_STANDBY_ACTIVE, RM_STANDBY_BEGAN);
    open_recorded(test, replay);
    run_life(test, replay, SHORT_LIFE, 1);
    copy_state(test, left);
    run_life(test, replay, SHORT_LIFE, adopted_last(replay) + 1);
    rm_workspace_detach(replay->workspace);
    rm_host_close(test->host);
    test->host = NULL;
}

static void left_free(struct left *left) {
    for (unsigned i = 0; i < TAPES; ++i)
        free(left->replay->tape[i].record);
    free(left->replay->vector);
    free(left->replay->committed);
    free(left->replay);
    free(left->state);
}

/* ── server b ── */

static struct mirror mirror_open(struct left const *left) {
    struct mirror mirror = {.owner = NULL};
    struct rm_error error;
    char name[RM_NAME_BYTES];
    if (rm_owner_new("demo", "standby", &mirror.owner, &error) != RM_OK)
        fail_msg("%s", error.text);
    mirror.state = rm_owner_state(mirror.owner, "peer/state/app", "a copy", left->room);
    mirror.orders = rm_owner_standby_orders(mirror.owner, "standby/orders", "what it may do");
    mirror.followed = rm_owner_parameter(
        mirror.owner, &(struct rm_parameter_plan){.name = "peer/followed/app", .type = RM_ELEMENT_U64, .rows = 1});
    for (unsigned i = DECISION; i < MIRRORED; ++i) {
        struct rm_stream stream = left->replay->tape[i].stream;
        snprintf(name, sizeof name, "peer/%s", NAMES[i]);
        stream.capacity = 4096;
        mirror.stream[i] = rm_owner_stream(mirror.owner, name, "of the peer", &stream);
    }
    if (rm_owner_open(mirror.owner, &error) != RM_OK)
        fail_msg("%s", error.text);
    return mirror;
}

/** The copy of the state comes. */
static void mirror_put_state(struct mirror const *mirror, struct left const *left) {
    struct rm_state *state = rm_owner_memory(mirror->owner, mirror->state);
    memcpy(rm_state_begin(state), left->state, left->at.bytes);
    rm_state_commit(state, &left->at);
}

static void mirror_put_stream(struct mirror *mirror, struct left const *left, unsigned i, rm_turn turn) {
    struct tape const *tape = &left->replay->tape[i];
    for (; mirror->next[i] < tape->count && tape->record[mirror->next[i]].turn <= turn; ++mirror->next[i])
        if (tape->record[mirror->next[i]].turn > left->at.turn)
            rm_owner_stream_put(mirror->owner, mirror->stream[i], &tape->record[mirror->next[i]], rm_tsc());
}

/** Decisions of all turns up to that of a step come, and settings up to where all of that step's are told. */
static void mirror_put(struct mirror *mirror, struct left const *left, uint32_t step) {
    struct tape const *decision = &left->replay->tape[DECISION];
    mirror_put_stream(mirror, left, ADOPTED, decision->record[step + 2 * REPLAYED_LENGTH].turn);
    mirror_put_stream(mirror, left, MISSING, decision->record[step].turn);
    mirror_put_stream(mirror, left, SENT, decision->record[step].turn);
    mirror_put_stream(mirror, left, DECISION, decision->record[step].turn);
}

/** Inputs of a turn come. */
static void inputs_come(struct host_test *test, struct left *left, uint32_t next[TEST_INPUTS], rm_turn turn) {
    for (unsigned i = 0; i < TEST_INPUTS; ++i) {
        struct tape const *tape = &left->replay->tape[BPM + i];
        for (; next[i] < tape->count && tape->record[next[i]].turn <= turn; ++next[i])
            if (tape->record[next[i]].turn > left->at.turn)
                test_server_record(&test->server, i, tape->record[next[i]].turn, tape->record[next[i]].lane[0].i);
    }
}

static uint64_t follow_counter(struct host_test *test, enum rm_follow_counter which) {
    return rm_counter_get(test->host->standby->counters, which);
}

static void wait_for_phase(struct host_test *test, enum rm_host_phase phase) {
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    while (rm_host_standby_phase(test->host->standby) != phase) {
        if (rm_monotonic_ns() > end)
            fail_msg("phase %d, not %d; it said:\n%s", rm_host_standby_phase(test->host->standby), phase, test->said);
        duty(test);
        usleep(100);
    }
}

/** Server b begins, on another machine: nothing of server a is there. Its host waits for a copy. */
static void open_follower(struct host_test *test) {
    char path[PATH_MAX];
    test_server_close(&test->server);
    snprintf(path, sizeof path, "%s/demo/server.segment", test->workspaces);
    assert_int_equal(unlink(path), 0);
    memset(&test->server, 0, sizeof test->server);
    test_server_plan_of(&test->server, "app", true);
    assert_true(test_server_open(&test->server));
    test_server_clock(&test->server, 0, BASE, TSC_HZ);
    test_server_send(&test->server, 0.5);
    test_server_role(&test->server, RM_STANDBY_JOINING, RM_STANDBY_STARTED);
    test->setup.server = "b";
    test->setup.peer = "a";
    test->said[0] = '\0';
    open_host(test);
    grant(test);
}

/** Server a leads, and server b follows from its copy on. */
static struct mirror begin_to_follow(struct host_test *test, struct left *left) {
    lead(test, left);
    open_follower(test);
    struct mirror const mirror = mirror_open(left);
    mirror_put_state(&mirror, left);
    wait_for_phase(test, RM_HOST_FOLLOWS);
    return mirror;
}

/** Duties until the step of `turn` was made; `work` may have to be waited for. */
static void follow_until(struct host_test *test, rm_turn turn) {
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    struct rm_host_standby *standby = test->host->standby;
    while (standby->follow.obey.next <= turn) {
        if (rm_monotonic_ns() > end || rm_host_standby_phase(standby) != RM_HOST_FOLLOWS)
            fail_msg("turn %llu: %s; it said:\n%s", (unsigned long long)turn, standby->told.text, test->said);
        if (duty(test) == 0)
            usleep(100);
    }
}

/** Follows the steps behind the copy, `count` of them, and compares the vectors. Returns the number of the last one. */
static uint32_t follow_steps(struct host_test *test, struct left *left, struct mirror *mirror, uint32_t count) {
    struct tape const *decision = &left->replay->tape[DECISION];
    uint32_t next[TEST_INPUTS] = {0}, step = 0, compared = 0;
    double values[ACTUATORS];
    while (decision->record[step].turn <= left->at.turn)
        ++step;
    for (uint32_t i = 0; i < count; ++i, ++step) {
        rm_turn const turn = decision->record[step].turn;
        bool const inputs_first = draw(left->replay) % 2 == 0;
        test->turn = turn;
        if (inputs_first)
            inputs_come(test, left, next, turn);
        else
            mirror_put(mirror, left, step);
        duty(test);
        mirror_put(mirror, left, step);
        inputs_come(test, left, next, decision->record[step + 1].turn); // a run of missing ones ends
        follow_until(test, turn);
        if (!left->replay->committed[step])
            continue;
        struct rm_setpoint_reading const vector = newest(test, values);
        assert_int_equal(vector.input_turn, turn);
        assert_int_equal(vector.grant_number, test->server.grant_number);
        assert_memory_equal(values, left->replay->vector[step], sizeof values);
        ++compared;
    }
    assert_int_equal(follow_counter(test, RM_FOLLOW_DIFFERENCES), 0);
    assert_int_equal(follow_counter(test, RM_FOLLOW_FOLLOWED), count);
    assert_true(compared > count / 2);
    printf("%u steps followed, %u vectors compared, %llu waits\n", count, compared,
           (unsigned long long)follow_counter(test, RM_FOLLOW_WAITS));
    return step - 1;
}

static double in_step(struct host_test *test) { return rm_parameter_read_f64(test->host->standby->in_step); }

/** From the copy on, each vector is that of server a, to the bit; then the term passes, and it goes on without `init`. */
static void test_follows_and_takes_over(void **state) {
    struct host_test *test = *state;
    struct left left;
    struct mirror mirror = begin_to_follow(test, &left);
    uint32_t const step = follow_steps(test, &left, &mirror, SHORT_LIFE / 2);
    assert_true(in_step(test) == 1.0);
    assert_true(setting(test, REPLAYED_ENABLE) == 1.0);
    assert_int_equal(follow_counter(test, RM_FOLLOW_RESTORED), 1);

    uint64_t const steps = test->host->program->steps, grants = counter(test, RM_APPLICATION_GRANTS);
    rm_turn const next = left.replay->tape[DECISION].record[step + 1].turn; // some of it has come, and nothing before
    test->turn = next;
    for (unsigned i = 0; i < TEST_INPUTS; ++i)
        test_server_record(&test->server, i, next, 7);
    test_server_role(&test->server, RM_STANDBY_ACTIVE, RM_STANDBY_TOOK_OVER);
    wait_for_phase(test, RM_HOST_LEADS);
    turn_until(test, RM_APPLICATION_STEPS, follow_counter(test, RM_FOLLOW_FOLLOWED) + 1);
    assert_int_equal(test->host->program->steps, steps + 1);
    assert_true(test->host->program->given.turn == next);
    assert_true(setting(test, REPLAYED_ENABLE) == 1.0);
    assert_int_equal(counter(test, RM_APPLICATION_GRANTS), grants);
    assert_true(in_step(test) == 0.0);

    rm_owner_close(mirror.owner);
    left_free(&left);
}

/** Until the control thread has looked about, which it shows by words about a withdrawal. Those of two are of two looks. */
static void wait_for_look(struct host_test *test, enum rm_withdrawal why) {
    while (atomic_load(&test->host->taken) == NULL)
        duty(test);
    rm_parameter_write_f64(test->host->settings.withdrawn, why, rm_stamp_now());
    wait_for_words(test, rm_withdrawal_words(why));
}

/** Whether a step of the peer's asks for `work` or adopts a result: one that follows then waits until its own has run. */
static bool may_wait_for_work(struct left const *left, uint32_t step) {
    return lane(left->replay, DECISION, step, RM_DECISION_ASKED) !=
               lane(left->replay, DECISION, step - 1, RM_DECISION_ASKED) ||
           lane(left->replay, DECISION, step, RM_DECISION_ADOPTED) !=
               lane(left->replay, DECISION, step - 1, RM_DECISION_ADOPTED);
}

/** A host that was late is behind when the term passes: it makes the steps that are here, and goes on behind them. Where
 * its thread of `work` has no core, it leads from the step that would wait for it. */
static void test_catches_up_before_it_takes_over(void **state) {
    enum { BEHIND = 40 };
    struct host_test *test = *state;
    struct left left;
    struct mirror mirror = begin_to_follow(test, &left);
    struct tape const *decision = &left.replay->tape[DECISION];
    uint32_t const step = follow_steps(test, &left, &mirror, 20);
    assert_true(in_step(test) == 1.0);
    uint32_t next[TEST_INPUTS] = {0};
    for (unsigned i = 0; i < TEST_INPUTS; ++i)
        while (left.replay->tape[BPM + i].record[next[i]].turn <= decision->record[step + 1].turn)
            ++next[i];
    inputs_come(test, &left, next, decision->record[step + BEHIND + 1].turn);
    mirror_put(&mirror, &left, step + BEHIND);
    test->turn = decision->record[step + BEHIND].turn;
    test->host->standby->streams.maximum_lag_turns = 2ull * TEST_PERIOD;
    follow_until(test, decision->record[step + 1].turn);
    assert_true(in_step(test) == 0.0);
    test_server_role(&test->server, RM_STANDBY_ACTIVE, RM_STANDBY_TOOK_OVER);
    wait_for_phase(test, RM_HOST_LEADS);
    assert_true(setting(test, REPLAYED_ENABLE) == 1.0);
    uint32_t const last = step + (uint32_t)follow_counter(test, RM_FOLLOW_FOLLOWED) - 20;
    assert_true(last == step + BEHIND || (last < step + BEHIND && may_wait_for_work(&left, last + 1)));
    assert_true(test->host->program->given.turn >= decision->record[last].turn);
    rm_owner_close(mirror.owner);
    left_free(&left);
}

/** The link makes what it mirrors when it has found the application: until then that is waited for without a word. */
static void test_waits_quietly_for_the_link(void **state) {
    struct host_test *test = *state;
    struct left left;
    struct rm_error error;
    struct rm_owner *early;
    lead(test, &left);
    assert_int_equal(rm_owner_new("demo", "standby", &early, &error), RM_OK);
    (void)rm_owner_standby_orders(early, "standby/orders", "what it may do");
    assert_int_equal(rm_owner_open(early, &error), RM_OK);
    open_follower(test);
    wait_for_look(test, RM_WITHDRAWN_SERVER);
    wait_for_look(test, RM_WITHDRAWN_DIED);
    rm_owner_close(early);
    struct mirror mirror = mirror_open(&left);
    mirror_put_state(&mirror, &left);
    wait_for_phase(test, RM_HOST_FOLLOWS);
    if (strstr(test->said, "peer/app/decision") != NULL)
        fail_msg("it said:\n%s", test->said);
    rm_owner_close(mirror.owner);
    left_free(&left);
}

/** Nobody was there to go on from: it begins anew, and nothing may act. */
static void test_begins_without_permissions(void **state) {
    struct host_test *test = *state;
    struct left left;
    struct mirror mirror = begin_to_follow(test, &left);
    follow_steps(test, &left, &mirror, 20);
    assert_true(setting(test, REPLAYED_ENABLE) == 1.0);
    test_server_role(&test->server, RM_STANDBY_ACTIVE, RM_STANDBY_BEGAN);
    wait_for_phase(test, RM_HOST_LEADS);
    turn_until(test, RM_APPLICATION_GRANTS, 1);
    assert_true(setting(test, REPLAYED_ENABLE) == 0.0);
    assert_true(rm_parameter_read_f64(test->host->settings.withdrawn) == RM_WITHDRAWN_SERVER);
    rm_owner_close(mirror.owner);
    left_free(&left);
}

/** Another server may have led, and an operator may have stopped it there: it begins anew, although it saw nothing. */
static void test_a_role_that_went_and_came_back_begins_anew(void **state) {
    struct host_test *test = *state;
    struct left left;
    struct mirror mirror = begin_to_follow(test, &left);
    uint32_t const step = follow_steps(test, &left, &mirror, 20);
    test_server_role(&test->server, RM_STANDBY_ACTIVE, RM_STANDBY_TOOK_OVER);
    wait_for_phase(test, RM_HOST_LEADS);
    assert_true(setting(test, REPLAYED_ENABLE) == 1.0);
    test_server_role(&test->server, RM_STANDBY_JOINING, RM_STANDBY_DEPOSED);
    test_server_role(&test->server, RM_STANDBY_ACTIVE, RM_STANDBY_BEGAN);
    /* The step of those inputs that have come already was begun, maybe: it is made without the rest, when that is late. */
    test->turn = left.replay->tape[DECISION].record[step + 1].turn + CLOSING + test->setup.deadline_turns;
    turn_until(test, RM_APPLICATION_GRANTS, 1);
    assert_true(setting(test, REPLAYED_ENABLE) == 0.0);
    rm_owner_close(mirror.owner);
    left_free(&left);
}

/** Server a leads; its chains do not answer for some cycles, and nobody else begins: it goes on with the next step. */
static void test_goes_on_where_nobody_else_began(void **state) {
    struct host_test *test = *state;
    struct left left = {.replay = replay_new(test)};
    test_server_role(&test->server, RM_STANDBY_ACTIVE, RM_STANDBY_BEGAN);
    open_recorded(test, left.replay);
    run_life(test, left.replay, 20, 0);
    uint64_t const grants = counter(test, RM_APPLICATION_GRANTS);
    for (unsigned stops = 0; stops < 3; ++stops) {
        uint64_t const steps = test->host->program->steps;
        test_server_role(&test->server, RM_STANDBY_READY, RM_STANDBY_UNANSWERED);
        wait_for_phase(test, RM_HOST_PARKED);
        test_server_role(&test->server, RM_STANDBY_ACTIVE, RM_STANDBY_UNANSWERED);
        wait_for_phase(test, RM_HOST_LEADS);
        for (unsigned i = 0; i < 20; ++i)
            run_cycle(test, left.replay);
        assert_true(test->host->program->steps >= steps + 20);
    }
    assert_true(setting(test, REPLAYED_ENABLE) == 1.0);
    assert_int_equal(counter(test, RM_APPLICATION_GRANTS), grants);
    rm_workspace_detach(left.replay->workspace);
    left_free(&left);
}

/** A record that server a had and server b has not: it says so, is not in step, and follows from the next copy. */
static void test_a_lost_input_needs_another_copy(void **state) {
    struct host_test *test = *state;
    struct left left;
    struct mirror mirror = begin_to_follow(test, &left);
    struct tape const *decision = &left.replay->tape[DECISION];
    uint32_t step = follow_steps(test, &left, &mirror, 20) + 2;
    while (lane(left.replay, DECISION, step, RM_DECISION_MISSING) != 0)
        ++step;
    for (unsigned i = 0; i < TEST_INPUTS; ++i) // a later record comes, and those before it will not
        test_server_record(&test->server, i, decision->record[step].turn + 50 * TEST_PERIOD, 7);
    mirror_put(&mirror, &left, step);
    wait_for_phase(test, RM_HOST_PARKED);
    wait_for_words(test, "has no record of this turn, and the step had one");
    assert_int_equal(follow_counter(test, RM_FOLLOW_INPUTS_MISSING), 1);
    assert_true(in_step(test) == 0.0);
    atomic_store(&test->host->standby->is_to_park, true); // the control thread said so just after that
    ++left.at.steps;                                      // another copy, as far as can be seen from without
    mirror_put_state(&mirror, &left);
    wait_for_phase(test, RM_HOST_FOLLOWS);
    (void)duty(test);
    assert_int_equal(rm_host_standby_phase(test->host->standby), RM_HOST_FOLLOWS);
    assert_int_equal(follow_counter(test, RM_FOLLOW_RESTORED), 2);
    rm_owner_close(mirror.owner);
    left_free(&left);
}

/** Decisions that come again from an earlier turn on do not go on from this copy. */
static void test_turns_that_begin_anew_need_another_copy(void **state) {
    struct host_test *test = *state;
    struct left left;
    struct mirror mirror = begin_to_follow(test, &left);
    follow_steps(test, &left, &mirror, 20);
    assert_true(in_step(test) == 1.0);
    struct rm_record again = left.replay->tape[DECISION].record[0];
    rm_owner_stream_put(mirror.owner, mirror.stream[DECISION], &again, rm_tsc());
    wait_for_phase(test, RM_HOST_PARKED);
    wait_for_words(test, "the active server counts turns anew");
    assert_true(in_step(test) == 0.0);
    rm_owner_close(mirror.owner);
    left_free(&left);
}

/** A standby takes no settings, and says where to put them. */
static void test_settings_go_to_the_active_server(void **state) {
    struct host_test *test = *state;
    test_server_role(&test->server, RM_STANDBY_READY, RM_STANDBY_COPIED);
    test->setup.server = "b";
    test->setup.peer = "a";
    open_host(test);
    grant(test);
    struct host_asker asker = asker_open();
    struct rm_reply const reply = reply_to(test, &asker, ask(&asker, "app/gain", 2.0));
    assert_int_equal(reply.verdict, RM_VERDICT_REFUSED);
    assert_non_null(strstr(reply.reason, "server b is standby: put it to the active server, a"));
    asker_close(&asker);
}

/** Puts a setting, goes on for a while behind the step that adopted it, and says by `*followed` that the peer has made
 * all steps until then. True when the reply came before that. */
static bool put_and_follow(struct host_test *test, struct replay_test *replay, struct host_asker *asker, double value,
                           struct rm_parameter *followed) {
    uint64_t const changed = counter(test, RM_APPLICATION_SETTINGS);
    uint64_t const put = ask(asker, "app/gain", value), end = rm_monotonic_ns() + TIMEOUT_NS;
    struct rm_reply reply;
    while (counter(test, RM_APPLICATION_SETTINGS) == changed) {
        assert_true(rm_monotonic_ns() < end);
        run_cycle(test, replay);
        usleep(1000);
    }
    for (unsigned i = 0; i < 50; ++i)
        run_cycle(test, replay);
    bool const early = rm_requests_reply(asker->owner, asker->workspace, "app", put, &reply);
    rm_parameter_write(followed, &test->turn, sizeof test->turn, rm_stamp_now());
    assert_int_equal(reply_to(test, asker, put).verdict, RM_VERDICT_DONE);
    return early;
}

/** Where a standby is READY, the reply comes when it has made the step that adopted the setting. */
static void test_a_reply_waits_for_the_standby(void **state) {
    struct host_test *test = *state;
    struct replay_test *const replay = replay_new(test);
    struct left left = {.replay = replay, .room = 4096};
    test_server_role(&test->server, RM_STANDBY_ACTIVE, RM_STANDBY_BEGAN);
    open_host(test);
    look_at_streams(replay);
    struct mirror mirror = mirror_open(&left);
    rm_standby_orders_publish(rm_owner_memory(mirror.owner, mirror.orders),
                              &(struct rm_standby_orders_reading){.peer_role = RM_STANDBY_READY + 1});
    begin_grant(test, replay);
    struct rm_parameter *followed = rm_owner_memory(mirror.owner, mirror.followed);
    struct host_asker asker = asker_open();
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    /* The control thread has yet to find what is told of the peer. */
    for (double value = 2.0; put_and_follow(test, replay, &asker, value, followed); ++value)
        assert_true(rm_monotonic_ns() < end);
    asker_close(&asker);
    rm_workspace_detach(replay->workspace);
    rm_owner_close(mirror.owner);
    left_free(&left);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    application = argv[1];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_follows_and_takes_over, set_up_of_two, tear_down),
        cmocka_unit_test_setup_teardown(test_catches_up_before_it_takes_over, set_up_of_two, tear_down),
        cmocka_unit_test_setup_teardown(test_waits_quietly_for_the_link, set_up_of_two, tear_down),
        cmocka_unit_test_setup_teardown(test_begins_without_permissions, set_up_of_two, tear_down),
        cmocka_unit_test_setup_teardown(test_a_role_that_went_and_came_back_begins_anew, set_up_of_two, tear_down),
        cmocka_unit_test_setup_teardown(test_goes_on_where_nobody_else_began, set_up_of_two, tear_down),
        cmocka_unit_test_setup_teardown(test_a_lost_input_needs_another_copy, set_up_of_two, tear_down),
        cmocka_unit_test_setup_teardown(test_turns_that_begin_anew_need_another_copy, set_up_of_two, tear_down),
        cmocka_unit_test_setup_teardown(test_settings_go_to_the_active_server, set_up_of_two, tear_down),
        cmocka_unit_test_setup_teardown(test_a_reply_waits_for_the_standby, set_up_of_two, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
