// SPDX-License-Identifier: Apache-2.0
/* One entry of `chains` becomes one chain, or `count` of them that differ in name, id, address and mac. */
#include "base/fail.h"
#include "config/resolve.h"
#include "wire/address.h"

#include <ringmaster/supply.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHAIN_ID_MAX = UINT16_MAX / RM_CHAIN_ID_PARTS, /* 16383: readbacks' ids are four times that, and the part */
    MAC_NUMBERED = 0xFFFFFF,                       /* the three last bytes of a MAC address are counted up */
};

static double const TIMEOUT_MOST_US = 1e9;

__attribute__((format(printf, 3, 4))) static enum rm_code fail_chain(struct rm_config_resolving_chain const *resolving,
                                                                     char const *member, char const *format, ...) {
    char text[RM_ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rm_config_fail_entry(resolving->config, resolving->error, "chains", resolving->index, member, "%s", text);
}

static uint32_t chain_count_of(struct rm_file_chain const *written) {
    return written->count == NULL ? 1 : *written->count;
}

uint32_t rm_config_written_chain(struct rm_config_file const *file, uint32_t chain) {
    uint32_t index = 0;
    for (uint32_t before = 0; chain >= before + chain_count_of(&file->chains[index]); index++)
        before += chain_count_of(&file->chains[index]);
    return index;
}

static struct rm_config_chain *chain_of(struct rm_config_resolving_chain const *resolving) {
    return &resolving->config->chain[resolving->config->chain_count];
}

static enum rm_code check_chain_count(struct rm_config_resolving_chain const *resolving) {
    struct rm_file_chain const *const written = resolving->written;
    uint32_t const count = chain_count_of(written);
    uint32_t const left = RM_CONFIG_CHAINS_MAX - resolving->config->chain_count;
    if (left == 0)
        return fail_chain(resolving, NULL, "this is one chain too many, expected at most %d in all",
                          RM_CONFIG_CHAINS_MAX);
    if (count == 0 || count > left)
        return fail_chain(resolving, "count", "found %u, expected 1 to %u: at most %d chains in all", count, left,
                          RM_CONFIG_CHAINS_MAX);
    if (written->id == 0 || written->id > CHAIN_ID_MAX)
        return fail_chain(resolving, "id", "found %u, expected 1 to %d", written->id, CHAIN_ID_MAX);
    if (written->id + count - 1 > CHAIN_ID_MAX)
        return fail_chain(resolving, "count", "ids would go from %u to %u, expected up to %d", written->id,
                          written->id + count - 1, CHAIN_ID_MAX);
    return RM_OK;
}

static enum rm_code make_chain_name(struct rm_config_resolving_chain const *resolving) {
    struct rm_file_chain const *const written = resolving->written;
    char *const name = chain_of(resolving)->name;
    snprintf(chain_of(resolving)->entry, RM_CONFIG_NAME_BYTES, "%s", written->name);
    if (!rm_config_name_is_good(written->name))
        return fail_chain(resolving, "name", "found \"%s\", " RM_CONFIG_NAME_RULE, written->name);
    int const digits = rm_config_count_digits(chain_count_of(written));
    int bytes = 0;
    if (written->count == NULL)
        bytes = snprintf(name, RM_CONFIG_NAME_BYTES, "%s", written->name);
    else
        bytes = snprintf(name, RM_CONFIG_NAME_BYTES, "%s%0*u", written->name, digits, resolving->number);
    if (bytes >= RM_CONFIG_NAME_BYTES)
        return fail_chain(resolving, "name", "\"%s\" and a number of %d digits are %d characters, expected at most %d",
                          written->name, digits, bytes, RM_CONFIG_NAME_BYTES - 1);
    struct rm_config const *const config = resolving->config;
    for (uint32_t i = 0; i < config->chain_count; i++)
        if (strcmp(config->chain[i].name, name) == 0)
            return fail_chain(resolving, "name",
                              "\"%s\" is already the name of a chain of chains[%u], expected one of its "
                              "own",
                              name, rm_config_written_chain(resolving->file, i));
    return RM_OK;
}

static enum rm_code make_id(struct rm_config_resolving_chain const *resolving) {
    struct rm_config const *const config = resolving->config;
    uint16_t const id = (uint16_t)(resolving->written->id + resolving->number - 1);
    for (uint32_t i = 0; i < config->chain_count; i++)
        if (config->chain[i].id == id)
            return fail_chain(resolving, "id",
                              "id %u is already that of chain \"%s\" (chains[%u]), expected one of its own", id,
                              config->chain[i].name, rm_config_written_chain(resolving->file, i));
    chain_of(resolving)->id = id;
    return RM_OK;
}

/* True where the other end says how many transmit rings there are, and may give only one. */
static bool may_have_one_ring(enum rm_port_kind kind) {
    return kind == RM_PORT_MEMIF || kind == RM_PORT_TAP || kind == RM_PORT_VHOST || kind == RM_PORT_VIRTIO_USER;
}

/* An exception path has a transmit ring for itself (net/port.h). Were it the only one, no setpoint would leave: so it
 * goes, and with it the answers to ARP. */
static enum rm_code free_ring(struct rm_config_resolving_chain const *resolving, struct rm_config_port *port) {
    if (!may_have_one_ring(port->port.kind))
        return RM_OK;
    if (port->kernel_interface[0] != '\0')
        return fail_chain(
            resolving, "port",
            "port \"%s\" has a kernel_interface, which may take the only transmit ring of a port of kind %s, so "
            "that no setpoint leaves; take that key out there, or put the chains on another port",
            port->port.name, rm_config_port_kind_name(port->port.kind));
    port->port.exception_path = false;
    return RM_OK;
}

/* Whether the kind of a port sends frames, and from where. */
static enum rm_code check_port(struct rm_config_resolving_chain const *resolving, struct rm_config_port *port) {
    enum rm_port_kind const kind = port->port.kind;
    if (kind == RM_PORT_UDP || kind == RM_PORT_PCAP)
        return fail_chain(
            resolving, "port",
            "port \"%s\" is of kind %s, which sends no frames; expected one of kind memif, af_packet, af_xdp, "
            "pci, tap, virtio_user, vhost, ring or null",
            port->port.name, rm_config_port_kind_name(kind));
    if (port->answer_ipv4 == 0)
        return fail_chain(
            resolving, "port",
            "setpoints would have no source address: port \"%s\" lacks the key \"answer\", expected there the "
            "IPv4 address of the server on this port, such as answer: 10.30.0.250",
            port->port.name);
    return free_ring(resolving, port);
}

static enum rm_code find_port(struct rm_config_resolving_chain const *resolving) {
    struct rm_config *const config = resolving->config;
    char const *const name = resolving->written->port;
    char guess[64];
    uint32_t const port = rm_config_find_port(config, name, strlen(name));
    if (port == config->port_count)
        return fail_chain(resolving, "port", "found \"%s\", expected the name of a port%s", name,
                          rm_config_guess_port(config, name, guess, sizeof guess));
    chain_of(resolving)->port = port;
    return check_port(resolving, &config->port[port]);
}

static bool sends_from(struct rm_config_instrument const *instrument, uint32_t port, uint32_t address) {
    struct rm_config_mirror const *const mirror = &instrument->mirror;
    return (instrument->port == port && instrument->source_ipv4 == address) ||
           (mirror->present && mirror->port == port && mirror->source_ipv4 == address);
}

/* The sender at an address must be known: no two chains on one port have the same. */
static enum rm_code check_address(struct rm_config_resolving_chain const *resolving, uint32_t address) {
    struct rm_config const *const config = resolving->config;
    uint32_t const port = chain_of(resolving)->port;
    char text[sizeof "255.255.255.255"];
    snprintf(text, sizeof text, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
    if (config->port[port].answer_ipv4 == address)
        return fail_chain(resolving, "address",
                          "%s is the server's own address on port \"%s\" (its \"answer\"), expected "
                          "another",
                          text, config->port[port].port.name);
    for (uint32_t i = 0; i < config->chain_count; i++)
        if (config->chain[i].port == port && config->chain[i].address_ipv4 == address)
            return fail_chain(resolving, "address",
                              "%s on port \"%s\" is already chain \"%s\" (chains[%u]), expected one of "
                              "its own",
                              text, config->port[port].port.name, config->chain[i].name,
                              rm_config_written_chain(resolving->file, i));
    for (uint32_t i = 0; i < config->instrument_count; i++)
        if (!config->instrument[i].follows && sends_from(&config->instrument[i], port, address))
            return fail_chain(resolving, "address",
                              "%s on port \"%s\" is already instrument \"%s\" (instruments[%u]), "
                              "expected an address of its own",
                              text, config->port[port].port.name, config->instrument[i].name,
                              rm_config_written_instrument(resolving->file, i));
    return RM_OK;
}

static enum rm_code make_address(struct rm_config_resolving_chain const *resolving) {
    uint32_t const first_multicast = 0xE0000000u; /* 224.0.0.0 */
    char const *const written = resolving->written->address;
    uint32_t first = 0;
    if (!rm_ipv4_parse(written, &first) || first == 0 || first >= first_multicast)
        return fail_chain(resolving, "address",
                          "found \"%s\", expected the IPv4 address of the chain's controller, such as "
                          "10.30.0.1",
                          written);
    if (first_multicast - first < chain_count_of(resolving->written))
        return fail_chain(resolving, "count",
                          "addresses would go beyond 223.255.255.255, expected at most %u chains from "
                          "%s on",
                          first_multicast - first, written);
    uint32_t const address = first + resolving->number - 1;
    chain_of(resolving)->address_ipv4 = address;
    return check_address(resolving, address);
}

/* The three first bytes are the maker's; the others count up. */
static enum rm_code make_mac(struct rm_config_resolving_chain const *resolving) {
    char const *const written = resolving->written->mac;
    uint8_t *const mac = chain_of(resolving)->mac;
    memset(mac, 0xFF, 6);
    if (written == NULL)
        return RM_OK;
    static uint8_t const nobody[6];
    if (!rm_mac_parse(written, mac) || (mac[0] & 1) != 0 || memcmp(mac, nobody, sizeof nobody) == 0)
        return fail_chain(resolving, "mac",
                          "found \"%s\", expected the MAC address of one controller, such as "
                          "\"02:00:0a:1e:00:01\"; without this key frames are broadcast",
                          written);
    uint32_t const first = (uint32_t)mac[3] << 16 | (uint32_t)mac[4] << 8 | mac[5];
    if (chain_count_of(resolving->written) - 1 > MAC_NUMBERED - first)
        return fail_chain(resolving, "count",
                          "MAC addresses would go beyond %02x:%02x:%02x:ff:ff:ff, expected at most %u "
                          "chains from \"%s\" on",
                          mac[0], mac[1], mac[2], MAC_NUMBERED - first + 1, written);
    uint32_t const own = first + resolving->number - 1;
    mac[3] = (uint8_t)(own >> 16);
    mac[4] = (uint8_t)(own >> 8);
    mac[5] = (uint8_t)own;
    return RM_OK;
}

static enum rm_code make_udp_port(struct rm_config_resolving_chain const *resolving) {
    struct rm_file_chain const *const written = resolving->written;
    struct rm_config_chain *const chain = chain_of(resolving);
    chain->udp_port = *written->udp_port;
    chain->readback = written->readback == NULL || *written->readback;
    if (chain->udp_port == 0)
        return fail_chain(resolving, "udp_port", "found 0, expected 1 to %d", UINT16_MAX);
    return RM_OK;
}

static enum rm_code take_timeout(struct rm_config_resolving_chain const *resolving) {
    double const *const written = resolving->written->timeout_us;
    if (written == NULL)
        return RM_OK;
    if (!(*written >= 0 && *written <= TIMEOUT_MOST_US))
        return fail_chain(resolving, "timeout_us", "found %g, expected 0 (never) to %g µs", *written, TIMEOUT_MOST_US);
    chain_of(resolving)->timeout_s = *written == 0 ? INFINITY : *written * 1e-6;
    return RM_OK;
}

typedef enum rm_code resolver(struct rm_config_resolving_chain const *resolving);

static enum rm_code add_config_chain(struct rm_config_resolving_chain const *resolving) {
    static resolver *const resolvers[] = {make_chain_name, make_id,       find_port,    make_address,
                                          make_mac,        make_udp_port, take_timeout, rm_config_resolve_supplies};
    enum rm_code code = RM_OK;
    for (size_t i = 0; i < sizeof resolvers / sizeof resolvers[0]; i++)
        code = rm_code_first(code, resolvers[i](resolving));
    if (code == RM_OK)
        code = rm_config_resolve_readbacks(resolving);
    resolving->config->chain_count += code == RM_OK;
    return code;
}

static bool has_chain(struct rm_config const *config, uint32_t port) {
    for (uint32_t i = 0; i < config->chain_count; i++)
        if (config->chain[i].port == port)
            return true;
    return false;
}

/* A port without an exception path sends no answers: there the key only says where setpoints come from. */
static enum rm_code check_answers(struct rm_config const *config, struct rm_error *error) {
    for (uint32_t i = 0; i < config->port_count; i++) {
        struct rm_config_port const *const port = &config->port[i];
        if (port->answer_ipv4 != 0 && !port->port.exception_path && !has_chain(config, i))
            return rm_config_fail_entry(config, error, "ports", i, "answer",
                                        "a port of kind %s answers nobody and has no chains whose setpoints would come "
                                        "from there, take this key out",
                                        rm_config_port_kind_name(port->port.kind));
    }
    return RM_OK;
}

static enum rm_code resolve_chain_entry(struct rm_config_file const *file, struct rm_config *config, uint32_t index,
                                        struct rm_error *error) {
    struct rm_config_resolving_chain resolving = {file, config, &file->chains[index], index, 1, error};
    enum rm_code code = check_chain_count(&resolving);
    uint32_t const count = chain_count_of(resolving.written);
    for (; code == RM_OK && resolving.number <= count; resolving.number++)
        code = add_config_chain(&resolving);
    return code;
}

static enum rm_code allocate_chains(struct rm_config *config, struct rm_error *error) {
    config->chain = calloc(RM_CONFIG_CHAINS_MAX, sizeof *config->chain);
    config->supply = calloc(RM_CONFIG_SUPPLIES_MAX, sizeof *config->supply);
    if (config->chain == NULL || config->supply == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    return RM_OK;
}

enum rm_code rm_config_resolve_chains(struct rm_config_file const *file, struct rm_config *config,
                                      struct rm_error *error) {
    enum rm_code code = file->chains_count == 0 ? RM_OK : allocate_chains(config, error);
    for (uint32_t i = 0; i < file->chains_count && (code == RM_OK || code == RM_E_CONFIG); i++)
        code = rm_code_first(code, resolve_chain_entry(file, config, i, error));
    return code == RM_OK ? check_answers(config, error) : code;
}
