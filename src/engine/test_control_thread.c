// SPDX-License-Identifier: Apache-2.0
/* The control thread with real segments of real processes, which are killed, cut their files, or say what is not
 * true. */
#include "engine/control_thread.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include <ringmaster/owner.h>
#include <ringmaster/request.h>
#include <ringmaster/truncation.h>

#include "fabric/segment_map.h"
#include "fabric/test_workspace.h"

enum { SUPPLIES = 4, OWNED = 3 }; /* the last one is the operator's */

static char const *const NAMES[SUPPLIES] = {"sr/ps/a", "sr/ps/b", "sr/ps/c", "sr/ps/d"};

struct bench {
    struct rm_operator_put put;
    struct rm_command_mailbox mailbox[2];
    struct rm_owner *server;
    struct rm_setpoints *sent;
    struct rm_control_thread *control_thread;
    struct rm_parameter *setpoint[SUPPLIES], *readback[SUPPLIES];
    struct rm_config_supply supply[SUPPLIES];
    struct rm_config config;
    struct rm_config_application application[2];
    clockid_t transmit_time;
    uint32_t owned[OWNED];
    char place[PATH_MAX];
};

static struct sigaction survives; /**< what the fabric installs with the first mapping */

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

static void make_config(struct bench *bench) {
    strcpy(bench->config.workspace, "ws");
    bench->config.supply = bench->supply;
    bench->config.supply_count = SUPPLIES;
    bench->config.application = bench->application;
    bench->config.application_count = 2;
    for (uint32_t i = 0; i < SUPPLIES; ++i) {
        bench->supply[i] = (struct rm_config_supply){.application = i < OWNED, .unit = "A", .low = -10, .high = 10};
        strcpy(bench->supply[i].name, NAMES[i]);
    }
    strcpy(bench->application[0].name, "operator");
    strcpy(bench->application[1].name, "ramp");
    for (uint32_t i = 0; i < OWNED; ++i)
        bench->owned[i] = i;
    bench->application[1].supply = bench->owned;
    bench->application[1].supply_count = OWNED;
}

static rm_owner_index plan_f64(struct rm_owner *owner, char const *supply, char const *what, unsigned flags) {
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "%s/%s", supply, what);
    return rm_owner_parameter(owner, &(struct rm_parameter_plan){.name = name,
                                                                 .unit = "A",
                                                                 .description = "of a supply",
                                                                 .type = RM_ELEMENT_F64,
                                                                 .rows = 1,
                                                                 .columns = 1,
                                                                 .flags = flags});
}

static void open_server(struct bench *bench) {
    rm_owner_index setpoint[SUPPLIES], readback[SUPPLIES];
    struct rm_error error = {0};
    assert_int_equal(rm_owner_new("ws", "server", &bench->server, &error), RM_OK);
    for (uint32_t i = 0; i < SUPPLIES; ++i) {
        setpoint[i] = plan_f64(bench->server, NAMES[i], "setpoint", RM_PARAMETER_WRITABLE);
        readback[i] = plan_f64(bench->server, NAMES[i], "readback", 0);
    }
    rm_owner_index const knob = plan_f64(bench->server, "server", "knob", RM_PARAMETER_WRITABLE);
    rm_owner_index const sent = rm_owner_setpoints(bench->server, "setpoints/sent", "what was sent last", SUPPLIES);
    rm_owner_replies(bench->server);
    if (rm_owner_open(bench->server, &error) != RM_OK)
        fail_msg("%s", error.text);
    for (uint32_t i = 0; i < SUPPLIES; ++i) {
        bench->setpoint[i] = rm_owner_memory(bench->server, setpoint[i]);
        bench->readback[i] = rm_owner_memory(bench->server, readback[i]);
    }
    assert_non_null(rm_owner_memory(bench->server, knob));
    bench->sent = rm_owner_memory(bench->server, sent);
    rm_control_thread_show_nothing(bench->setpoint, SUPPLIES);
    rm_control_thread_show_nothing(bench->readback, SUPPLIES);
}

