// SPDX-License-Identifier: Apache-2.0
/* One entry of `instruments` becomes one instrument, or `count` of them that differ in name and id. */
#include "base/fail.h"
#include "config/config.h"
#include "config/resolve.h"
#include "wire/address.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PERIOD_TURNS_MAX = 65536,
};

/* One entry of the file while it is resolved. */
struct resolving_instrument {
    struct rm_config_file const *file;
    struct rm_config *config;
    struct rm_file_instrument const *written;
    uint32_t index; /* of `written` */
    struct rm_error *error;
};

static uint32_t instrument_count_of(struct rm_file_instrument const *written) {
    return written->count == NULL ? 1 : *written->count;
}

uint32_t rm_config_written_instrument(struct rm_config_file const *file, uint32_t instrument) {
    uint32_t index = 0;
    for (uint32_t before = 0; instrument >= before + instrument_count_of(&file->instruments[index]); index++)
        before += instrument_count_of(&file->instruments[index]);
    return index;
}

__attribute__((format(printf, 3, 4))) static enum rm_code
fail_instrument_entry(struct resolving_instrument const *resolving, char const *member, char const *format, ...) {
    char text[RM_ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rm_config_fail_entry(resolving->config, resolving->error, "instruments", resolving->index, member, "%s",
                                text);
}

static enum rm_code find_port(struct resolving_instrument const *resolving, char const *member, char const *name,
                              uint32_t *port) {
    struct rm_config const *const config = resolving->config;
    char guess[64];
    *port = rm_config_find_port(config, name, strlen(name));
    if (*port == config->port_count)
        return fail_instrument_entry(resolving, member, "found \"%s\", expected the name of a port%s", name,
                                     rm_config_guess_port(config, name, guess, sizeof guess));
    return RM_OK;
}

static enum rm_code read_source(struct resolving_instrument const *resolving, char const *member, char const *source,
                                uint32_t *ipv4) {
    uint32_t const first_multicast = 0xE0000000u; /* 224.0.0.0 */
    if (!rm_ipv4_parse(source, ipv4) || *ipv4 == 0 || *ipv4 >= first_multicast)
        return fail_instrument_entry(resolving, member,
                                     "found \"%s\", expected the IPv4 address of one host, such as 10.20.0.1", source);
    return RM_OK;
}

static enum rm_code resolve_mirror(struct resolving_instrument const *resolving,
                                   struct rm_config_instrument *instrument) {
    struct rm_file_mirror const *const written = resolving->written->mirror;
    if (written == NULL)
        return RM_OK;
    instrument->mirror = (struct rm_config_mirror){.present = true, .source_ipv4 = instrument->source_ipv4};
    enum rm_code code = find_port(resolving, "mirror.port", written->port, &instrument->mirror.port);
    if (code == RM_OK && written->source != NULL)
        code = read_source(resolving, "mirror.source", written->source, &instrument->mirror.source_ipv4);
    if (code == RM_OK && instrument->mirror.port == instrument->port)
        code = fail_instrument_entry(resolving, "mirror.port", "\"%s\" is the instrument's own port, expected another",
                                     written->port);
    return code;
}

static enum rm_code resolve_period(struct resolving_instrument const *resolving,
                                   struct rm_config_instrument *instrument) {
    uint32_t const *const written = resolving->written->period_turns;
    instrument->period_turns = written == NULL ? resolving->config->format[instrument->format].period_turns : *written;
    if (instrument->period_turns == 0 || instrument->period_turns > PERIOD_TURNS_MAX)
        return fail_instrument_entry(resolving, "period_turns", "found %u, expected 1 to %d", instrument->period_turns,
                                     PERIOD_TURNS_MAX);
    return RM_OK;
}

static enum rm_code check_offset(struct resolving_instrument const *resolving, int64_t offset_turns) {
    if (offset_turns < -RM_TURN_OFFSET_MAX || offset_turns > RM_TURN_OFFSET_MAX)
        return fail_instrument_entry(resolving, "turn_offset", "found %" PRId64 ", expected %" PRId64 " to %" PRId64,
                                     offset_turns, -RM_TURN_OFFSET_MAX, RM_TURN_OFFSET_MAX);
    return RM_OK;
}

/* Everything but name and id. */
static enum rm_code resolve_common(struct resolving_instrument const *resolving,
                                   struct rm_config_instrument *instrument) {
    struct rm_file_instrument const *const written = resolving->written;
    *instrument = (struct rm_config_instrument){.kind = written->kind, .turn_offset = *written->turn_offset};
    enum rm_code code = find_port(resolving, "port", written->port, &instrument->port);
    code = rm_code_first(code, read_source(resolving, "source", written->source, &instrument->source_ipv4));
    if (code == RM_OK)
        code = resolve_mirror(resolving, instrument);
    enum rm_code const format = rm_config_find_format(resolving->config, written->format, resolving->index,
                                                      &instrument->format, resolving->error);
    if (format != RM_OK)
        return format;
    code = rm_code_first(code, resolve_period(resolving, instrument));
    code = rm_code_first(code, check_offset(resolving, instrument->turn_offset));
    return rm_code_first(
        code, rm_config_resolve_lanes(resolving->config, instrument, written, resolving->index, resolving->error));
}

/* NAME as it is where there is no count, else NAME01, NAME02, … */
static enum rm_code make_instrument_name(struct resolving_instrument const *resolving, uint32_t number,
                                         char name[RM_CONFIG_NAME_BYTES]) {
    struct rm_file_instrument const *const written = resolving->written;
    if (!rm_config_name_is_good(written->name))
        return fail_instrument_entry(resolving, "name", "found \"%s\", " RM_CONFIG_NAME_RULE, written->name);
    int bytes = 0;
    if (written->count == NULL)
        bytes = snprintf(name, RM_CONFIG_NAME_BYTES, "%s", written->name);
    else
        bytes = snprintf(name, RM_CONFIG_NAME_BYTES, "%s%0*u", written->name,
                         rm_config_count_digits(instrument_count_of(written)), number);
    if (bytes >= RM_CONFIG_NAME_BYTES)
        return fail_instrument_entry(
            resolving, "name", "\"%s\" and a number of %d digits are %d characters, expected at most %d", written->name,
            rm_config_count_digits(instrument_count_of(written)), bytes, RM_CONFIG_NAME_BYTES - 1);
    return RM_OK;
}

static enum rm_code check_instrument_name(struct resolving_instrument const *resolving, char const *name) {
    struct rm_config const *const config = resolving->config;
    for (uint32_t i = 0; i < config->instrument_count; i++)
        if (strcmp(config->instrument[i].name, name) == 0)
            return fail_instrument_entry(resolving, "name",
                                         "\"%s\" is already the name of instruments[%u], expected one of its own", name,
                                         rm_config_written_instrument(resolving->file, i));
    return RM_OK;
}

static bool sends_from(struct rm_config_instrument const *instrument, uint32_t port, uint32_t source_ipv4) {
    struct rm_config_mirror const *const mirror = &instrument->mirror;
    return (instrument->port == port && instrument->source_ipv4 == source_ipv4) ||
           (mirror->present && mirror->port == port && mirror->source_ipv4 == source_ipv4);
}

static enum rm_code check_identity(struct resolving_instrument const *resolving, uint16_t id, uint32_t port,
                                   uint32_t source_ipv4, char const *member) {
    struct rm_config const *const config = resolving->config;
    for (uint32_t i = 0; i < config->instrument_count; i++) {
        struct rm_config_instrument const *const other = &config->instrument[i];
        if (other->id == id && sends_from(other, port, source_ipv4))
            return fail_instrument_entry(
                resolving, member,
                "id %u from %u.%u.%u.%u on port \"%s\" is already instrument \"%s\" (instruments[%u]), "
                "expected another port, source or id",
                id, source_ipv4 >> 24, source_ipv4 >> 16 & 255, source_ipv4 >> 8 & 255, source_ipv4 & 255,
                config->port[port].port.name, other->name, rm_config_written_instrument(resolving->file, i));
    }
    return RM_OK;
}

static enum rm_code add_config_instrument(struct resolving_instrument const *resolving,
                                          struct rm_config_instrument const *common, uint32_t number) {
    struct rm_config *const config = resolving->config;
    struct rm_config_instrument *const instrument = &config->instrument[config->instrument_count];
    *instrument = *common;
    instrument->id = (uint16_t)(resolving->written->id + number - 1);
    enum rm_code code = make_instrument_name(resolving, number, instrument->name);
    snprintf(instrument->entry, sizeof instrument->entry, "%s", resolving->written->name);
    if (code == RM_OK)
        code = check_instrument_name(resolving, instrument->name);
    if (code == RM_OK)
        code = check_identity(resolving, instrument->id, instrument->port, instrument->source_ipv4, "id");
    if (code == RM_OK && instrument->mirror.present)
        code = check_identity(resolving, instrument->id, instrument->mirror.port, instrument->mirror.source_ipv4,
                              "mirror");
    config->instrument_count += code == RM_OK;
    return code;
}

static enum rm_code check_instrument_count(struct resolving_instrument const *resolving, uint32_t left) {
    uint32_t const count = instrument_count_of(resolving->written);
    if (count == 0 || count > left)
        return fail_instrument_entry(resolving, "count", "found %u, expected 1 to %u: at most %d instruments in all",
                                     count, left, RM_CONFIG_INSTRUMENTS_MAX);
    if (count - 1 > (uint32_t)UINT16_MAX - resolving->written->id)
        return fail_instrument_entry(resolving, "count", "ids would go from %u to %u, expected up to %u",
                                     resolving->written->id, resolving->written->id + count - 1, UINT16_MAX);
    return RM_OK;
}

static enum rm_code resolve_instrument_entry(struct resolving_instrument const *resolving) {
    struct rm_config_instrument common;
    enum rm_code code = resolve_common(resolving, &common);
    uint32_t const count = instrument_count_of(resolving->written);
    for (uint32_t number = 1; code == RM_OK && number <= count; number++)
        code = add_config_instrument(resolving, &common, number);
    return code;
}

enum rm_code rm_config_resolve_instruments(struct rm_config_file const *file, struct rm_config *config,
                                           struct rm_error *error) {
    config->instrument = calloc(RM_CONFIG_INSTRUMENTS_MAX, sizeof *config->instrument);
    if (config->instrument == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < file->instruments_count; i++) {
        struct resolving_instrument const resolving = {file, config, &file->instruments[i], i, error};
        uint32_t const first = config->instrument_count;
        bool const counts = check_instrument_count(&resolving, RM_CONFIG_INSTRUMENTS_MAX - first) == RM_OK;
        if (!counts)
            return RM_E_CONFIG; /* whose number is not known leaves no numbers for the others */
        code = rm_code_first(code, resolve_instrument_entry(&resolving));
        config->instrument_count =
            first + instrument_count_of(&file->instruments[i]); /* wrong ones have a number, too */
    }
    return code;
}
