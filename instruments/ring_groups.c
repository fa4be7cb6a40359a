// SPDX-License-Identifier: Apache-2.0
/** Which instruments share a datagram: neighbours in the configuration of equal source and format, as many as the
 * format takes.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "payload.h"
#include "ring_resolve.h"
#include "wire/address.h"

enum { ONE_BLOCK = 1, ANY_BLOCKS = 0 };

static struct rm_config_instrument const *described_instrument(struct rm_resolve *resolve, uint32_t instrument) {
    return &resolve->machine->instrument[resolve->described[instrument]];
}

__attribute__((format(printf, 3, 4))) static enum rm_code fail_group(struct rm_resolve *resolve, uint32_t instrument,
                                                                     char const *format, ...) {
    char text[RM_ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rm_resolve_fail_plain(resolve, RM_E_CONFIG, "%s: instrument \"%s\": %s", resolve->machine->source_path,
                                 resolve->config->instruments[instrument].name, text);
}

static struct rm_format const *format_of(struct rm_resolve *resolve, uint32_t instrument) {
    return &resolve->machine->format[described_instrument(resolve, instrument)->format];
}

/** Instruments in a datagram; ANY_BLOCKS: as many as there are. */
static uint32_t blocks_of(struct rm_format const *format) {
    return format->layout == NULL ? ONE_BLOCK : rm_layout_described(format->layout)->instrument_count;
}

/** The ring's port of one of the two networks. */
static uint32_t port_of(struct rm_resolve *resolve, uint32_t instrument, uint32_t network) {
    struct rm_config_instrument const *from = described_instrument(resolve, instrument);
    return resolve->ring_port[network == 0 || !from->mirror.present ? from->port : from->mirror.port];
}

static uint32_t source_of(struct rm_resolve *resolve, uint32_t instrument, uint32_t network) {
    struct rm_config_instrument const *from = described_instrument(resolve, instrument);
    return network == 0 || !from->mirror.present ? from->source_ipv4 : from->mirror.source_ipv4;
}

/** A new group of one instrument. */
static void open_group(struct rm_resolve *resolve, uint32_t instrument) {
    struct rm_ring_config *config = resolve->config;
    struct rm_config_instrument const *from = described_instrument(resolve, instrument);
    struct rm_virtual_group *group = &config->groups[config->group_count++];
    *group = (struct rm_virtual_group){
        .first = instrument, .count = 1, .period_turns = from->period_turns, .format = format_of(resolve, instrument)};
    strcpy(group->name, blocks_of(group->format) == ANY_BLOCKS ? from->entry : from->name);
    for (uint32_t n = 0; n < RM_NETWORKS; ++n) {
        group->port[n] = port_of(resolve, instrument, n);
        group->source_ipv4[n] = source_of(resolve, instrument, n);
    }
}

/** Whether an instrument can share the datagrams of a group. */
static bool instrument_belongs(struct rm_resolve *resolve, struct rm_virtual_group const *group, uint32_t instrument) {
    bool alike = group->format == format_of(resolve, instrument);
    for (uint32_t n = 0; n < RM_NETWORKS; ++n)
        alike = alike && group->port[n] == port_of(resolve, instrument, n) &&
                group->source_ipv4[n] == source_of(resolve, instrument, n);
    return alike;
}

/** Bits that a format has for the id. */
static uint32_t id_bits(struct rm_layout_field const *id) {
    uint32_t const whole = id->type == RM_FIELD_U8 ? 8 : id->type == RM_FIELD_U16 ? 16 : 24;
    return id->bits != 0 ? id->bits : whole - id->shift;
}

/** What must not differ within a datagram. */
static enum rm_code check_member(struct rm_resolve *resolve, struct rm_virtual_group const *group,
                                 uint32_t instrument) {
    struct rm_virtual_instrument const *one = &resolve->config->instruments[instrument];
    struct rm_format const *format = format_of(resolve, instrument); /* as the group's */
    struct rm_layout const *layout = format->layout;
    if (described_instrument(resolve, instrument)->period_turns != group->period_turns)
        return fail_group(resolve, instrument, "period_turns is %u, expected %u as of the others in the same datagram",
                          described_instrument(resolve, instrument)->period_turns, group->period_turns);
    if (one->turn_error % group->period_turns != 0)
        return fail_group(resolve, instrument,
                          "turn_error is %lld, expected a multiple of period_turns, which the counter counts",
                          (long long)one->turn_error);
    if (layout == NULL)
        return RM_OK;
    struct rm_layout_description const *format_described = rm_layout_described(layout);
    struct rm_layout_field const *id = &format_described->id;
    if (format_described->counter.in == RM_IN_DATAGRAM &&
        one->turn_error != resolve->config->instruments[group->first].turn_error)
        return fail_group(resolve, instrument,
                          "turn_error is %lld, expected that of the others in the same datagram: its "
                          "format has one counter for all",
                          (long long)one->turn_error);
    if (!id->present && one->id != instrument - group->first)
        return fail_group(resolve, instrument, "id is %u, expected %u, the place in the datagram: the format has no id",
                          one->id, instrument - group->first);
    if (id->present && id_bits(id) < 16 && one->id >> id_bits(id) != 0)
        return fail_group(resolve, instrument, "id %u does not fit into the bits that the format has for it", one->id);
    return RM_OK;
}

