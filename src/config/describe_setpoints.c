// SPDX-License-Identifier: Apache-2.0
#include "config/describe.h"

#include <inttypes.h>
#include <string.h>

/* "NAME" or "NAME … NAME". */
static void print_range(char const *first, char const *last, FILE *out) {
    fputs(first, out);
    if (strcmp(first, last) != 0)
        fprintf(out, " … %s", last);
}

static void print_cycles(struct rm_config const *config, FILE *out) {
    struct rm_config_setpoints const *const setpoints = &config->setpoints;
    double const rate_hz = config->turn_rate_hz / setpoints->period_turns;
    fprintf(out, "setpoints: every %u turns (%.4g %s), ", setpoints->period_turns,
            rate_hz >= 1000 ? rate_hz / 1000 : rate_hz, rate_hz >= 1000 ? "kHz" : "Hz");
    if (setpoints->lead != 0)
        fprintf(out, "when %s has a vector, at the latest ", config->application[setpoints->lead].name);
    if (setpoints->phase_turns != 0)
        fprintf(out, "%u turns after ", setpoints->phase_turns);
    fprintf(out, "%sthe turn that they are of; a chain is lost after %u cycles without an answer\n",
            setpoints->phase_turns == 0 ? "at " : "", setpoints->lost_cycles);
}

static bool is_broadcast(uint8_t const mac[6]) { return memcmp(mac, "\xFF\xFF\xFF\xFF\xFF\xFF", 6) == 0; }

/* True when `b` is the next of a count: all is equal but what counts up. */
static bool chain_follows(struct rm_config_chain const *a, struct rm_config_chain const *b) {
    return b->id == a->id + 1 && b->port == a->port && b->address_ipv4 == a->address_ipv4 + 1 &&
           is_broadcast(b->mac) == is_broadcast(a->mac) && b->udp_port == a->udp_port && b->readback == a->readback &&
           b->timeout_s == a->timeout_s && b->supply_count == a->supply_count;
}

static uint32_t run_length(struct rm_config const *config, uint32_t first) {
    uint32_t end = first + 1;
    while (end < config->chain_count && chain_follows(&config->chain[end - 1], &config->chain[end]))
        end++;
    return end - first;
}

