// SPDX-License-Identifier: Apache-2.0
#include "configuration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "quantity.h"

static double const NS_PER_S = 1e9;

/** What is being checked. */
struct checking {
    char const *path;
    struct rm_errors *errors;
};

static double check_quantity(struct checking *checking, char const *key, char const *text, unsigned kinds,
                             char const *examples, enum rm_quantity_kind *kind) {
    double value = 0;
    if (text != NULL && !rm_quantity_parse(text, kinds, kind, &value)) {
        char quoted[RM_QUOTED_BYTES];
        rm_configuration_refuse(checking->errors, checking->path, key, "found %s, expected %s",
                                rm_quote(text, strlen(text), quoted), examples);
        return 0;
    }
    return value;
}

static uint64_t check_bytes(struct checking *checking, char const *key, char const *text) {
    enum rm_quantity_kind kind;
    return (uint64_t)check_quantity(checking, key, text, 1u << RM_QUANTITY_BYTES,
                                    "bytes such as 500 MB, 20 GB, 4 TB or 64 GiB", &kind);
}

static void check_retention(struct checking *checking, char const *at, struct rm_retention *retention) {
    char key[96];
    enum rm_quantity_kind kind;
    snprintf(key, sizeof key, "%s.keep", at);
    double const seconds = check_quantity(checking, key, retention->keep_text, 1u << RM_QUANTITY_SECONDS,
                                          "a time such as 90 s, 10 min, 12 h, 3 d or 2 y", &kind);
    retention->keep_ns = (uint64_t)(seconds * NS_PER_S);
    snprintf(key, sizeof key, "%s.quota", at);
    retention->quota_bytes = check_bytes(checking, key, retention->quota_text);
}

static void check_step(struct checking *checking, char const *at, struct rm_record_step *step) {
    char key[96];
    enum rm_quantity_kind kind = RM_QUANTITY_SECONDS;
    snprintf(key, sizeof key, "%s.step", at);
    double const value =
        check_quantity(checking, key, step->step_text, 1u << RM_QUANTITY_SECONDS | 1u << RM_QUANTITY_TURNS,
                       "a time such as 100 ms, 1 s or 1 min, or turns such as 12000 turns", &kind);
    if (kind == RM_QUANTITY_TURNS)
        step->turns = (uint64_t)value;
    else
        step->seconds = value;
    check_retention(checking, at, &step->retention);
}

static char const NAME_EXPECTED[] =
    "found \"%s\", expected letters, digits, _ and -, and neither \"pinned\", \"events\" nor \"archive\"";

/** A name is a folder's, and `pinned` and `events` have a meaning of their own. */
static bool log_name_is_good(char const *name) {
    size_t const length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    return length > 0 && name[length] == '\0' && strcmp(name, "pinned") != 0 && strcmp(name, "events") != 0 &&
           strcmp(name, "archive") != 0;
}

bool rm_record_step_name(struct rm_record_log const *log, struct rm_record_step const *step,
                         char name[RM_LOG_NAME_BYTES]) {
    size_t length = (size_t)snprintf(name, RM_LOG_NAME_BYTES, "%s-", log->name);
    for (char const *at = step->step_text; *at != '\0' && length < RM_LOG_NAME_BYTES; ++at)
        if (*at != ' ')
            name[length++] = *at;
    bool const fits = length < RM_LOG_NAME_BYTES;
    name[fits ? length : RM_LOG_NAME_BYTES - 1] = '\0';
    return fits;
}

/** Both are times, or both are turns: then it shows without a turn rate. */
static bool step_is_multiple(struct rm_record_step const *step, struct rm_record_step const *before) {
    double const ratio =
        step->turns > 0 ? (double)step->turns / (double)before->turns : step->seconds / before->seconds;
    return ratio > 1.5 && fabs(ratio - round(ratio)) < 1e-6 * ratio;
}

static void check_steps(struct checking *checking, struct rm_record_log const *log, char const *at) {
    for (uint32_t s = 0; s < log->step_count; ++s) {
        struct rm_record_step const *step = &log->step[s], *before = s > 0 ? &log->step[s - 1] : NULL;
        char key[96], name[RM_LOG_NAME_BYTES];
        snprintf(key, sizeof key, "%s.reduce[%u].step", at, s);
        if (log->name != NULL && step->step_text != NULL && !rm_record_step_name(log, step, name))
            rm_configuration_refuse(checking->errors, checking->path, key,
                                    "\"%s-%s\" is too long for the name of a log, expected at most %d bytes", log->name,
                                    step->step_text, RM_LOG_NAME_BYTES - 1);
        bool const known = before != NULL && (step->turns > 0 || step->seconds > 0);
        bool const alike = known && (step->turns > 0 ? before->turns > 0 : before->seconds > 0);
        if (alike && !step_is_multiple(step, before))
            rm_configuration_refuse(checking->errors, checking->path, key,
                                    "found \"%s\", expected a multiple of the step before, \"%s\"", step->step_text,
                                    before->step_text);
    }
}

