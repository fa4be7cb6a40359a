// SPDX-License-Identifier: Apache-2.0
/** An inbox between requesters whose memory holds anything at all, and changes while it is read. */
#include "fabric/test_segment_steps.h"

#include <math.h>
#include <pthread.h>

#include <ringmaster/request.h>

#include "fabric/owner_parts.h"

enum { ROUNDS = 20000, TAKES = 50000, NAMES = 3, WHOLE = 3000 };

/** A server with one parameter that may be set, and a requester that writes its memory as it likes. */
struct rig {
    struct rm_owner *server, *requester;
    struct rm_parameter *parameter;
    struct rm_inbox *inbox;
    struct rm_requests *requests;
    uint64_t random;
    _Atomic bool stop;
};

static uint64_t draw(struct rig *rig) { // xorshift: the same nonsense every time
    rig->random ^= rig->random << 13;
    rig->random ^= rig->random >> 7;
    return rig->random ^= rig->random << 17;
}

static void start(struct rig *rig) {
    *rig = (struct rig){.random = 88172645463325252ull};
    struct rm_error error;
    assert_ok(rm_owner_new("demo", "server", &rig->server, &error), &error);
    struct rm_limits const limits = {NAN, NAN, -10.0, 10.0, NAN, NAN, NAN, NAN, 0.0};
    rm_owner_index const parameter =
        rm_owner_parameter(rig->server, &(struct rm_parameter_plan){.name = "sr/gains",
                                                                    .type = RM_ELEMENT_F64,
                                                                    .rows = 100,
                                                                    .limits = &limits,
                                                                    .flags = RM_PARAMETER_WRITABLE});
    rm_owner_replies(rig->server);
    assert_ok(rm_owner_open(rig->server, &error), &error);
    rig->parameter = rm_owner_memory(rig->server, parameter);
    assert_ok(rm_owner_new_requester("demo", "evil", &rig->requester, &error), &error);
    rm_owner_index const requests = rm_owner_requests(rig->requester);
    assert_ok(rm_owner_open(rig->requester, &error), &error);
    rig->requests = rm_owner_memory(rig->requester, requests);
    assert_ok(rm_inbox_new(rig->server, &rig->inbox, &error), &error);
}

static void stop(struct rig *rig) {
    rm_inbox_free(rig->inbox);
    rm_owner_close(rig->requester);
    rm_owner_close(rig->server);
}

static void put(_Atomic uint64_t *word, uint64_t value) { atomic_store_explicit(word, value, memory_order_relaxed); }

/** Mostly what a request has, so that many get far: each field is wrong now and then. */
static void scribble(struct rig *rig, uint64_t number) {
    static char const *const OWNERS[NAMES] = {"server", "serverserverserverserverserverserver", ""};
    static char const *const PARAMETERS[NAMES] = {"sr/gains", "sr/gainssr/gains", ""};
    struct rm_request_slot *slot = &rig->requests->slot[number & (RM_REQUEST_SLOTS - 1)];
    uint64_t const edges[] = {0, 1, 8, 99, 100, 4096, 4097, 1ull << 61, UINT64_MAX, UINT64_MAX - 7};
    uint64_t const luck = draw(rig);
    put(&slot->number, luck % 16 == 0 ? draw(rig) : number);
    put(&slot->timestamp_tai_ns, luck % 32 == 1 ? 0 : UINT64_MAX);
    put(&slot->first, edges[draw(rig) % (sizeof edges / sizeof edges[0])]);
    put(&slot->bytes, luck % 4 == 2 ? edges[draw(rig) % (sizeof edges / sizeof edges[0])] : 8 * (draw(rig) % 101));
    char text[RM_NAME_BYTES];
    memset(text, luck % 64 == 3 ? 0xFF : 0, sizeof text); // without an end
    strncpy(text, PARAMETERS[luck % 8 < 6 ? 0 : draw(rig) % NAMES], sizeof text - 1);
    for (size_t i = 0; i < sizeof text / 8; ++i)
        put(&slot->parameter[i], ((uint64_t const *)(void const *)text)[i]);
    memset(text, luck % 64 == 5 ? 0xFF : 0, sizeof text);
    strncpy(text, OWNERS[luck % 8 < 7 ? 0 : draw(rig) % NAMES], RM_OWNER_BYTES - 1);
    for (size_t i = 0; i < RM_OWNER_BYTES / 8; ++i)
        put(&slot->owner[i], ((uint64_t const *)(void const *)text)[i]);
    for (size_t i = 0; i < 100; ++i) {
        union {
            double number;
            uint64_t bits;
        } const value = {.number = luck % 8 == 4 && i == 50 ? 11.0 : 5.0};
        put(&slot->value[i], luck % 16 == 9 && i == 3 ? UINT64_MAX : value.bits);
    }
}