static void print_mac(uint8_t const mac[6], FILE *out) {
    if (is_broadcast(mac))
        fputs("broadcast", out);
    else
        fprintf(out, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

/* One line for a run of chains. */
static void print_chains(struct rm_config const *config, uint32_t first, uint32_t count, FILE *out) {
    struct rm_config_chain const *const chain = &config->chain[first];
    struct rm_config_chain const *const last = &config->chain[first + count - 1];
    fputs("  ", out);
    print_range(chain->name, last->name, out);
    fprintf(out, ": id %u", chain->id);
    if (count > 1)
        fprintf(out, "–%u", last->id);
    fputs(", ", out);
    rm_config_print_ipv4(chain->address_ipv4, out);
    if (count > 1) {
        fputs(" … ", out);
        rm_config_print_ipv4(last->address_ipv4, out);
    }
    fprintf(out, " UDP port %u, ", chain->udp_port);
    print_mac(chain->mac, out);
    fprintf(out, "%s on %s, %u suppl%s", count > 1 && !is_broadcast(chain->mac) ? " …" : "",
            config->port[chain->port].port.name, chain->supply_count, chain->supply_count == 1 ? "y" : "ies");
    if (chain->timeout_s != 0)
        fprintf(out, ", stops after %.4g µs without setpoints", 1e6 * chain->timeout_s);
    if (!chain->readback)
        fputs(", no answer\n", out);
    else if (chain->instrument_count == 1)
        fprintf(out, ", answer %s/raw\n", config->instrument[chain->first_instrument].name);
    else
        fprintf(out, ", answer %s/raw to %s/raw\n", config->instrument[chain->first_instrument].name,
                config->instrument[chain->first_instrument + chain->instrument_count - 1].name);
}

/* True where two supplies differ in name and chain only. */
static bool supplies_are_alike(struct rm_config_supply const *a, struct rm_config_supply const *b) {
    return a->application == b->application && strcmp(a->unit, b->unit) == 0 && a->low == b->low &&
           a->high == b->high && a->slew_per_s == b->slew_per_s && a->safe == b->safe &&
           a->safe_slew_per_s == b->safe_slew_per_s && a->tolerance == b->tolerance &&
           a->settle_cycles == b->settle_cycles && strcmp(a->conversion.unit, b->conversion.unit) == 0 &&
           memcmp(a->conversion.c, b->conversion.c, sizeof a->conversion.c) == 0;
}

static bool is_first_of_its_kind(struct rm_config const *config, uint32_t index) {
    for (uint32_t i = 0; i < index; i++)
        if (supplies_are_alike(&config->supply[i], &config->supply[index]))
            return false;
    return true;
}

/* All supplies that are like this one, wherever they stand, in one paragraph. */
static void print_supplies(struct rm_config const *config, uint32_t first, FILE *out) {
    struct rm_config_supply const *const supply = &config->supply[first];
    uint32_t count = 0, last = first;
    for (uint32_t i = first; i < config->supply_count; i++) {
        if (!supplies_are_alike(&config->supply[i], supply))
            continue;
        count++;
        last = i;
    }
    double const cycle_s = config->setpoints.period_turns / config->turn_rate_hz;
    fprintf(out, "  %-5u ", count);
    print_range(supply->name, config->supply[last].name, out);
    fprintf(out, ", set by %s\n        %g to %g %s, %g %s/s (%.3g %s a cycle); safe at %g %s, by %g %s/s;",
            config->application[supply->application].name, supply->low, supply->high, supply->unit, supply->slew_per_s,
            supply->unit, supply->slew_per_s * cycle_s, supply->unit, supply->safe, supply->unit,
            supply->safe_slew_per_s, supply->unit);
    fprintf(out, " answers within %g %s after %u cycles", supply->tolerance, supply->unit, supply->settle_cycles);
    if (supply->conversion.unit[0] != '\0')
        fprintf(out, "; %g to %g %s", rm_convert(&supply->conversion, supply->low),
                rm_convert(&supply->conversion, supply->high), supply->conversion.unit);
    fputs("\n", out);
}

static void print_place(struct rm_config_application const *application, FILE *out) {
    if (application->hosted) {
        fputs(", hosted", out);
        return;
    }
    fputs(", a process of its own", out);
    if (application->core >= 0)
        fprintf(out, " on core %d", application->core);
    if (application->user[0] != '\0')
        fprintf(out, " as user %s", application->user);
}

static void print_inputs(struct rm_config_application const *application, FILE *out) {
    enum { SHOWN = 4 };
    fprintf(out, "        every %u turns", application->period_turns);
    for (uint32_t i = 0; i < application->input_count && i < SHOWN; i++)
        fprintf(out, "%s %s", i == 0 ? ", from" : ",", application->input[i]);
    if (application->input_count > SHOWN)
        fprintf(out, " … (%u)", application->input_count);
    if (application->input_count != 0)
        fprintf(out, ", waits %u turns for them", application->deadline_turns);
    fprintf(out, "; vectors are fresh for %" PRIu64 " turns, it has stopped after %u steps without one: %s\n",
            application->freshness_turns, application->watchdog_cycles,
            application->stop == RM_STOP_RAMP ? "its supplies go to their safe values" : "its supplies stay");
}

static void print_settings(struct rm_config_application const *application, FILE *out) {
    if (application->setting_count == 0)
        return;
    fputs("        begins with", out);
    for (uint32_t i = 0; i < application->setting_count; i++)
        fprintf(out, "%s %s = %g", i == 0 ? "" : ",", application->setting[i].name, application->setting[i].value);
    fputs("\n", out);
}

static void print_application(struct rm_config const *config, uint32_t index, FILE *out) {
    struct rm_config_application const *const application = &config->application[index];
    fprintf(out, "  %-16s ", application->name);
    if (application->supply_count == 0) {
        fputs("sets no supply\n", out);
        return;
    }
    fprintf(out, "sets %u: ", application->supply_count);
    print_range(config->supply[application->supply[0]].name,
                config->supply[application->supply[application->supply_count - 1]].name, out);
    if (index == 0) {
        fputs("\n", out);
        return;
    }
    fprintf(out, "; code %s", application->code);
    print_place(application, out);
    fputs("\n", out);
    print_inputs(application, out);
    print_settings(application, out);
}

void rm_config_describe_setpoints(struct rm_config const *config, FILE *out) {
    if (config->chain_count == 0)
        return;
    print_cycles(config, out);
    fprintf(out, "chains: %u\n", config->chain_count);
    for (uint32_t i = 0, count; i < config->chain_count; i += count) {
        count = run_length(config, i);
        print_chains(config, i, count, out);
    }
    fprintf(out, "supplies: %u\n", config->supply_count);
    for (uint32_t i = 0; i < config->supply_count; i++)
        if (is_first_of_its_kind(config, i))
            print_supplies(config, i, out);
    fprintf(out, "applications: %u and the operator\n", config->application_count - 1);
    for (uint32_t i = 0; i < config->application_count; i++)
        print_application(config, i, out);
}
