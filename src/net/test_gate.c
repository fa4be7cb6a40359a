// SPDX-License-Identifier: Apache-2.0
#include "net/gate.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

enum { QUEUES = 2, CLOSINGS = 200, DRY_AFTER = 1000 };

/** What the gate protects: a plain variable, so that a race is one for ThreadSanitizer too. */
struct guarded {
    struct rm_gate gate;
    uint64_t there[QUEUES]; /**< 1 while it may be used */
    atomic_bool end;
    _Atomic uint64_t passages;
    _Atomic uint64_t found_gone;
    _Atomic uint32_t rest; /**< datagrams to receive while draining */
};

struct passer {
    struct guarded *guarded;
    uint16_t queue;
};

static void look(struct guarded *guarded, uint16_t queue) {
    atomic_fetch_add(&guarded->passages, 1);
    if (guarded->there[queue] != 1)
        atomic_fetch_add(&guarded->found_gone, 1);
}

static void *pass(void *argument) {
    struct passer const *const passer = argument;
    struct guarded *const guarded = passer->guarded;
    while (!atomic_load(&guarded->end)) {
        enum rm_gate_state const state = rm_gate_enter_receive(&guarded->gate, passer->queue);
        if (state != RM_GATE_CLOSED) {
            look(guarded, passer->queue);
            rm_gate_leave_receive(&guarded->gate, passer->queue, state, 1);
        }
    }
    return NULL;
}

static void *pass_sending(void *argument) {
    struct passer const *const passer = argument;
    struct guarded *const guarded = passer->guarded;
    while (!atomic_load(&guarded->end))
        if (rm_gate_enter_send(&guarded->gate, passer->queue)) {
            look(guarded, passer->queue);
            rm_gate_leave_send(&guarded->gate, passer->queue);
        }
    return NULL;
}

static void wait_for_passages(struct guarded *guarded, uint64_t more) {
    uint64_t const before = atomic_load(&guarded->passages);
    while (atomic_load(&guarded->passages) < before + more)
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
}

static void nobody_is_inside_when_it_is_closed(void **state) {
    (void)state;
    struct guarded guarded = {0};
    assert_true(rm_gate_init(&guarded.gate, QUEUES));
    struct passer passers[QUEUES] = {{&guarded, 0}, {&guarded, 1}};
    pthread_t receiver, sender;
    assert_int_equal(pthread_create(&receiver, NULL, pass, &passers[0]), 0);
    assert_int_equal(pthread_create(&sender, NULL, pass_sending, &passers[1]), 0);
    for (int closing = 0; closing < CLOSINGS; ++closing) {
        guarded.there[0] = guarded.there[1] = 1;
        rm_gate_open(&guarded.gate);
        wait_for_passages(&guarded, 10);
        rm_gate_close(&guarded.gate);
        guarded.there[0] = guarded.there[1] = 0;
    }
    atomic_store(&guarded.end, true);
    pthread_join(receiver, NULL);
    pthread_join(sender, NULL);
    assert_int_equal(atomic_load(&guarded.found_gone), 0);
    rm_gate_free(&guarded.gate);
}

/** Receives what is left, one by one, until the gate is closed. */
static void *receive_rest(void *argument) {
    struct passer const *const passer = argument;
    struct guarded *const guarded = passer->guarded;
    for (;;) {
        enum rm_gate_state const state = rm_gate_enter_receive(&guarded->gate, passer->queue);
        if (state == RM_GATE_CLOSED)
            return NULL;
        uint32_t const count = atomic_load(&guarded->rest) != 0 ? 1 : 0;
        atomic_fetch_sub(&guarded->rest, count);
        rm_gate_leave_receive(&guarded->gate, passer->queue, state, count);
    }
}

static void draining_waits_for_the_last_datagram_but_not_for_unused_queues(void **state) {
    (void)state;
    struct guarded guarded = {.rest = DRY_AFTER};
    assert_true(rm_gate_init(&guarded.gate, QUEUES));
    rm_gate_open(&guarded.gate);
    struct passer passer = {&guarded, 1};
    pthread_t receiver;
    assert_int_equal(pthread_create(&receiver, NULL, receive_rest, &passer), 0);
    while (atomic_load(&guarded.rest) == DRY_AFTER)
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    atomic_fetch_add(&guarded.rest, DRY_AFTER);
    rm_gate_drain(&guarded.gate, QUEUES, UINT32_MAX); // for ever, were it to wait for queue 0
    assert_int_equal(atomic_load(&guarded.rest), 0);
    assert_false(rm_gate_enter_send(&guarded.gate, 1));
    rm_gate_close(&guarded.gate);
    pthread_join(receiver, NULL);
    rm_gate_free(&guarded.gate);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(nobody_is_inside_when_it_is_closed),
        cmocka_unit_test(draining_waits_for_the_last_datagram_but_not_for_unused_queues),
    };
    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
