// SPDX-License-Identifier: Apache-2.0
#include "engine/test_telemetry_reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/telemetry_answers.h"

/** A reply takes so many bytes more, as DPDK writes it. */
static void grow(struct rm_telemetry_reply *reply, size_t bytes) {
    reply->bytes += bytes;
    reply->lost |= reply->bytes >= RM_TELEMETRY_REPLY_BYTES;
}

static bool key_is_good(char const *key) {
    return strlen(key) < RM_TELEMETRY_TEXT_BYTES &&
           strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/") == strlen(key);
}

static void add_key(struct rm_telemetry_reply *reply, char const *key, uint64_t number) {
    reply->lost |= reply->keys == RM_TELEMETRY_KEYS_MAX || !key_is_good(key);
    if (reply->keys < RM_TELEMETRY_KEYS_MAX) {
        reply->key[reply->keys] = key;
        reply->number[reply->keys++] = number;
    }
    grow(reply, strlen(key) + sizeof "\"\":," - 1);
}

static size_t digits(uint64_t value) { return (size_t)snprintf(NULL, 0, "%ju", (uintmax_t)value); }

void rm_telemetry_number(struct rm_telemetry_reply *reply, char const *key, uint64_t value) {
    add_key(reply, key, value);
    grow(reply, digits(value));
}

void rm_telemetry_text(struct rm_telemetry_reply *reply, char const *key, char const *text) {
    add_key(reply, key, 0);
    reply->lost |= strlen(text) >= RM_TELEMETRY_TEXT_BYTES;
    grow(reply, strlen(text) + 2);
}

void rm_telemetry_refuse(struct rm_telemetry_reply *reply, char const *format, ...) {
    va_list values;
    va_start(values, format);
    int const length = vsnprintf(reply->error, sizeof reply->error, format, values);
    va_end(values);
    reply->lost |= length < 0 || length >= (int)sizeof reply->error;
}

static struct rm_telemetry_list *make_list(struct rm_telemetry_reply *reply, char const *key, bool numbers) {
    add_key(reply, key, 0);
    grow(reply, 2);
    assert_true(reply->lists < TEST_LISTS_MAX);
    struct rm_telemetry_list *const list = &reply->list[reply->lists++];
    list->key = key;
    list->numbers = numbers;
    list->count = 0;
    return list;
}

struct rm_telemetry_list *rm_telemetry_numbers(struct rm_telemetry_reply *reply, char const *key) {
    return make_list(reply, key, true);
}

struct rm_telemetry_list *rm_telemetry_texts(struct rm_telemetry_reply *reply, char const *key) {
    return make_list(reply, key, false);
}

void rm_telemetry_add_number(struct rm_telemetry_list *list, uint64_t value) {
    assert_true(list->numbers && list->count < RM_TELEMETRY_LIST_MAX);
    list->number[list->count++] = value;
}

void rm_telemetry_add_text(struct rm_telemetry_list *list, char const *text) {
    assert_true(!list->numbers && list->count < RM_TELEMETRY_LIST_MAX && strlen(text) < RM_TELEMETRY_TEXT_BYTES);
    strcpy(list->text[list->count++], text);
}

static void add_elements(struct rm_telemetry_reply *reply, struct rm_telemetry_list const *list) {
    for (uint32_t i = 0; i < list->count; ++i)
        grow(reply, list->numbers ? digits(list->number[i]) + 1 : strlen(list->text[i]) + 3);
}

void reply_ask(struct rm_telemetry_reply *reply, void *context, char const *name, char const *parameter) {
    reply->keys = reply->lists = 0;
    reply->lost = false;
    reply->error[0] = '\0';
    reply->bytes = strlen(name) + sizeof "{\"\":{}}";
    for (uint32_t i = 0; i < RM_TELEMETRY_COMMANDS; ++i)
        if (strcmp(rm_telemetry_commands[i].name, name) == 0)
            rm_telemetry_commands[i].answer(context, parameter, reply);
    for (uint32_t i = 0; i < reply->lists; ++i)
        add_elements(reply, &reply->list[i]);
}

uint64_t reply_number(struct rm_telemetry_reply const *reply, char const *key) {
    for (uint32_t i = 0; i < reply->keys; ++i)
        if (strcmp(reply->key[i], key) == 0)
            return reply->number[i];
    fail_msg("there is no \"%s\"; its error is \"%s\"", key, reply->error);
    return 0;
}

struct rm_telemetry_list const *reply_list(struct rm_telemetry_reply const *reply, char const *key) {
    for (uint32_t i = 0; i < reply->lists; ++i)
        if (strcmp(reply->list[i].key, key) == 0)
            return &reply->list[i];
    fail_msg("there is no list \"%s\"; its error is \"%s\"", key, reply->error);
    return NULL;
}
