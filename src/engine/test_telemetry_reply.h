// SPDX-License-Identifier: Apache-2.0
/** For tests: net/telemetry.h without DPDK. A reply is the JSON that a client would get, and knows DPDK's limits. */
#ifndef RM_ENGINE_TEST_TELEMETRY_REPLY_H
#define RM_ENGINE_TEST_TELEMETRY_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/telemetry.h"

enum { TEST_LISTS_MAX = 16, TEST_TEXT_BYTES = 65536 };

struct rm_telemetry_list {
    char const *key;
    bool numbers;
    uint32_t count;
    uint64_t number[RM_TELEMETRY_LIST_MAX];
    char text[RM_TELEMETRY_LIST_MAX][RM_TELEMETRY_TEXT_BYTES];
};

struct rm_telemetry_reply {
    uint32_t keys;
    /** Of its JSON, with the command's name before it. */
    size_t bytes;
    /** Something was beyond a limit, and a client would not get it. */
    bool lost;
    char error[RM_TELEMETRY_TEXT_BYTES];
    /** Numbers by their keys. */
    char const *key[RM_TELEMETRY_KEYS_MAX];
    uint64_t number[RM_TELEMETRY_KEYS_MAX];

    uint32_t lists;
    struct rm_telemetry_list list[TEST_LISTS_MAX];
};

/** The reply to "NAME,PARAMETER". */
void reply_ask(struct rm_telemetry_reply *reply, void *context, char const *name, char const *parameter);

/** A number of the reply, or a list; a test that asks for what is not there fails. */
uint64_t reply_number(struct rm_telemetry_reply const *reply, char const *key);
struct rm_telemetry_list const *reply_list(struct rm_telemetry_reply const *reply, char const *key);

#endif
