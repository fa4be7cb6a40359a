// SPDX-License-Identifier: Apache-2.0
/* What is allowed, but may not be meant. */
#include "config/remarks.h"

#include "config/describe.h"
#include "config/instrument_rates.h"
#include "config/resolve.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { STABLE_WATCHDOG_CYCLES = 10 /* the default */ };

void rm_config_remark(struct rm_config_remarks *remarks, char const *format, ...) {
    va_list arguments;
    fputs(remarks->count++ == 0 ? "to think about:\n  " : "  ", remarks->out);
    va_start(arguments, format);
    vfprintf(remarks->out, format, arguments);
    va_end(arguments);
    fputs("\n", remarks->out);
}

/* The first receive role publishes the turn clock, by which cycles go out. */
static uint32_t first_receive_role(struct rm_config const *config) {
    uint32_t first = 0;
    while (first < config->role_count && config->role[first].kind != RM_ROLE_RECEIVE)
        first++;
    return first;
}

bool rm_config_tells_turn(struct rm_config const *config) {
    uint32_t const first = first_receive_role(config);
    for (uint32_t i = 0; i < config->instrument_count && first < config->role_count; i++)
        if (!config->instrument[i].follows && rm_config_role_polls(&config->role[first], config->instrument[i].port))
            return true;
    return false;
}

static bool any_instrument_tells(struct rm_config const *config) {
    for (uint32_t i = 0; i < config->instrument_count; i++)
        if (!config->instrument[i].follows)
            return true;
    return false;
}

static void remark_clock(struct rm_config const *config, struct rm_config_remarks *remarks) {
    if (rm_config_tells_turn(config))
        return;
    if (any_instrument_tells(config))
        rm_config_remark(
            remarks,
            "roles[%u] publishes the turn clock, as the first receive role, but only chains come to it: setpoints "
            "go by TAI; put a role that polls instruments before it",
            first_receive_role(config));
    else
        rm_config_remark(remarks, "no instrument tells the turn: setpoints go by TAI");
}

/* A chain that does not answer can say of no server that it obeys it. */
static void remark_voters(struct rm_config const *config, struct rm_config_remarks *remarks) {
    uint32_t voters = 0;
    for (uint32_t i = 0; i < config->chain_count; i++)
        voters += config->chain[i].readback;
    if (config->standby.present && voters != config->chain_count)
        rm_config_remark(remarks,
                         "%u of %u chains do not answer, so they have no vote on which server is active, and obey "
                         "the server that sends last",
                         config->chain_count - voters, config->chain_count);
    if (config->standby.present && voters == 2)
        rm_config_remark(remarks,
                         "two chains vote on which server is active: without one of them there is no majority");
}

static void remark_broadcast(struct rm_config const *config, struct rm_config_remarks *remarks) {
    uint32_t count = 0;
    char const *name = "";
    for (uint32_t i = 0; i < config->chain_count; i++) {
        if (memcmp(config->chain[i].mac, "\xFF\xFF\xFF\xFF\xFF\xFF", 6) != 0 ||
            config->port[config->chain[i].port].port.kind == RM_PORT_MEMIF)
            continue;
        name = count++ == 0 ? config->chain[i].name : name;
    }
    if (count != 0)
        rm_config_remark(
            remarks,
            "frames to %u chain%s (%s%s) are broadcast: a switch sends them to everybody; \"mac\" says to whom", count,
            count == 1 ? "" : "s", name, count == 1 ? "" : ", …");
}

static void remark_silence(struct rm_config const *config, struct rm_config_remarks *remarks) {
    for (uint32_t i = 0; i < config->chain_count; i++) {
        if (config->chain[i].readback)
            continue;
        rm_config_remark(remarks, "chain %s does not answer: a supply of it that does not obey is not noticed",
                         config->chain[i].name);
    }
}

/* Turns by which a stream's records are late at least; of another application's this does not know. */
static double delay_of(struct rm_config const *config, char const *stream) {
    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    size_t const bytes = strcspn(stream, "/");
    struct rm_config_instrument const *const instrument = rm_config_input_instrument(config, stream);
    if (instrument == NULL)
        return 0;
    uint32_t const period = instrument->period_turns;
    uint32_t const count = rm_instrument_rates(config, period, rate);
    for (uint32_t r = 0; r < count; r++)
        if (strcmp(rate[r].name, stream + bytes + 1) == 0)
            return rm_config_delay_turns(rate, r, period);
    return 0;
}

