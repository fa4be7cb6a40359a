// SPDX-License-Identifier: Apache-2.0
#include "host/host_segment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/counters.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "fabric/segment_map.h"
#include "host/host_state.h"

/** True when the last instance ended without closing its segment. Asked before it is opened. */
static bool was_killed(struct rm_host const *host) {
    char path[PATH_MAX];
    struct rm_mapped_segment mapped;
    if (rm_workspace_path(host->setup.workspace, path, NULL) != RM_OK ||
        rm_segment_map_readonly(path, host->setup.name, &mapped, NULL) != RM_OK)
        return false;
    bool const live = atomic_load_explicit(&mapped.header->state, memory_order_acquire) == RM_SEGMENT_LIVE;
    rm_segment_unmap(&mapped);
    return live;
}

/** The setting's number by its name, or the settings' count. */
static uint32_t setting_number(struct rm_application_code const *code, char const *name) {
    uint32_t i = 0;
    while (i < code->setting_count && strcmp(code->settings[i].name, name) != 0)
        ++i;
    return i;
}

static enum rm_code unknown_setting(struct rm_application_code const *code, char const *name, struct rm_error *error) {
    struct rm_nearest nearest = {.wanted = name};
    for (uint32_t i = 0; i < code->setting_count; ++i)
        rm_nearest_offer(&nearest, code->settings[i].name);
    if (nearest.name != NULL)
        return rm_fail(error, RM_E_CONFIG, "it has no setting \"%s\"; did you mean \"%s\"?", name, nearest.name);
    return rm_fail(error, RM_E_CONFIG, "it has no setting \"%s\"", name);
}

/** First values: the code's, or the configuration's. */
static enum rm_code first_values(struct rm_host *host, struct rm_error *error) {
    struct rm_application_code const *code = host->code.it;
    for (uint32_t i = 0; i < code->setting_count; ++i)
        host->settings.value[i] = code->settings[i].value;
    for (uint32_t i = 0; i < host->setup.setting_count; ++i) {
        struct rm_host_setting const *wanted = &host->setup.setting[i];
        uint32_t const number = setting_number(code, wanted->name);
        if (number == code->setting_count)
            return unknown_setting(code, wanted->name, error);
        struct rm_limits const *limit = &host->code.limit[number];
        if (!isfinite(wanted->value) || wanted->value < limit->control_low || wanted->value > limit->control_high)
            return rm_fail(error, RM_E_CONFIG, "setting \"%s\": %g is not within its limits %g … %g", wanted->name,
                           wanted->value, limit->control_low, limit->control_high);
        host->settings.value[number] = wanted->value;
    }
    struct rm_error reason = {.text = "it does not say why"};
    if (code->accept != NULL && !code->accept(&host->told, host->state, host->settings.value, &reason))
        return rm_fail(error, RM_E_CONFIG, "the application does not accept its first settings: %s", reason.text);
    return RM_OK;
}

/** Where the last instance was killed: its settings, those that are whole and within their limits. */
static void go_on(struct rm_host *host) {
    double *value = host->settings.proposed; // nobody proposes yet
    for (uint32_t i = 0; i < host->settings.count; ++i) {
        double const left = rm_parameter_read_f64(host->settings.parameter[i]);
        struct rm_limits const *limit = &host->code.limit[i];
        bool const good = isfinite(left) && !(left < limit->control_low) && !(left > limit->control_high);
        value[i] = good ? left : host->settings.value[i];
    }
    struct rm_application_code const *code = host->code.it;
    if (code->accept != NULL && !code->accept(&host->told, host->state, value, NULL))
        return;
    memcpy(host->settings.value, value, host->settings.count * sizeof value[0]);
}

struct indices {
    rm_owner_index rows, counters, latency, group;
    rm_owner_index *setting, *reading;
};

static rm_owner_index add_setting(struct rm_host *host, uint32_t i, char const *group) {
    struct rm_setting const *setting = &host->code.it->settings[i];
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "%s/%s", host->setup.name, setting->name);
    return rm_owner_parameter(host->owner, &(struct rm_parameter_plan){
                                               .name = name,
                                               .unit = setting->unit,
                                               .description = setting->description,
                                               .type = RM_ELEMENT_F64,
                                               .rows = 1,
                                               .limits = &host->code.limit[i],
                                               .flags = RM_PARAMETER_WRITABLE | RM_PARAMETER_SETTING,
                                               .group = group,
                                           });
}