static void assert_within_limits(struct rig *rig) {
    double values[100];
    struct rm_parameter_reading reading;
    assert_int_equal(rm_parameter_read(rig->parameter, values, sizeof values, &reading), sizeof values);
    for (size_t i = 0; i < 100; ++i)
        assert_true(values[i] == 0.0 || values[i] == 5.0);
}

static void assert_sane(struct rm_request const *request) {
    assert_true(request->bytes <= RM_REQUEST_VALUE_BYTES);
    assert_true(strnlen(request->parameter, RM_NAME_BYTES) < RM_NAME_BYTES);
    assert_true(strnlen(request->requester, RM_OWNER_BYTES) < RM_OWNER_BYTES);
}

static void test_nonsense(void **state) {
    (void)state;
    struct rig rig;
    start(&rig);
    struct rm_replies const *replies = rm_owner_memory(rig.server, rig.server->replies);
    uint64_t number = 0, taken = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        for (uint64_t many = draw(&rig) % 20; many > 0; --many)
            scribble(&rig, ++number);
        atomic_store(&rig.requests->head, number);
        struct rm_request request;
        while (rm_inbox_take(rig.inbox, &request)) {
            assert_sane(&request);
            rm_inbox_apply(rig.inbox, &request, (struct rm_stamp){0, 0});
            ++taken;
        }
    }
    assert_int_equal(atomic_load(&replies->head), taken);
    uint64_t const refused = atomic_load(&replies->refused);
    assert_true(refused > taken / 10 && refused < taken * 9 / 10); // both ways are gone often
    assert_true(atomic_load(&replies->missed) > 0);
    assert_within_limits(&rig);
    stop(&rig);
}

/** Heads that leap, fall back and overflow: a take ends soon, and one requester does not keep another waiting. */
static void test_heads(void **state) {
    struct segment_test *test = *state;
    struct rig rig;
    start(&rig);
    struct rm_owner *good;
    assert_ok(rm_owner_new_requester("demo", "good", &good, &test->error), &test->error);
    rm_owner_requests(good);
    assert_ok(rm_owner_open(good, &test->error), &test->error);
    rm_inbox_look(rig.inbox);
    struct rm_workspace *workspace = attach(test, 0);
    uint64_t const heads[] = {UINT64_MAX, 0, 1, UINT64_MAX - 1, 1ull << 63, 14, 15, 16, UINT64_MAX};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; ++i) {
        atomic_store(&rig.requests->head, heads[i]);
        for (int n = 0; n < RM_REQUEST_SLOTS; ++n)
            scribble(&rig, heads[i] - (uint64_t)n);
        double const value = 5.0;
        uint64_t number;
        assert_ok(rm_requests_post(good, workspace, "sr/gains", 0, &value, 8, &number, &test->error), &test->error);
        struct rm_request request;
        bool found = false;
        for (int takes = 0; takes < 2 * RM_REQUEST_SLOTS && !found; ++takes)
            found = rm_inbox_take(rig.inbox, &request) && strcmp(request.requester, good->name) == 0;
        assert_true(found);
    }
    rm_workspace_detach(workspace);
    rm_owner_close(good);
    stop(&rig);
}

static void *scribble_on(void *argument) {
    struct rig *rig = argument;
    for (uint64_t number = 1; !atomic_load_explicit(&rig->stop, memory_order_relaxed); ++number) {
        scribble(rig, number);
        if (draw(rig) % 64 == 0)
            put(&rig->requests->head, draw(rig));
        atomic_store_explicit(&rig->requests->head, number, memory_order_release);
    }
    return NULL;
}

