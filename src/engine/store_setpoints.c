// SPDX-License-Identifier: Apache-2.0
#include "engine/store_setpoints.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standby/standby.h"

enum { OBJECT_NAME_BYTES = 128 };

static void plan_chain(struct rm_segment_plan *plan, struct rm_config_chain const *chain) {
    char name[OBJECT_NAME_BYTES];
    snprintf(name, sizeof name, "counters/chain/%s", chain->name);
    rm_plan_counters(plan, name, "setpoints to a chain of supplies, and its answers", RM_COUNTER_SET_CHAIN,
                     RM_CHAIN_COUNTERS);
}

/** The operator's values last, so nothing of it is ever too old, and it has no watchdog. */
static struct rm_grant grant_of(struct rm_config_application const *application, bool operator) {
    struct rm_grant grant = {
        .actuator_count = application->supply_count,
        .period_turns = application->period_turns,
        .freshness_turns = operator? 0 : application->freshness_turns,
        .watchdog_cycles = operator? 0 : application->watchdog_cycles,
        .stop = application->stop,
    };
    snprintf(grant.application, sizeof grant.application, "%s", application->name);
    return grant;
}

static void plan_application(struct rm_segment_plan *plan, struct rm_config_application const *application,
                             bool operator) {
    char name[OBJECT_NAME_BYTES], about[RM_DESCRIPTION_BYTES];
    struct rm_grant const grant = grant_of(application, operator);
    snprintf(name, sizeof name, "grant/%s", application->name);
    snprintf(about, sizeof about, "what %s may do, and what the guard has seen of it", application->name);
    rm_plan_grant(plan, name, about, &grant);
    snprintf(name, sizeof name, "counters/guard/%s", application->name);
    snprintf(about, sizeof about, "what became of the setpoints of %s", application->name);
    rm_plan_counters(plan, name, about, RM_COUNTER_SET_GUARD, RM_GUARD_COUNTERS);
}

/** Setpoint and readback have the same limits: those of the conversion, too. */
static struct rm_limits limits_of(struct rm_config_supply const *supply) {
    return (struct rm_limits){
        .display_low = supply->low,
        .display_high = supply->high,
        .control_low = supply->low,
        .control_high = supply->high,
        .minor_low = NAN,
        .minor_high = NAN,
        .major_low = NAN,
        .major_high = NAN,
    };
}

static void plan_supply(struct rm_segment_plan *plan, struct rm_config const *config,
                        struct rm_config_supply const *supply) {
    char name[OBJECT_NAME_BYTES], about[RM_DESCRIPTION_BYTES];
    struct rm_limits const limits = limits_of(supply);
    struct rm_parameter_plan parameter = {
        .name = name,
        .unit = supply->unit,
        .description = about,
        .type = RM_ELEMENT_F64,
        .rows = 1,
        .limits = &limits,
        .conversion = &supply->conversion,
        .flags = supply->application == 0 ? RM_PARAMETER_WRITABLE | RM_PARAMETER_SETTING : 0,
    };
    char const *const chain = config->chain[supply->chain].name;
    snprintf(name, sizeof name, "%s/setpoint", supply->name);
    snprintf(about, sizeof about, "sent to chain %s, set by %s", chain, config->application[supply->application].name);
    rm_plan_full_parameter(plan, &parameter);
    snprintf(name, sizeof name, "%s/readback", supply->name);
    bool const answers = config->chain[supply->chain].readback;
    snprintf(about, sizeof about, answers ? "as chain %s answers" : "not known: chain %s does not answer", chain);
    parameter.flags = 0;
    rm_plan_full_parameter(plan, &parameter);
}

/** One name per line. False when there is no memory. */
static bool plan_names(struct rm_segment_plan *plan, struct rm_config const *config) {
    char *text = calloc(config->supply_count + 1u, RM_CONFIG_SUPPLY_NAME_BYTES + 1u);
    if (text == NULL)
        return false;
    char *end = text;
    for (uint32_t i = 0; i < config->supply_count; ++i)
        end += sprintf(end, "%s\n", config->supply[i].name);
    rm_plan_text(plan, "supply/names", "the supplies, in the order of setpoints/sent", text);
    free(text);
    return true;
}

/** What a server has that keeps its term, or is one of two. */
static void plan_standby(struct rm_segment_plan *plan, struct rm_config const *config) {
    struct rm_config_standby const *const standby = &config->standby;
    if (!standby->present && config->setpoints.terms_path[0] == '\0')
        return;
    rm_plan_counters(plan, "counters/standby", "what the transmit role did as one of two", RM_COUNTER_SET_STANDBY,
                     RM_STANDBY_COUNTERS);
    if (!standby->present)
        return;
    struct rm_standby_state state = {.server = standby->own + 1,
                                     .missed_cycles = standby->missed_cycles,
                                     .period_turns = config->setpoints.period_turns};
    for (uint32_t i = 0; i < config->chain_count; ++i)
        state.chains += config->chain[i].readback;
    state.majority = rm_standby_majority((uint32_t)state.chains);
    rm_plan_standby_state(plan, "standby/state", "what this one of two servers is", &state);
    rm_plan_setpoints(plan, "setpoints/targets", "where each supply goes", config->supply_count);
}

bool rm_store_plan_setpoints(struct rm_segment_plan *plan, struct rm_config const *config) {
    if (config->chain_count == 0)
        return true;
    for (uint32_t i = 0; i < config->chain_count; ++i)
        plan_chain(plan, &config->chain[i]);
    for (uint32_t i = 0; i < config->application_count; ++i)
        plan_application(plan, &config->application[i], i == 0);
    for (uint32_t i = 0; i < config->supply_count; ++i)
        plan_supply(plan, config, &config->supply[i]);
    rm_plan_setpoints(plan, "setpoints/sent", "what was sent last, to all supplies", config->supply_count);
    rm_plan_intended(plan, "setpoints/intended", "what each chain may have been sent last", config->chain_count);
    rm_plan_counters(plan, "counters/transmit", "the cycles of setpoints", RM_COUNTER_SET_TRANSMIT,
                     RM_TRANSMIT_COUNTERS);
    rm_plan_parameter(plan, "supply/state", "bits", "what each supply does: enum rm_supply_state", RM_ELEMENT_U32,
                      config->supply_count, NULL);
    rm_plan_histogram(plan, "latency/setpoint", "from a vector's commit to its first datagram handed to a port",
                      "ticks");
    plan_standby(plan, config);
    return plan_names(plan, config);
}