static rm_owner_index add_reading(struct rm_host *host, uint32_t i) {
    struct rm_reading const *reading = &host->code.it->readings[i];
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "%s/%s", host->setup.name, reading->name);
    return rm_owner_parameter(host->owner, &(struct rm_parameter_plan){
                                               .name = name,
                                               .unit = reading->unit,
                                               .description = reading->description,
                                               .type = RM_ELEMENT_F64,
                                               .rows = 1,
                                           });
}

/** Everything that the segment holds. Additions remember their first error. */
static void add_objects(struct rm_host *host, struct indices *index) {
    char const *name = host->setup.name;
    char full[RM_NAME_BYTES];
    snprintf(full, sizeof full, "setpoints/%s", name);
    index->rows =
        rm_owner_setpoints(host->owner, full, "what the application wants of its supplies", host->setup.actuator_count);
    snprintf(full, sizeof full, "counters/application/%s", name);
    index->counters = rm_owner_counters(host->owner, full, "what the host of the application did",
                                        RM_COUNTER_SET_APPLICATION, RM_APPLICATION_COUNTERS);
    snprintf(full, sizeof full, "latency/%s", name);
    index->latency =
        rm_owner_histogram(host->owner, full, "from the last input seen to the row of setpoints committed", "ticks");
    snprintf(full, sizeof full, "%s/settings", name);
    if (host->code.it->setting_count > 0)
        index->group = rm_owner_group(host->owner, full, "settings, which change together between two steps");
    for (uint32_t i = 0; i < host->code.it->setting_count; ++i)
        index->setting[i] = add_setting(host, i, full);
    for (uint32_t i = 0; i < host->code.it->reading_count; ++i)
        index->reading[i] = add_reading(host, i);
    rm_owner_requests(host->owner);
    rm_owner_replies(host->owner);
}

static void find_memory(struct rm_host *host, struct indices const *index) {
    host->rows = rm_owner_memory(host->owner, index->rows);
    host->counters = rm_owner_memory(host->owner, index->counters);
    host->latency = rm_owner_memory(host->owner, index->latency);
    for (uint32_t i = 0; i < host->code.it->setting_count; ++i)
        host->settings.parameter[i] = rm_owner_memory(host->owner, index->setting[i]);
    if (host->code.it->setting_count > 0)
        host->settings.group = rm_owner_memory(host->owner, index->group);
    for (uint32_t i = 0; i < host->code.it->reading_count; ++i)
        host->reading[i] = rm_owner_memory(host->owner, index->reading[i]);
}

static enum rm_code open_with(struct rm_host *host, struct indices *index, struct rm_error *error) {
    enum rm_code code = first_values(host, error);
    bool const killed = was_killed(host);
    if (code == RM_OK)
        code = rm_owner_new(host->setup.workspace, host->setup.name, &host->owner, error);
    if (code != RM_OK)
        return code;
    add_objects(host, index);
    code = rm_owner_open(host->owner, error);
    if (code != RM_OK)
        return code;
    find_memory(host, index);
    if (killed && !host->setup.fresh && rm_owner_adopted(host->owner))
        go_on(host);
    rm_host_settings_show(&host->settings, rm_stamp_now());
    for (uint32_t i = 0; i < host->code.it->reading_count; ++i)
        rm_parameter_write_f64(host->reading[i], 0.0, rm_stamp_now());
    return RM_OK;
}

enum rm_code rm_host_segment_open(struct rm_host *host, struct rm_error *error) {
    struct indices index = {
        .setting = calloc(host->code.it->setting_count + 1ul, sizeof *index.setting),
        .reading = calloc(host->code.it->reading_count + 1ul, sizeof *index.reading),
    };
    enum rm_code const code = index.setting != NULL && index.reading != NULL
                                  ? open_with(host, &index, error)
                                  : rm_fail(error, RM_E_NO_SPACE, "no memory for a segment");
    free(index.setting);
    free(index.reading);
    return code;
}
