// SPDX-License-Identifier: Apache-2.0
#include "net/telemetry.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_telemetry.h>

#include "base/fail.h"

/** DPDK calls back with nothing but the command's name, and takes no command back: so this is at file scope, as DPDK
 * itself is in a process. The lock is held while an answer is made, not while it is sent. */
static struct telemetry {
    pthread_mutex_t lock;
    struct rm_telemetry_command const *command; /**< NULL: closed */
    uint32_t count;
    void *context;
} telemetry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/** In front of the C library's strtok, which has one place for the whole process: a program's own definition comes
 * before that of a library. DPDK 22.11 serves each client in a thread of its own, and takes commands apart with strtok.
 * Two clients at once got each other's parameters; where the other had just gone, its text lay in a stack that may be
 * unmapped, and the process ended. */
char *strtok(char *restrict text, char const *restrict separators) {
    static _Thread_local char *place;
    return strtok_r(text, separators, &place);
}

static struct rm_telemetry_reply *reply_of(struct rte_tel_data *data) { return (struct rm_telemetry_reply *)data; }

static struct rte_tel_data *data_of(struct rm_telemetry_reply *reply) { return (struct rte_tel_data *)reply; }

static struct rte_tel_data *list_data_of(struct rm_telemetry_list *list) { return (struct rte_tel_data *)list; }

/** Under the lock. */
static struct rm_telemetry_command const *find_command(char const *name) {
    for (uint32_t i = 0; telemetry.command != NULL && i < telemetry.count; ++i)
        if (strcmp(telemetry.command[i].name, name) == 0)
            return &telemetry.command[i];
    return NULL;
}

static void telemetry_answer(struct rm_telemetry_reply *reply, char const *name, char const *parameter) {
    struct rm_telemetry_command const *const command = find_command(name);
    if (command == NULL)
        rm_telemetry_refuse(reply, "the program stops; ask again when it has started anew");
    else if (strlen(parameter) >= RM_TELEMETRY_PARAMETER_BYTES)
        rm_telemetry_refuse(reply, "the parameter has %zu bytes, expected at most %d", strlen(parameter),
                            RM_TELEMETRY_PARAMETER_BYTES - 1);
    else
        command->answer(telemetry.context, parameter, reply);
}

/** Called by DPDK, in the thread of a client. */
static int telemetry_called(char const *name, char const *parameter, struct rte_tel_data *data) {
    rte_tel_data_start_dict(data);
    pthread_mutex_lock(&telemetry.lock);
    telemetry_answer(reply_of(data), name, parameter == NULL ? "" : parameter);
    pthread_mutex_unlock(&telemetry.lock);
    return 0;
}

enum rm_code rm_telemetry_open(struct rm_telemetry_command const *commands, uint32_t count, void *context,
                               struct rm_error *error) {
    pthread_mutex_lock(&telemetry.lock);
    telemetry.command = commands;
    telemetry.count = count;
    telemetry.context = context;
    pthread_mutex_unlock(&telemetry.lock);
    for (uint32_t i = 0; i < count; ++i) {
        int const result = rte_telemetry_register_cmd(commands[i].name, telemetry_called, commands[i].help);
        if (result == 0)
            continue;
        rm_telemetry_close();
        return rm_fail(error, RM_E_NO_SPACE, "DPDK does not take the telemetry command %s: %s", commands[i].name,
                       strerror(-result));
    }
    return RM_OK;
}

void rm_telemetry_close(void) {
    pthread_mutex_lock(&telemetry.lock);
    telemetry.command = NULL;
    telemetry.context = NULL;
    pthread_mutex_unlock(&telemetry.lock);
}

void rm_telemetry_number(struct rm_telemetry_reply *reply, char const *key, uint64_t value) {
    rte_tel_data_add_dict_u64(data_of(reply), key, value);
}

void rm_telemetry_text(struct rm_telemetry_reply *reply, char const *key, char const *text) {
    rte_tel_data_add_dict_string(data_of(reply), key, text);
}

void rm_telemetry_refuse(struct rm_telemetry_reply *reply, char const *format, ...) {
    char text[RM_TELEMETRY_TEXT_BYTES];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    for (char *at = text; *at != '\0'; ++at) // what the client sent need not be text, and JSON is
        *at = (char)(*at < ' ' || *at > '~' ? '?' : *at);
    rm_telemetry_text(reply, "error", text);
}

static struct rm_telemetry_list *make_list(struct rm_telemetry_reply *reply, char const *key,
                                           enum rte_tel_value_type type) {
    struct rte_tel_data *const list = rte_tel_data_alloc();
    if (list == NULL)
        return NULL;
    rte_tel_data_start_array(list, type);
    if (rte_tel_data_add_dict_container(data_of(reply), key, list, 0) == 0)
        return (struct rm_telemetry_list *)list;
    rte_tel_data_free(list);
    return NULL;
}

struct rm_telemetry_list *rm_telemetry_numbers(struct rm_telemetry_reply *reply, char const *key) {
    return make_list(reply, key, RTE_TEL_U64_VAL);
}

struct rm_telemetry_list *rm_telemetry_texts(struct rm_telemetry_reply *reply, char const *key) {
    return make_list(reply, key, RTE_TEL_STRING_VAL);
}

void rm_telemetry_add_number(struct rm_telemetry_list *list, uint64_t value) {
    if (list != NULL)
        rte_tel_data_add_array_u64(list_data_of(list), value);
}

void rm_telemetry_add_text(struct rm_telemetry_list *list, char const *text) {
    if (list != NULL)
        rte_tel_data_add_array_string(list_data_of(list), text);
}
