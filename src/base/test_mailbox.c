// SPDX-License-Identifier: Apache-2.0
/** A mailbox between two threads: each message is taken once or withdrawn, and is whole; so is each answer. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mailbox.h"

enum { MESSAGES = 200000, LAST = -1 };

struct post {
    struct rm_mailbox mailbox;
    int message[2];
    int answer[2];
    /** Sum of the messages that were taken, and whether all were whole; the receiver's. */
    long taken;
    bool whole;
};

static void *receive_messages(void *argument) {
    struct post *post = argument;
    for (bool going = true; going;) {
        if (!rm_mailbox_take(&post->mailbox)) {
            sched_yield();
            continue;
        }
        post->whole = post->whole && post->message[0] == post->message[1];
        going = post->message[0] != LAST;
        post->taken += going ? post->message[0] : 0;
        post->answer[0] = post->answer[1] = post->message[0] + 1;
        rm_mailbox_answer(&post->mailbox);
    }
    return NULL;
}

static void write_message(struct post *post, int number) {
    assert_true(rm_mailbox_is_free(&post->mailbox));
    post->message[0] = post->message[1] = number;
    rm_mailbox_post(&post->mailbox);
}

static void read_answer(struct post *post, int number) {
    while (!rm_mailbox_is_answered(&post->mailbox))
        sched_yield();
    assert_int_equal(post->answer[0], number + 1);
    assert_int_equal(post->answer[1], number + 1);
    rm_mailbox_close(&post->mailbox);
}

/** Every other message is withdrawn at once, where the receiver has not been faster. */
static void each_message_is_taken_once_or_withdrawn(void **state) {
    (void)state;
    struct post post = {.whole = true};
    pthread_t receiver;
    long expected = 0;
    assert_int_equal(pthread_create(&receiver, NULL, receive_messages, &post), 0);
    for (int number = 0; number < MESSAGES; ++number) {
        write_message(&post, number);
        if (number % 2 == 1 && rm_mailbox_withdraw(&post.mailbox))
            continue;
        read_answer(&post, number);
        expected += number;
    }
    write_message(&post, LAST);
    read_answer(&post, LAST);
    pthread_join(receiver, NULL);
    assert_true(post.whole);
    assert_int_equal(post.taken, expected);
}

static void a_mailbox_without_answers_is_free_again(void **state) {
    (void)state;
    struct rm_mailbox mailbox = {0};
    assert_true(rm_mailbox_is_free(&mailbox));
    assert_false(rm_mailbox_take(&mailbox));
    assert_false(rm_mailbox_withdraw(&mailbox));
    rm_mailbox_post(&mailbox);
    assert_false(rm_mailbox_is_free(&mailbox));
    assert_true(rm_mailbox_take(&mailbox));
    assert_false(rm_mailbox_take(&mailbox));
    assert_false(rm_mailbox_withdraw(&mailbox));
    rm_mailbox_free(&mailbox);
    assert_true(rm_mailbox_is_free(&mailbox));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(each_message_is_taken_once_or_withdrawn),
        cmocka_unit_test(a_mailbox_without_answers_is_free_again),
    };
    return cmocka_run_group_tests_name("mailbox", tests, NULL, NULL);
}
