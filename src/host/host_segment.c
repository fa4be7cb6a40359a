// SPDX-License-Identifier: Apache-2.0
#include "host/host_segment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/counters.h>

#include "base/fail.h"
#include "fabric/segment_map.h"
#include "host/host_permissions.h"
#include "host/host_state.h"
#include "host/host_state_bytes.h"
#include "host/host_stream.h"

enum { STREAM_RECORDS = 65536 /**< kept of each stream: at 10 kHz some seconds */ };

/** True when the last instance ended without closing its segment. Asked before it is opened. */
static bool was_killed(struct rm_host const *host) {
    char path[PATH_MAX];
    struct rm_mapped_segment mapped;
    if (rm_workspace_path(host->setup->workspace, path, NULL) != RM_OK ||
        rm_segment_map_readonly(path, host->setup->name, &mapped, NULL) != RM_OK)
        return false;
    bool const live = atomic_load_explicit(&mapped.header->state, memory_order_acquire) == RM_SEGMENT_LIVE;
    rm_segment_unmap(&mapped);
    return live;
}

/** Reads what the last instance left of one setting; elements that are no numbers within their limits stay as they are.
 */
static void take_left(struct rm_host_settings const *settings, uint32_t i, struct rm_limits const *limit,
                      double *value) {
    struct rm_parameter_reading when;
    size_t const bytes = settings->length[i] * sizeof(double);
    double *left = malloc(bytes);
    if (left != NULL && rm_parameter_read(settings->parameter[i], left, bytes, &when) == bytes)
        for (uint32_t k = 0; k < settings->length[i]; ++k)
            if (isfinite(left[k]) && !(left[k] < limit->control_low) && !(left[k] > limit->control_high))
                value[k] = left[k];
    free(left);
}

/** Where the last instance was killed: its settings, those that are whole and within their limits. Its permissions end
 * with it. */
static void go_on(struct rm_host *host) {
    struct rm_host_settings *settings = &host->settings;
    double *value = settings->proposed; // there is no proposal yet
    memcpy(value, settings->value, settings->values * sizeof value[0]);
    for (uint32_t i = 0; i < settings->count; ++i)
        if (!host->program->code.it->settings[i].is_permission)
            take_left(settings, i, &host->program->code.limit[i], value + settings->at[i]);
    struct rm_application_code const *code = host->program->code.it;
    if (code->accept != NULL && !code->accept(&host->program->passed, host->program->state, value, NULL))
        return;
    memcpy(settings->value, value, settings->values * sizeof value[0]);
}

struct indices {
    rm_owner_index vectors, counters, latency, age, group, withdrawn;
    /* Of one of two servers. */
    rm_owner_index state, follow, in_step, state_wanted;
    rm_owner_index *setting, *reading;
};

static rm_owner_index add_setting(struct rm_host *host, uint32_t i, char const *group) {
    struct rm_setting const *setting = &host->program->code.it->settings[i];
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "%s/%s", host->setup->name, setting->name);
    return rm_owner_parameter(host->owner,
                              &(struct rm_parameter_plan){
                                  .name = name,
                                  .unit = setting->unit,
                                  .description = setting->description,
                                  .type = RM_ELEMENT_F64,
                                  .rows = host->program->setting_length[i],
                                  .limits = &host->program->code.limit[i],
                                  /* No file keeps a permission, so none can bring it back. */
                                  .flags = RM_PARAMETER_WRITABLE | (setting->is_permission ? 0 : RM_PARAMETER_SETTING),
                                  .group = group,
                              });
}

static rm_owner_index add_withdrawn(struct rm_host *host) {
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "%s/withdrawn", host->setup->name);
    return rm_owner_parameter(host->owner,
                              &(struct rm_parameter_plan){
                                  .name = name,
                                  .description =
                                      "why it may not act any more: 0 not withdrawn, 1 its process died, 2 the server "
                                      "ended or granted anew",
                                  .type = RM_ELEMENT_F64,
                                  .rows = 1,
                              });
}

static rm_owner_index add_reading(struct rm_host *host, uint32_t i) {
    struct rm_reading const *reading = &host->program->code.it->readings[i];
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "%s/%s", host->setup->name, reading->name);
    return rm_owner_parameter(host->owner, &(struct rm_parameter_plan){
                                               .name = name,
                                               .unit = reading->unit,
                                               .description = reading->description,
                                               .type = RM_ELEMENT_F64,
                                               .rows = host->program->reading_length[i],
                                               .limits = &host->program->code.reading_limit[i],
                                           });
}