static void serve_control(struct bench *bench) {
    struct rm_control_thread_setup const setup = {
        .config = &bench->config,
        .generation = 1000,
        .owner = bench->server,
        .mailbox = bench->mailbox,
        .put = &bench->put,
        .transmit_time = bench->transmit_time,
        .sent = bench->sent,
        .setpoint = bench->setpoint,
        .readback = bench->readback,
    };
    struct rm_error error = {0};
    if (rm_control_thread_start(&setup, &bench->control_thread, &error) != RM_OK)
        fail_msg("%s", error.text);
}

static int set_up(void **state) {
    struct bench *const bench = aligned_alloc(RM_CACHE_LINE, (sizeof *bench + 63) / 64 * 64);
    assert_non_null(bench);
    memset(bench, 0, sizeof *bench);
    assert_true(test_workspaces_make(bench->place, sizeof bench->place));
    make_config(bench);
    open_server(bench);
    assert_int_equal(pthread_getcpuclockid(pthread_self(), &bench->transmit_time), 0);
    serve_control(bench);
    *state = bench;
    return 0;
}

static int tear_down(void **state) {
    struct bench *const bench = *state;
    rm_control_thread_stop(bench->control_thread);
    rm_owner_close(bench->server);
    test_workspaces_remove(bench->place);
    free(bench);
    return 0;
}

/** Waits for the next command to the role, and takes it as the role does. */
static struct rm_transmit_command take_command(struct bench *bench) {
    struct rm_command_mailbox *const box = &bench->mailbox[1];
    for (int i = 0; !rm_mailbox_take(&box->mailbox); ++i) {
        assert_true(i < 20000);
        nap();
    }
    struct rm_transmit_command const command = box->command;
    rm_mailbox_free(&box->mailbox);
    return command;
}

static void expect_no_command(struct bench *bench) {
    for (int i = 0; i < 400; ++i)
        nap();
    assert_true(rm_mailbox_is_free(&bench->mailbox[1].mailbox));
}

/** What a test's application does with its segment. */
struct role {
    char const *vectors;                                                 /**< name of its setpoints */
    void (*spoil)(struct rm_owner *owner, struct rm_setpoints *vectors); /**< or NULL */
    uint32_t actuators;
    bool closes;
};

static void live(struct role const *role, int ready, int go_on) {
    struct rm_owner *owner;
    char byte = 0;
    if (rm_owner_new("ws", "ramp", &owner, NULL) != RM_OK)
        _exit(1);
    rm_owner_index const index = rm_owner_setpoints(owner, role->vectors, "commands", role->actuators);
    if (rm_owner_open(owner, NULL) != RM_OK)
        _exit(2);
    struct rm_setpoints *const vectors = rm_owner_memory(owner, index);
    struct rm_setpoint_vector *const vector = rm_setpoints_begin(vectors);
    rm_setpoints_commit(vector, 7, 8, 9);
    if (role->spoil != NULL)
        role->spoil(owner, vectors);
    if (write(ready, "r", 1) != 1 || read(go_on, &byte, 1) < 0)
        _exit(3);
    if (role->closes)
        rm_owner_close(owner);
    _exit(0);
}

/** An application's process. */
struct child {
    pid_t pid;
    int go_on;
};