/** All logs have folders of their own, those of reductions, too. `mine` is that of logs[index], or of none of them. */
static void check_name_in_logs(struct checking *checking, struct rm_record_configuration const *configuration,
                               uint32_t index, char const *mine, char const *key) {
    for (uint32_t other = 0; other < configuration->log_count; ++other) {
        struct rm_record_log const *log = &configuration->log[other];
        char name[RM_LOG_NAME_BYTES];
        if (other < index && log->name != NULL && strcmp(log->name, mine) == 0)
            rm_configuration_refuse(checking->errors, checking->path, key, "\"%s\" is the name of logs[%u], too", mine,
                                    other);
        for (uint32_t s = 0; log->name != NULL && s < log->step_count; ++s)
            if (log->step[s].step_text != NULL && rm_record_step_name(log, &log->step[s], name) &&
                strcmp(name, mine) == 0)
                rm_configuration_refuse(checking->errors, checking->path, key,
                                        "\"%s\" is the name of the log of logs[%u].reduce[%u], too", mine, other, s);
    }
}

/** A name that no log of `logs` and no earlier one of `images` has. */
static void check_images_name(struct checking *checking, struct rm_record_configuration const *configuration,
                              uint32_t index, char const *key) {
    char const *const mine = configuration->images[index].name;
    if (!log_name_is_good(mine))
        rm_configuration_refuse(checking->errors, checking->path, key, NAME_EXPECTED, mine);
    check_name_in_logs(checking, configuration, configuration->log_count, mine, key);
    for (uint32_t other = 0; other < index; ++other)
        if (configuration->images[other].name != NULL && strcmp(configuration->images[other].name, mine) == 0)
            rm_configuration_refuse(checking->errors, checking->path, key, "\"%s\" is the name of images[%u], too",
                                    mine, other);
}

static void check_images(struct checking *checking, struct rm_record_configuration *configuration, uint32_t index) {
    struct rm_record_images *images = &configuration->images[index];
    char at[32], key[80];
    snprintf(at, sizeof at, "images[%u]", index);
    snprintf(key, sizeof key, "%s.name", at);
    if (images->name != NULL)
        check_images_name(checking, configuration, index, key);
    check_retention(checking, at, &images->retention);
}

static void check_log(struct checking *checking, struct rm_record_configuration *configuration, uint32_t index) {
    struct rm_record_log *log = &configuration->log[index];
    char at[32], key[80];
    snprintf(at, sizeof at, "logs[%u]", index);
    snprintf(key, sizeof key, "%s.name", at);
    if (log->name != NULL && !log_name_is_good(log->name))
        rm_configuration_refuse(checking->errors, checking->path, key, NAME_EXPECTED, log->name);
    if (log->name != NULL)
        check_name_in_logs(checking, configuration, index, log->name, key);
    check_retention(checking, at, &log->retention);
    for (uint32_t s = 0; s < log->step_count; ++s) {
        char step[88];
        snprintf(step, sizeof step, "%s.reduce[%u]", at, s);
        check_step(checking, step, &log->step[s]);
    }
    check_steps(checking, log, at);
}

static void check_count(struct checking *checking, struct rm_record_configuration const *configuration) {
    uint32_t count = configuration->log_count + configuration->images_count + 1;
    if (count == 1)
        rm_configuration_refuse(checking->errors, checking->path, "logs",
                                "there is nothing to record, expected `logs` or `images`");
    for (uint32_t i = 0; i < configuration->log_count; ++i)
        count += configuration->log[i].step_count;
    if (count > RM_RECORD_LOGS_IN_ALL_MAX)
        rm_configuration_refuse(checking->errors, checking->path, "logs",
                                "there are %u with their reductions and the events, expected at most %d", count,
                                RM_RECORD_LOGS_IN_ALL_MAX);
}

static enum rm_code configuration_check(char const *path, void *values, struct rm_errors *errors) {
    struct rm_record_configuration *configuration = values;
    struct checking checking = {path, errors};
    uint32_t const before = errors->count;
    configuration->quota_bytes = check_bytes(&checking, "quota", configuration->quota_text);
    for (uint32_t i = 0; i < configuration->log_count; ++i)
        check_log(&checking, configuration, i);
    for (uint32_t i = 0; i < configuration->images_count; ++i)
        check_images(&checking, configuration, i);
    check_count(&checking, configuration);
    check_retention(&checking, "events", &configuration->events.retention);
    return errors->count == before ? RM_OK : RM_E_CONFIG;
}

enum rm_code rm_record_configuration_load(char const *path, struct rm_record_configuration *configuration,
                                          struct rm_errors *errors) {
    return rm_configuration_load(path, rm_record_keys, configuration, configuration_check, errors);
}

void rm_record_configuration_free(struct rm_record_configuration *configuration) {
    rm_configuration_free(rm_record_keys, configuration);
}