static enum rm_code check_group(struct rm_resolve *resolve, struct rm_virtual_group const *group) {
    struct rm_layout const *layout = group->format->layout;
    uint32_t const blocks = blocks_of(group->format);
    if (blocks != ANY_BLOCKS && group->count != blocks)
        return fail_group(resolve, group->first,
                          "a datagram of format \"%s\" is of %u instruments, found %u of this source",
                          group->format->name, blocks, group->count);
    if (layout != NULL && (rm_layout_payload_bytes(layout, group->count) > RM_LAYOUT_PAYLOAD_MAX ||
                           group->count * rm_virtual_group_turns(group) > RM_LAYOUT_RECORDS_MAX))
        return fail_group(resolve, group->first,
                          "%u instruments of format \"%s\" do not fit into a datagram of %d bytes; give some "
                          "another source",
                          group->count, group->format->name, RM_LAYOUT_PAYLOAD_MAX);
    return RM_OK;
}

/** A datagram that takes all of its source is sent once: there must be no second group like it. */
static enum rm_code check_together(struct rm_resolve *resolve, uint32_t instrument) {
    struct rm_ring_config const *config = resolve->config;
    for (uint32_t g = 0; g < config->group_count; ++g)
        if (blocks_of(config->groups[g].format) == ANY_BLOCKS &&
            instrument_belongs(resolve, &config->groups[g], instrument))
            return fail_group(resolve, instrument,
                              "it shares its datagrams with \"%s\", so write them one after the other",
                              config->groups[g].name);
    return RM_OK;
}

static enum rm_code add_to_group(struct rm_resolve *resolve, uint32_t instrument) {
    struct rm_ring_config *config = resolve->config;
    uint32_t const count = config->group_count;
    struct rm_virtual_group *last = &config->groups[count == 0 ? 0 : count - 1];
    enum rm_code code = RM_OK;
    if (count != 0 && instrument_belongs(resolve, last, instrument) &&
        (blocks_of(last->format) == ANY_BLOCKS || last->count < blocks_of(last->format))) {
        ++last->count;
    } else {
        code = check_together(resolve, instrument);
        if (code == RM_OK)
            open_group(resolve, instrument);
    }
    return code == RM_OK ? check_member(resolve, &config->groups[config->group_count - 1], instrument) : code;
}

/** The kernel's sockets send payloads as they are; all others need room for the longest frame. */
static void fit_ports(struct rm_ring_config *config) {
    uint32_t longest = RM_SEND_BYTES;
    for (uint32_t g = 0; g < config->group_count; ++g) {
        uint32_t const bytes = rm_payload_bytes(&config->groups[g], &config->instruments[config->groups[g].first]);
        longest = bytes > longest ? bytes : longest;
    }
    for (uint32_t p = 0; p < config->port_count; ++p) {
        struct rm_ring_port *port = &config->ports[p];
        port->port.longest_frame =
            port->port.kind == RM_PORT_UDP ? longest : port->mtu + RM_ETHERNET_BYTES + RM_VLAN_BYTES;
    }
}

static enum rm_code allocate_groups(struct rm_ring_config *config, struct rm_error *error) {
    config->group_count = 0;
    config->groups = calloc(config->instrument_count, sizeof *config->groups);
    return config->groups != NULL ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "no memory for the instruments");
}

enum rm_code rm_resolve_groups(struct rm_resolve *resolve) {
    struct rm_ring_config *config = resolve->config;
    enum rm_code code = allocate_groups(config, NULL);
    if (code != RM_OK)
        return rm_resolve_fail_plain(resolve, code, "%s: no memory for the instruments", resolve->path);
    for (uint32_t i = 0; i < config->instrument_count && code == RM_OK; ++i)
        code = add_to_group(resolve, i);
    for (uint32_t g = 0; g < config->group_count && code == RM_OK; ++g)
        code = check_group(resolve, &config->groups[g]);
    if (code == RM_OK)
        fit_ports(config);
    return code;
}

enum rm_code rm_ring_all_native(struct rm_ring_config *config, struct rm_error *error) {
    config->native = calloc(1, sizeof *config->native);
    if (config->native == NULL || !rm_format_builtin("native", config->native))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the format");
    enum rm_code const code = allocate_groups(config, error);
    for (uint32_t i = 0; i < config->instrument_count && code == RM_OK; ++i) {
        struct rm_virtual_instrument const *one = &config->instruments[i];
        struct rm_virtual_group *group = &config->groups[config->group_count++];
        *group = (struct rm_virtual_group){
            .first = i,
            .count = 1,
            .source_ipv4 = {one->source_ipv4, one->source_ipv4},
            .period_turns = 1,
            .format = config->native,
        };
        strcpy(group->name, one->name);
    }
    return code;
}