static struct child start(struct role const *role) {
    int ready[2], go_on[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC) | pipe2(go_on, O_CLOEXEC), 0);
    struct child const child = {.pid = fork(), .go_on = go_on[1]};
    if (child.pid == 0) {
        close(go_on[1]);
        live(role, ready[1], go_on[0]);
    }
    close(go_on[0]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void finish(struct child child, bool by_kill) {
    if (by_kill)
        kill(child.pid, SIGKILL);
    close(child.go_on);
    int status;
    assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
    assert_true(by_kill || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

static struct role const GOOD = {.actuators = OWNED, .vectors = "setpoints/ramp", .closes = true};

static void an_application_that_comes_is_granted_a_number(void **state) {
    struct bench *const bench = *state;
    struct child const child = start(&GOOD);
    struct rm_transmit_command const command = take_command(bench);
    assert_int_equal(command.grant_number, 1001);
    assert_int_equal(command.pid, child.pid);
    assert_int_equal(command.instance, 1);
    assert_int_equal(command.vector_bytes, rm_setpoint_vector_bytes(OWNED));
    struct rm_setpoints_place place = {0};
    struct rm_setpoint_reading reading;
    double values[OWNED];
    assert_true(rm_setpoints_copy(command.setpoints, command.vector_bytes, &place, &reading, values, OWNED));
    assert_int_equal(reading.grant_number, 7);
    finish(child, false);
    struct rm_transmit_command const last = take_command(bench);
    assert_null(last.setpoints);
    assert_int_equal(last.grant_number, 0);
    assert_false(last.died);
    expect_no_command(bench);
}

static void one_that_is_killed_has_died_and_its_successor_gets_another_grant_number(void **state) {
    struct bench *const bench = *state;
    for (uint64_t life = 1; life <= 5; ++life) {
        struct child const child = start(&GOOD);
        struct rm_transmit_command const command = take_command(bench);
        assert_int_equal(command.grant_number, 1000 + life);
        assert_int_equal(command.instance, life);
        finish(child, true);
        struct rm_transmit_command const last = take_command(bench);
        assert_null(last.setpoints);
        assert_true(last.died);
    }
}

static void one_that_is_started_again_at_once_is_seen_to_be_another(void **state) {
    struct bench *const bench = *state;
    struct child child = start(&GOOD);
    take_command(bench);
    finish(child, true);
    child = start(&GOOD); /* between two looks, mostly */
    struct rm_transmit_command command = take_command(bench);
    assert_true(command.died);
    command = take_command(bench);
    assert_int_equal(command.instance, 2);
    assert_int_equal(command.grant_number, 1002);
    finish(child, true);
}

static void count_more(struct rm_owner *owner, struct rm_setpoints *vectors) {
    (void)owner;
    vectors->actuator_count = 1000000;
}

static void stride_far(struct rm_owner *owner, struct rm_setpoints *vectors) {
    (void)owner;
    vectors->vector_bytes = 1ull << 40;
}

static void begin_elsewhere(struct rm_owner *owner, struct rm_setpoints *vectors) {
    (void)owner;
    vectors->vectors_offset = 1ull << 40;
}

static void point_outside(struct rm_owner *owner, struct rm_setpoints *vectors) {
    (void)vectors;
    struct rm_segment_header const *const header = rm_owner_header(owner);
    struct rm_object *const object = (struct rm_object *)((uintptr_t)header + header->directory_offset);
    object->offset = header->segment_bytes - RM_CACHE_LINE;
}

static void have_many_objects(struct rm_owner *owner, struct rm_setpoints *vectors) {
    (void)vectors;
    struct rm_segment_header *const header = (struct rm_segment_header *)(uintptr_t)rm_owner_header(owner);
    header->object_count = UINT32_MAX;
}

static void who_has_other_vectors_than_configured_is_granted_nothing(void **state) {
    struct bench *const bench = *state;
    struct role const rogue[] = {
        {.actuators = OWNED + 1, .vectors = "setpoints/ramp"},
        {.actuators = OWNED, .vectors = "setpoints/other"},
        {.actuators = OWNED, .vectors = "setpoints/ramp", .spoil = count_more},
        {.actuators = OWNED, .vectors = "setpoints/ramp", .spoil = stride_far},
        {.actuators = OWNED, .vectors = "setpoints/ramp", .spoil = begin_elsewhere},
        {.actuators = OWNED, .vectors = "setpoints/ramp", .spoil = point_outside},
        {.actuators = OWNED, .vectors = "setpoints/ramp", .spoil = have_many_objects},
    };
    for (unsigned i = 0; i < sizeof rogue / sizeof rogue[0]; ++i) {
        rm_control_thread_stop(bench->control_thread);
        struct child const child = start(&rogue[i]); /* so that it has spoilt its segment before it is looked at */
        serve_control(bench);
        expect_no_command(bench);
        finish(child, true);
    }
}

static void one_that_cuts_its_file_harms_itself_alone(void **state) {
    struct bench *const bench = *state;
    sigaction(SIGBUS, &survives, NULL); /* cmocka has put its own there */
    struct child const child = start(&GOOD);
    struct rm_transmit_command const command = take_command(bench);
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/ws/ramp/ramp.segment", bench->place);
    assert_int_equal(truncate(path, 0), 0);
    struct rm_setpoints_place place = {0};
    struct rm_setpoint_reading reading;
    double values[OWNED];
    assert_false(rm_setpoints_copy(command.setpoints, command.vector_bytes, &place, &reading, values, OWNED));
    finish(child, true);
    assert_null(take_command(bench).setpoints);
}

/** Plays the transmit role for one value. */
static void answer_put(struct bench *bench, enum rm_refusal refusal, double limit) {
    struct rm_operator_put *const box = &bench->put;
    for (int i = 0; !rm_mailbox_take(&box->mailbox); ++i) {
        assert_true(i < 20000);
        nap();
    }
    box->refusal = refusal;
    box->limit = limit;
    rm_mailbox_answer(&box->mailbox);
}

/** Asks for a value, and waits for the reply. */
static struct rm_reply ask(struct bench *bench, char const *parameter, double value, bool of_role,
                           enum rm_refusal refusal, double limit) {
    struct rm_owner *asker = NULL;
    struct rm_workspace *workspace = NULL;
    struct rm_error error = {0};
    struct rm_reply reply = {0};
    uint64_t number = 0;
    static unsigned askers; /* each has a name of its own, so that no reply to another is taken for its own */
    char name[RM_OWNER_BYTES];
    snprintf(name, sizeof name, "test%u", askers++);
    assert_int_equal(rm_owner_new_requester("ws", name, &asker, &error), RM_OK);
    rm_owner_requests(asker);
    if (rm_owner_open(asker, &error) != RM_OK || rm_workspace_attach("ws", 0, &workspace, &error) != RM_OK ||
        rm_requests_post(asker, workspace, parameter, 0, &value, sizeof value, &number, &error) != RM_OK)
        fail_msg("%s", error.text);
    if (of_role)
        answer_put(bench, refusal, limit);
    for (int i = 0; !rm_requests_reply(asker, workspace, "server", number, &reply); ++i) {
        assert_true(i < 20000);
        nap();
    }
    rm_workspace_detach(workspace);
    rm_owner_close(asker);
    return reply;
}

static void requests_are_answered_with_reasons(void **state) {
    struct bench *const bench = *state;
    struct rm_reply reply = ask(bench, "sr/ps/d/setpoint", 2.5, true, RM_REFUSED_NOTHING, 0);
    assert_int_equal(reply.verdict, RM_VERDICT_DONE);
    assert_true(bench->put.supply == 3 && bench->put.value == 2.5);
    reply = ask(bench, "sr/ps/d/setpoint", 12.5, true, RM_REFUSED_HIGH, 10);
    assert_int_equal(reply.verdict, RM_VERDICT_REFUSED);
    assert_string_equal(reply.reason, "sr/ps/d: 12.5 A is above its upper limit of 10 A");
    reply = ask(bench, "sr/ps/a/setpoint", 1, false, RM_REFUSED_NOTHING, 0);
    assert_int_equal(reply.verdict, RM_VERDICT_REFUSED);
    assert_string_equal(reply.reason, "sr/ps/a belongs to application ramp, which does not run just now");
    struct child const child = start(&GOOD);
    take_command(bench);
    reply = ask(bench, "sr/ps/a/setpoint", 1, false, RM_REFUSED_NOTHING, 0);
    assert_string_equal(reply.reason, "sr/ps/a belongs to application ramp, which is running");
    finish(child, true);
    reply = ask(bench, "server/knob", 3, false, RM_REFUSED_NOTHING, 0);
    assert_int_equal(reply.verdict, RM_VERDICT_DONE);
    assert_true(rm_parameter_read_f64(rm_owner_find(bench->server, "server/knob")) == 3);
    reply = ask(bench, "sr/ps/d/readback", 3, false, RM_REFUSED_NOTHING, 0);
    assert_int_equal(reply.verdict, RM_VERDICT_REFUSED);
}

/** Another thread plays the transmit role from now on. */
static void serve_control_with_role(struct bench *bench, pthread_t role) {
    rm_control_thread_stop(bench->control_thread);
    assert_int_equal(pthread_getcpuclockid(role, &bench->transmit_time), 0);
    serve_control(bench);
}

static void *hang(void *stop) {
    while (!atomic_load_explicit((atomic_bool *)stop, memory_order_relaxed)) {
        /* As an endless loop in a role would. */
    }
    return NULL;
}

static void a_role_that_hangs_is_named_and_its_command_withdrawn(void **state) {
    struct bench *const bench = *state;
    atomic_bool stop = false;
    pthread_t role;
    assert_int_equal(pthread_create(&role, NULL, hang, &stop), 0);
    serve_control_with_role(bench, role);
    struct rm_reply const reply = ask(bench, "sr/ps/d/setpoint", 2.5, false, RM_REFUSED_NOTHING, 0);
    assert_int_equal(reply.verdict, RM_VERDICT_REFUSED);
    assert_non_null(strstr(reply.reason, "sr/ps/d: not set: the transmit role hangs: its core ran it for 1"));
    assert_true(rm_mailbox_is_free(&bench->put.mailbox));
    rm_control_thread_stop(bench->control_thread);
    bench->control_thread = NULL;
    atomic_store(&stop, true);
    pthread_join(role, NULL);
}

/** A role that sleeps gets as little of its core as one whose core others have. */
static void *answer_late(void *argument) {
    struct bench *const bench = argument;
    while (!rm_mailbox_is_in(&bench->put.mailbox, RM_MAILBOX_POSTED))
        nap();
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    answer_put(bench, RM_REFUSED_NOTHING, 0);
    return NULL;
}

static void a_role_without_its_core_is_waited_for(void **state) {
    struct bench *const bench = *state;
    pthread_t role;
    assert_int_equal(pthread_create(&role, NULL, answer_late, bench), 0);
    serve_control_with_role(bench, role);
    struct rm_reply const reply = ask(bench, "sr/ps/d/setpoint", 2.5, false, RM_REFUSED_NOTHING, 0);
    assert_int_equal(reply.verdict, RM_VERDICT_DONE);
    rm_control_thread_stop(bench->control_thread);
    bench->control_thread = NULL;
    pthread_join(role, NULL);
}

/** A requester asks without end, and every answer takes its time: an application that has died meanwhile is seen. */
static void a_flood_of_requests_hides_no_death(void **state) {
    enum { WAITING = 8, ROUNDS = 500 };
    struct bench *const bench = *state;
    struct rm_owner *asker = NULL;
    struct rm_workspace *workspace = NULL;
    struct rm_error error = {0};
    struct child const child = start(&GOOD);
    take_command(bench);
    assert_int_equal(rm_owner_new_requester("ws", "flood", &asker, &error), RM_OK);
    rm_owner_requests(asker);
    if (rm_owner_open(asker, &error) != RM_OK || rm_workspace_attach("ws", 0, &workspace, &error) != RM_OK)
        fail_msg("%s", error.text);
    uint64_t number = 0;
    double const value = 1;
    struct rm_command_mailbox const *const box = &bench->mailbox[1];
    for (int i = 0; i < WAITING; ++i)
        assert_int_equal(
            rm_requests_post(asker, workspace, "sr/ps/d/setpoint", 0, &value, sizeof value, &number, &error), RM_OK);
    finish(child, true);
    for (int i = 0; rm_mailbox_is_free(&box->mailbox); ++i) {
        assert_true(i < ROUNDS);
        for (int naps = 0; naps < 5; ++naps)
            nap();
        answer_put(bench, RM_REFUSED_NOTHING, 0);
        assert_int_equal(
            rm_requests_post(asker, workspace, "sr/ps/d/setpoint", 0, &value, sizeof value, &number, &error), RM_OK);
    }
    assert_true(take_command(bench).died);
    rm_workspace_detach(workspace);
    rm_owner_close(asker);
}

static void assert_unknown(struct rm_parameter const *parameter) {
    struct rm_parameter_reading reading;
    double value;
    rm_parameter_read(parameter, &value, sizeof value, &reading);
    assert_true(isnan(value));
    assert_int_equal(reading.severity, RM_SEVERITY_INVALID);
}

static void what_nobody_knows_is_no_number(void **state) {
    struct bench *const bench = *state;
    for (uint32_t i = 0; i < SUPPLIES; ++i) {
        assert_unknown(bench->setpoint[i]);
        assert_unknown(bench->readback[i]);
    }
    rm_parameter_write_f64(bench->setpoint[1], 1.5, rm_stamp_now()); /* a server before this one knew it */
    rm_control_thread_show_nothing(bench->setpoint, SUPPLIES);
    assert_true(rm_parameter_read_f64(bench->setpoint[1]) == 1.5);
}

static void what_was_sent_is_shown(void **state) {
    struct bench *const bench = *state;
    struct rm_setpoint_vector *const vector = rm_setpoints_begin(bench->sent);
    for (uint32_t i = 0; i < SUPPLIES; ++i)
        rm_setpoints_put(vector, i, i == 2 ? (double)NAN : i + 0.5);
    rm_setpoints_commit(vector, 1000, 2400, 1);
    for (int i = 0; rm_parameter_read_f64(bench->setpoint[3]) != 3.5; ++i) {
        assert_true(i < 20000);
        nap();
    }
    double value;
    struct rm_parameter_reading when;
    rm_parameter_read(bench->setpoint[1], &value, sizeof value, &when);
    assert_true(value == 1.5);
    assert_int_equal(when.turn, 2400);
    assert_true(isnan(rm_parameter_read_f64(bench->setpoint[2])));
}

static void applications_and_requesters_have_folders(void **state) {
    struct bench *const bench = *state;
    char const *const folder[] = {"ramp", "requests"};
    for (unsigned i = 0; i < 2; ++i) {
        char path[PATH_MAX + 64];
        struct stat status;
        snprintf(path, sizeof path, "%s/ws/%s", bench->place, folder[i]);
        assert_int_equal(stat(path, &status), 0);
        assert_true(S_ISDIR(status.st_mode) && status.st_uid == geteuid());
    }
}

int main(void) {
    if (!rm_truncation_watch(&survives, 1) || sigaction(SIGBUS, NULL, &survives) != 0)
        return 1;
    rm_truncation_forget(&survives);
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(an_application_that_comes_is_granted_a_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_is_killed_has_died_and_its_successor_gets_another_grant_number, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(one_that_is_started_again_at_once_is_seen_to_be_another, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_has_other_vectors_than_configured_is_granted_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_cuts_its_file_harms_itself_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(requests_are_answered_with_reasons, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_role_that_hangs_is_named_and_its_command_withdrawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_role_without_its_core_is_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_flood_of_requests_hides_no_death, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_nobody_knows_is_no_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_sent_is_shown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(applications_and_requesters_have_folders, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
