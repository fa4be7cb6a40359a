// SPDX-License-Identifier: Apache-2.0
/* Which UDP ports instruments send to, port by port: a datagram's destination tells its format. */
#include "config/resolve.h"

#include <stdarg.h>

/* A format on a port has one UDP port, so there is room for all. */
_Static_assert((int)RM_CONFIG_FORMATS_MAX <= (int)RM_PORT_CLAIMS_MAX, "a port can claim the UDP port of every format");

struct claims {
    uint32_t count;
    uint16_t udp_port[RM_CONFIG_FORMATS_MAX];
    uint32_t format[RM_CONFIG_FORMATS_MAX];
};

uint16_t rm_config_udp_port(struct rm_config const *config, uint32_t port, uint32_t format) {
    uint16_t const own = config->format[format].udp_port;
    return own != 0 ? own : config->port[port].udp_port;
}

/* Formats are an instrument's; a chain's answers are native. */
__attribute__((format(printf, 5, 6))) static enum rm_code fail_claim(struct rm_config_file const *file,
                                                                     struct rm_config const *config,
                                                                     uint32_t instrument, struct rm_error *error,
                                                                     char const *format, ...) {
    char text[RM_ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    uint32_t const chain = rm_config_chain_of(config, instrument);
    if (chain != config->chain_count)
        return rm_config_fail_entry(config, error, "chains", rm_config_written_chain(file, chain), "port", "%s", text);
    return rm_config_fail_entry(config, error, "instruments", rm_config_written_instrument(file, instrument), "format",
                                "%s", text);
}

static enum rm_code claim_udp_port(struct rm_config_file const *file, struct rm_config const *config,
                                   struct claims *claims, uint32_t port, uint32_t instrument, struct rm_error *error) {
    uint32_t const format = config->instrument[instrument].format;
    uint16_t const udp_port = rm_config_udp_port(config, port, format);
    struct rm_config_port const *const on = &config->port[port];
    for (uint32_t i = 0; i < claims->count; i++) {
        if (claims->udp_port[i] != udp_port)
            continue;
        if (claims->format[i] == format)
            return RM_OK;
        return fail_claim(file, config, instrument, error,
                          "formats \"%s\" and \"%s\" both come to UDP port %u of port \"%s\", expected a "
                          "udp_port of its own for one of them",
                          config->format[claims->format[i]].name, config->format[format].name, udp_port, on->port.name);
    }
    if (on->port.kind == RM_PORT_UDP && udp_port != on->udp_port)
        return fail_claim(file, config, instrument, error,
                          "format \"%s\" comes to UDP port %u, but port \"%s\" is a socket on %u, expected "
                          "one and the same",
                          config->format[format].name, udp_port, on->port.name, on->udp_port);
    claims->udp_port[claims->count] = udp_port;
    claims->format[claims->count++] = format;
    return RM_OK;
}

static void copy_claims_to_port(struct claims const *claims, struct rm_port_config *port) {
    port->claim_count = claims->count;
    for (uint32_t i = 0; i < claims->count; i++)
        port->claim[i] = claims->udp_port[i];
}

enum rm_code rm_config_resolve_claims(struct rm_config_file const *file, struct rm_config *config,
                                      struct rm_error *error) {
    struct claims claims[RM_CONFIG_PORTS_MAX] = {0};
    for (uint32_t i = 0; i < config->instrument_count; i++) {
        struct rm_config_instrument const *const instrument = &config->instrument[i];
        enum rm_code code = claim_udp_port(file, config, &claims[instrument->port], instrument->port, i, error);
        if (code == RM_OK && instrument->mirror.present)
            code = claim_udp_port(file, config, &claims[instrument->mirror.port], instrument->mirror.port, i, error);
        if (code != RM_OK)
            return code;
    }
    for (uint32_t i = 0; i < config->port_count; i++)
        copy_claims_to_port(&claims[i], &config->port[i].port);
    return RM_OK;
}