static rm_owner_index add_stream(struct rm_host *host, uint32_t i) {
    struct rm_application_stream const *it = &host->program->code.it->streams[i];
    struct rm_stream stream = rm_host_stream_describe(it, host->setup->period_turns);
    stream.capacity = STREAM_RECORDS;
    stream.group_delay_turns = host->program->delay[i];
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "%s/%s", host->setup->name, it->name);
    return rm_owner_stream(host->owner, name, it->description, &stream);
}

/** Those of width 0 are nowhere: no step gives them. */
static rm_owner_index add_rows(struct rm_host *host, uint32_t i) {
    struct rm_application_rows const *it = &host->program->code.it->rows[i];
    struct rm_rows_shape const *shape = &host->program->rows.shape[i];
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "%s/%s", host->setup->name, it->name);
    if (shape->width == 0)
        return 0;
    return rm_owner_rows(host->owner, &(struct rm_rows_plan){
                                          .name = name,
                                          .unit = shape->unit,
                                          .description = it->description,
                                          .width = shape->width,
                                          .depth = shape->depth,
                                          .period = host->program->rows.period_turns[i],
                                          .axis_first = shape->axis_first,
                                          .axis_step = shape->axis_step,
                                          .axis_name = shape->axis_name,
                                          .axis_unit = shape->axis_unit,
                                          .group_delay_turns = shape->delay_turns,
                                      });
}

static rm_owner_index add_decision_stream(struct rm_host *host, uint32_t i) {
    struct rm_stream stream;
    char own[RM_LANE_NAME_BYTES + 8], description[RM_DESCRIPTION_BYTES], name[RM_NAME_BYTES];
    rm_host_decisions_stream(&host->decisions, i, &stream, own, description);
    snprintf(name, sizeof name, "%s/%s", host->setup->name, own);
    return rm_owner_stream(host->owner, name, description, &stream);
}

/** What only an application of one of two servers has: host_standby.h. */
static void add_standby(struct rm_host *host, struct indices *index) {
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "state/%s", host->setup->name);
    index->state = rm_owner_state(host->owner, name, "what another server needs to go on from one step",
                                  rm_host_state_room(host->program));
    snprintf(name, sizeof name, "counters/follow/%s", host->setup->name);
    index->follow = rm_owner_counters(host->owner, name, "what it did while the other server led",
                                      RM_COUNTER_SET_FOLLOW, RM_FOLLOW_COUNTERS);
    snprintf(name, sizeof name, "%s/in_step", host->setup->name);
    index->in_step = rm_owner_parameter(
        host->owner, &(struct rm_parameter_plan){
                         .name = name,
                         .description = "1 where it follows the other server's steps and comes to the same bits",
                         .type = RM_ELEMENT_F64,
                         .rows = 1,
                     });
    snprintf(name, sizeof name, "%s/state_wanted", host->setup->name);
    index->state_wanted =
        rm_owner_parameter(host->owner, &(struct rm_parameter_plan){
                                            .name = name,
                                            .description = "asks for a copy of its state, for the other server",
                                            .type = RM_ELEMENT_F64,
                                            .rows = 1,
                                            .flags = RM_PARAMETER_WRITABLE,
                                        });
}