/* Vectors that are too old before they can be there. */
static void remark_freshness(struct rm_config const *config, struct rm_config_application const *application,
                             struct rm_config_remarks *remarks) {
    for (uint32_t i = 0; i < application->input_count; i++) {
        double const delay = delay_of(config, application->input[i]);
        if (delay < (double)application->freshness_turns)
            continue;
        rm_config_remark(remarks,
                         "setpoint vectors of %s would always be too old: %s comes %.0f turns after the turn that it "
                         "is of, and freshness_turns "
                         "is %" PRIu64,
                         application->name, application->input[i], delay, application->freshness_turns);
        return;
    }
}

/** In simulated time an input that is late stops time, and none is missing. */
static void remark_deadline(struct rm_config const *config, struct rm_config_application const *application,
                            struct rm_config_remarks *remarks) {
    uint64_t const watchdog = (uint64_t)application->watchdog_cycles * application->period_turns;
    if (!config->simulated_time && application->input_count != 0 && application->deadline_turns > watchdog)
        rm_config_remark(remarks,
                         "%s waits %u turns for a missing input, but is taken to have stopped after %" PRIu64
                         " turns without a vector; a longer watchdog_cycles, or a shorter deadline_turns?",
                         application->name, application->deadline_turns, watchdog);
}

/** A core that others work on is taken away for longer than a few periods, now and then. */
static void remark_watchdog(struct rm_config_application const *application, struct rm_config_remarks *remarks) {
    if (application->watchdog_cycles >= STABLE_WATCHDOG_CYCLES || (application->core >= 0 && !application->hosted))
        return;
    rm_config_remark(
        remarks,
        "%s counts as stopped after %u cycles without a vector, and %s: a pause of the host would stop it; "
        "watchdog_cycles: %d, or a core of its own?",
        application->name, application->watchdog_cycles,
        application->hosted ? "shares its core with the server" : "has no core of its own", STABLE_WATCHDOG_CYCLES);
}

static void remark_core(struct rm_config const *config, struct rm_config_application const *application,
                        struct rm_config_remarks *remarks) {
    for (uint32_t i = 0; i < config->role_count; i++) {
        if (application->core < 0 || config->role[i].core != (uint32_t)application->core)
            continue;
        rm_config_remark(remarks, "core %d is that of %s and of roles[%u] (%s), which never sleeps", application->core,
                         application->name, i, rm_config_role_name(config->role[i].kind));
        return;
    }
}

static void remark_lead(struct rm_config const *config, struct rm_config_remarks *remarks) {
    struct rm_config_application const *const lead = &config->application[config->setpoints.lead];
    uint32_t const cycle = config->setpoints.period_turns;
    if (config->setpoints.lead == 0)
        return;
    if (lead->period_turns != cycle)
        rm_config_remark(remarks,
                         "%s leads only one cycle in %u: it is stepped every %u turns, and setpoints go out every %u",
                         lead->name, lead->period_turns / cycle, lead->period_turns, cycle);
    else if (lead->input_count != 0 && config->setpoints.phase_turns < cycle / 4 * 3)
        rm_config_remark(remarks,
                         "vectors of %s that come more than %u turns after theirs go out a cycle later, and no "
                         "feedback is made for a "
                         "delay that comes and goes; it leads, so phase_turns may be near %u",
                         lead->name, config->setpoints.phase_turns, cycle);
}

void rm_config_describe_remarks(struct rm_config const *config, FILE *out) {
    struct rm_config_remarks remarks = {.out = out};
    rm_config_remark_datagrams(config, &remarks);
    if (config->chain_count == 0)
        return;
    remark_clock(config, &remarks);
    remark_voters(config, &remarks);
    remark_broadcast(config, &remarks);
    remark_silence(config, &remarks);
    remark_lead(config, &remarks);
    for (uint32_t i = 1; i < config->application_count; i++) {
        remark_freshness(config, &config->application[i], &remarks);
        remark_deadline(config, &config->application[i], &remarks);
        remark_watchdog(&config->application[i], &remarks);
        remark_core(config, &config->application[i], &remarks);
    }
}
