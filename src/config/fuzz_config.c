// SPDX-License-Identifier: Apache-2.0
/* libFuzzer target: whatever bytes a configuration file holds, loading it gives a configuration or one line of error.
 */
#include "config/config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t bytes);

/* What users of a configuration need not check again. */
static void check_supplies(struct rm_config const *config) {
    uint32_t owned = 0;
    for (uint32_t i = 0; i < config->supply_count; i++) {
        struct rm_config_supply const *const supply = &config->supply[i];
        if (supply->chain >= config->chain_count || supply->application >= config->application_count ||
            !(supply->low < supply->high) || !(supply->safe >= supply->low) || !(supply->safe <= supply->high) ||
            !(supply->slew_per_s > 0) || !(supply->safe_slew_per_s > 0) || !(supply->tolerance > 0))
            abort();
    }
    for (uint32_t i = 0; i < config->application_count; i++) {
        struct rm_config_application const *const application = &config->application[i];
        owned += application->supply_count;
        for (uint32_t s = 0; s < application->supply_count; s++)
            if (config->supply[application->supply[s]].application != i)
                abort();
        if (config->chain_count != 0 && application->period_turns % config->setpoints.period_turns != 0)
            abort();
    }
    if (owned != config->supply_count || (config->chain_count != 0) != (config->setpoints.period_turns != 0))
        abort();
}

static void check_chains(struct rm_config const *config) {
    for (uint32_t i = 0; i < config->chain_count; i++) {
        struct rm_config_chain const *const chain = &config->chain[i];
        if (chain->port >= config->port_count || config->port[chain->port].answer_ipv4 == 0 || chain->id == 0 ||
            chain->supply_count == 0 || chain->first_supply + chain->supply_count > config->supply_count ||
            chain->first_instrument + chain->instrument_count > config->instrument_count)
            abort();
        for (uint32_t p = 0; p < chain->instrument_count; p++)
            if (!config->instrument[chain->first_instrument + p].follows)
                abort();
    }
}

static void check_standby(struct rm_config const *config) {
    struct rm_config_standby const *const standby = &config->standby;
    if (!standby->present)
        return;
    uint32_t const links = standby->server[0].link_count;
    if (standby->own >= RM_CONFIG_SERVERS || links == 0 || links > RM_CONFIG_LINKS_MAX ||
        standby->server[1].link_count != links || strcmp(standby->server[0].name, standby->server[1].name) == 0 ||
        standby->missed_cycles < 2 || standby->begin_cycles <= standby->missed_cycles || config->chain_count == 0)
        abort();
    for (uint32_t i = 0; i < config->chain_count; i++)
        if (!(config->chain[i].timeout_s > 0))
            abort();
}

static bool has_traffic(struct rm_config const *config) {
    for (uint32_t i = 0; i < config->role_count; i++)
        if (config->role[i].kind == RM_ROLE_GENERATE || config->role[i].kind == RM_ROLE_FORWARD)
            return true;
    return false;
}

/* All of it can be shown. */
static void describe(struct rm_config const *config) {
    FILE *const out = fopen("/dev/null", "we");
    if (out == NULL)
        abort();
    rm_config_describe(config, out);
    fclose(out);
}

static void check_config(struct rm_config *config) {
    struct rm_error error;
    check_chains(config);
    check_supplies(config);
    describe(config);
    check_standby(config);
    if (config->port_count == 0 || (config->instrument_count == 0 && !has_traffic(config)) || config->role_count < 2)
        abort();
    for (uint32_t i = 0; i < config->instrument_count; i++)
        if (config->instrument[i].port >= config->port_count || config->instrument[i].lane_count - 1 >= RM_LANES)
            abort();
    if (rm_config_fail_entry(config, &error, "roles", 0, "core", "is busy") != RM_E_CONFIG)
        abort();
    rm_config_free(config);
}

static void check_error(struct rm_error const *error, enum rm_code code) {
    if (error->code != code || error->text[0] == '\0' || strchr(error->text, '\n') != NULL)
        abort();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t bytes) {
    int const file = memfd_create("config", MFD_CLOEXEC);
    if (file < 0 || write(file, data, bytes) != (ssize_t)bytes)
        abort();
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct rm_config *config[RM_CONFIG_SERVERS];
    struct rm_errors errors = {.count = 0};
    uint32_t count = 0;
    enum rm_code const code = rm_config_load_each(path, config, &count, &errors);
    for (uint32_t i = 0; code == RM_OK && i < count; i++)
        check_config(config[i]);
    if (code != RM_OK)
        check_error(&errors.first[0], errors.first[0].code);
    close(file);
    return 0;
}