/** Everything that the segment holds. Additions remember their first error. */
static void add_objects(struct rm_host *host, struct indices *index) {
    char const *name = host->setup->name;
    char full[RM_NAME_BYTES];
    snprintf(full, sizeof full, "setpoints/%s", name);
    index->vectors = rm_owner_setpoints(host->owner, full, "what the application wants of its supplies",
                                        host->setup->actuator_count);
    snprintf(full, sizeof full, "counters/application/%s", name);
    index->counters = rm_owner_counters(host->owner, full, "what the host of the application did",
                                        RM_COUNTER_SET_APPLICATION, RM_APPLICATION_COUNTERS);
    snprintf(full, sizeof full, "latency/%s", name);
    index->latency =
        rm_owner_histogram(host->owner, full, "from the last input seen to the setpoint vector committed", "ticks");
    snprintf(full, sizeof full, "age/%s", name);
    index->age = rm_owner_histogram(
        host->owner, full, "from when the clock expects a turn to the setpoint vector committed that answers it",
        "ticks");
    snprintf(full, sizeof full, "%s/settings", name);
    if (host->program->code.it->setting_count > 0)
        index->group = rm_owner_group(host->owner, full, "settings, which change together between two steps");
    for (uint32_t i = 0; i < host->program->code.it->setting_count; ++i)
        index->setting[i] = add_setting(host, i, full);
    if (host->program->code.has_permissions)
        index->withdrawn = add_withdrawn(host);
    for (uint32_t i = 0; i < host->program->code.it->reading_count; ++i)
        index->reading[i] = add_reading(host, i);
    for (uint32_t i = 0; i < host->program->code.it->stream_count; ++i)
        host->stream[i] = add_stream(host, i);
    for (uint32_t i = 0; i < host->program->code.it->row_count; ++i)
        host->rows[i] = add_rows(host, i);
    for (uint32_t i = 0; i < host->decisions.stream_count; ++i)
        host->decision_stream[i] = add_decision_stream(host, i);
    if (host->standby != NULL)
        add_standby(host, index);
    rm_owner_requests(host->owner);
    rm_owner_replies(host->owner);
}

static void find_memory(struct rm_host *host, struct indices const *index) {
    host->vectors = rm_owner_memory(host->owner, index->vectors);
    host->counters = rm_owner_memory(host->owner, index->counters);
    host->latency = rm_owner_memory(host->owner, index->latency);
    host->age = rm_owner_memory(host->owner, index->age);
    for (uint32_t i = 0; i < host->program->code.it->setting_count; ++i)
        host->settings.parameter[i] = rm_owner_memory(host->owner, index->setting[i]);
    if (host->program->code.it->setting_count > 0)
        host->settings.group = rm_owner_memory(host->owner, index->group);
    if (host->program->code.has_permissions)
        host->settings.withdrawn = rm_owner_memory(host->owner, index->withdrawn);
    for (uint32_t i = 0; i < host->program->code.it->reading_count; ++i)
        host->readings.parameter[i] = rm_owner_memory(host->owner, index->reading[i]);
    if (host->standby == NULL)
        return;
    host->standby->state = rm_owner_memory(host->owner, index->state);
    host->standby->counters = rm_owner_memory(host->owner, index->follow);
    host->standby->in_step = rm_owner_memory(host->owner, index->in_step);
    host->standby->state_wanted = rm_owner_memory(host->owner, index->state_wanted);
}

static enum rm_code open_with(struct rm_host *host, struct indices *index, struct rm_error *error) {
    bool const killed = was_killed(host);
    enum rm_code code = rm_owner_new(host->setup->workspace, host->setup->name, &host->owner, error);
    if (code != RM_OK)
        return code;
    add_objects(host, index);
    code = rm_owner_open(host->owner, error);
    if (code != RM_OK)
        return code;
    find_memory(host, index);
    bool const goes_on = killed && rm_owner_adopted(host->owner);
    enum rm_withdrawal const why =
        goes_on ? rm_host_permissions_left(&host->settings, host->program) : RM_WITHDRAWN_NOT;
    if (goes_on && !host->setup->fresh)
        go_on(host);
    rm_host_settings_show(&host->settings, rm_stamp_now());
    if (host->settings.withdrawn != NULL)
        rm_parameter_write_f64(host->settings.withdrawn, why, rm_stamp_now());
    rm_host_readings_begin(&host->readings, host->program);
    if (host->standby != NULL)
        rm_parameter_write_f64(host->standby->in_step, 0.0, rm_stamp_now());
    return RM_OK;
}

enum rm_code rm_host_segment_open(struct rm_host *host, struct rm_error *error) {
    struct indices index = {
        .setting = calloc(host->program->code.it->setting_count + 1ul, sizeof *index.setting),
        .reading = calloc(host->program->code.it->reading_count + 1ul, sizeof *index.reading),
    };
    enum rm_code const code = index.setting != NULL && index.reading != NULL
                                  ? open_with(host, &index, error)
                                  : rm_fail(error, RM_E_NO_SPACE, "no memory for a segment");
    free(index.setting);
    free(index.reading);
    return code;
}