static void test_while_it_changes(void **state) {
    (void)state;
    struct rig rig;
    start(&rig);
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, scribble_on, &rig), 0);
    struct rm_request request;
    for (int i = 0; i < TAKES; ++i)
        if (rm_inbox_take(rig.inbox, &request)) {
            assert_sane(&request);
            rm_inbox_apply(rig.inbox, &request, (struct rm_stamp){0, 0});
        }
    atomic_store(&rig.stop, true);
    pthread_join(writer, NULL);
    assert_within_limits(&rig);
    stop(&rig);
}

/** Posts without a break: every word of request n is n. */
static void *post_on(void *argument) {
    struct rig *rig = argument;
    for (uint64_t number = 1; !atomic_load_explicit(&rig->stop, memory_order_relaxed); ++number) {
        struct rm_request_slot *slot = &rig->requests->slot[number & (RM_REQUEST_SLOTS - 1)];
        atomic_thread_fence(memory_order_release); // as rm_requests_post
        put(&slot->number, number);
        put(&slot->timestamp_tai_ns, UINT64_MAX);
        put(&slot->first, number);
        put(&slot->bytes, RM_REQUEST_VALUE_BYTES);
        char const owner[RM_OWNER_BYTES] = "server";
        for (size_t i = 0; i < RM_OWNER_BYTES / 8; ++i)
            put(&slot->owner[i], ((uint64_t const *)(void const *)owner)[i]);
        for (size_t i = 0; i < RM_REQUEST_VALUE_BYTES / 8; ++i)
            put(&slot->value[i], number);
        atomic_store_explicit(&rig->requests->head, number, memory_order_release);
    }
    return NULL;
}

/** A requester that laps its reader all the time: what is taken is of one request, and numbers only grow. */
static void test_whole(void **state) {
    (void)state;
    struct rig rig;
    start(&rig);
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, post_on, &rig), 0);
    uint64_t last = 0, torn = 0;
    for (int taken = 0; taken < WHOLE;) {
        struct rm_request request;
        if (!rm_inbox_take(rig.inbox, &request))
            continue;
        torn += request.first != request.number || request.number <= last;
        last = request.number;
        for (size_t i = 0; i < RM_REQUEST_VALUE_BYTES / 8; ++i)
            torn += ((uint64_t const *)(void const *)request.value)[i] != request.number;
        ++taken;
    }
    atomic_store(&rig.stop, true);
    pthread_join(writer, NULL);
    assert_int_equal(torn, 0);
    stop(&rig);
}

/** The answering side is hostile too: replies full of nonsense. */
static void test_replies(void **state) {
    struct segment_test *test = *state;
    struct rig rig;
    start(&rig);
    struct rm_workspace *workspace = attach(test, 0);
    struct rm_replies *replies = rm_owner_memory(rig.server, rig.server->replies);
    uint64_t const heads[] = {0, 1, 63, 64, 65, 1ull << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; ++i)
        for (uint64_t fill = 0; fill < 3; ++fill) {
            uint64_t const word = fill == 0 ? 0 : fill == 1 ? 1 : UINT64_MAX;
            for (_Atomic uint64_t *at = (void *)replies->slot; at < (_Atomic uint64_t *)(void *)(replies + 1); ++at)
                put(at, word);
            atomic_store(&replies->head, heads[i]);
            struct rm_reply reply;
            assert_false(rm_requests_reply(rig.requester, workspace, "server", word, &reply)); // of another requester
            for (size_t slot = 0; slot < RM_REPLY_SLOTS; ++slot)
                memcpy((void *)replies->slot[slot].requester, rig.requester->name, RM_OWNER_BYTES);
            bool const found = rm_requests_reply(rig.requester, workspace, "server", word, &reply);
            assert_true(!found || (word == 1 && heads[i] > 0));
            if (found)
                assert_true(strnlen(reply.reason, sizeof reply.reason) < sizeof reply.reason &&
                            (reply.verdict == RM_VERDICT_DONE || reply.verdict == RM_VERDICT_REFUSED));
        }
    rm_workspace_detach(workspace);
    stop(&rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_nonsense, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_heads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_while_it_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replies, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
