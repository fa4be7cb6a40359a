// SPDX-License-Identifier: Apache-2.0
/** Which instruments share a datagram: neighbours in the file of equal source and format, as many as the format takes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "payload.h"
#include "ring_resolve.h"
#include "wire/address.h"

enum { PERIOD_MOST = 65536, ONE_BLOCK = 1, ANY_BLOCKS = 0 };

static struct rm_ring_file_instrument const *written(struct rm_resolve const *resolve, uint32_t instrument) {
    return &resolve->file->instruments[resolve->entry[instrument]];
}

static enum rm_code fail(struct rm_resolve const *resolve, uint32_t instrument, char const *key, char const *text) {
    return rm_resolve_fail(resolve, "instruments", resolve->entry[instrument], key, "%s", text);
}

static struct rm_format const *format_of(struct rm_resolve const *resolve, uint32_t instrument) {
    char const *name = written(resolve, instrument)->format;
    struct rm_format const *format = rm_resolve_format(resolve, name == NULL ? "native" : name);
    assert(format != NULL); /* as rm_resolve_instruments has seen */
    return format;
}

/** Instruments in a datagram; ANY_BLOCKS: as many as there are. */
static uint32_t blocks_of(struct rm_format const *format) {
    return format->layout == NULL ? ONE_BLOCK : rm_layout_described(format->layout)->instrument_count;
}

/** As rm_resolve_instruments has checked. */
static uint32_t port_of(struct rm_resolve const *resolve, uint32_t instrument) {
    uint32_t port;
    rm_resolve_port_name(resolve, "instruments", resolve->entry[instrument], written(resolve, instrument)->port, &port);
    return port;
}

static enum rm_code resolve_sources(struct rm_resolve const *resolve, struct rm_virtual_group *group) {
    char const *mirror = written(resolve, group->first)->mirror_source;
    group->source_ipv4[0] = group->source_ipv4[1] = resolve->config->instruments[group->first].source_ipv4;
    if (mirror == NULL)
        return RM_OK;
    if (resolve->config->network_count < 2)
        return fail(resolve, group->first, "mirror_source", "there is no mirror, take it out");
    if (!rm_ipv4_parse(mirror, &group->source_ipv4[1]))
        return fail(resolve, group->first, "mirror_source", "expected an IPv4 address such as 10.21.0.1");
    return RM_OK;
}

/** A new group of one instrument. */
static enum rm_code open_group(struct rm_resolve const *resolve, uint32_t instrument) {
    struct rm_ring_config *config = resolve->config;
    struct rm_ring_file_instrument const *from = written(resolve, instrument);
    struct rm_virtual_group *group = &config->groups[config->group_count++];
    *group = (struct rm_virtual_group){.first = instrument, .count = 1, .format = format_of(resolve, instrument)};
    group->period_turns = from->period_turns == NULL ? group->format->period_turns : *from->period_turns;
    bool const many = blocks_of(group->format) == ANY_BLOCKS;
    strcpy(group->name, many ? from->name : config->instruments[instrument].name);
    if (group->period_turns == 0 || group->period_turns > PERIOD_MOST)
        return fail(resolve, instrument, "period_turns", "expected turns of 1 to 65536");
    group->port[0] = port_of(resolve, instrument);
    group->port[1] = config->mirror_port;
    return resolve_sources(resolve, group);
}

static bool text_is_equal(char const *a, char const *b) { return a == b || (a != NULL && b != NULL && !strcmp(a, b)); }

/** Whether an instrument can share the datagrams of a group. */
static bool belongs(struct rm_resolve const *resolve, struct rm_virtual_group const *group, uint32_t instrument) {
    struct rm_virtual_instrument const *all = resolve->config->instruments;
    return group->format == format_of(resolve, instrument) && group->port[0] == port_of(resolve, instrument) &&
           all[group->first].source_ipv4 == all[instrument].source_ipv4 &&
           text_is_equal(written(resolve, group->first)->mirror_source, written(resolve, instrument)->mirror_source);
}

/** Bits that a format has for the id. */
static uint32_t id_bits(struct rm_field const *id) {
    uint32_t const whole = id->type == RM_FIELD_U8 ? 8 : id->type == RM_FIELD_U16 ? 16 : 24;
    return id->bits != 0 ? id->bits : whole - id->shift;
}

/** What must not differ within a datagram. */
static enum rm_code check_member(struct rm_resolve const *resolve, struct rm_virtual_group const *group,
                                 uint32_t instrument) {
    struct rm_virtual_instrument const *one = &resolve->config->instruments[instrument];
    struct rm_format const *format = format_of(resolve, instrument); /* as the group's */
    struct rm_layout const *layout = format->layout;
    uint32_t const *period = written(resolve, instrument)->period_turns;
    if ((period == NULL ? format->period_turns : *period) != group->period_turns)
        return fail(resolve, instrument, "period_turns", "expected that of the others in the same datagram");
    if (one->turn_error % group->period_turns != 0)
        return fail(resolve, instrument, "turn_error", "expected a multiple of period_turns, which the counter counts");
    if (layout == NULL)
        return RM_OK;
    struct rm_layout_description const *described = rm_layout_described(layout);
    if (described->counter.in == RM_IN_DATAGRAM &&
        one->turn_error != resolve->config->instruments[group->first].turn_error)
        return fail(resolve, instrument, "turn_error",
                    "expected that of the others in the same datagram: its format "
                    "has one counter for all");
    if (!described->id.present && one->id != instrument - group->first)
        return fail(resolve, instrument, "id", "expected the place in the datagram, from 0: the format has no id");
    if (described->id.present && id_bits(&described->id) < 16 && one->id >> id_bits(&described->id) != 0)
        return fail(resolve, instrument, "id", "it does not fit into the bits that the format has for it");
    return RM_OK;
}

static enum rm_code check_group(struct rm_resolve const *resolve, struct rm_virtual_group const *group) {
    struct rm_layout const *layout = group->format->layout;
    uint32_t const blocks = blocks_of(group->format);
    if (blocks != ANY_BLOCKS && group->count != blocks)
        return rm_resolve_fail(resolve, "instruments", resolve->entry[group->first], NULL,
                               "a datagram of format \"%s\" is of %u instruments, found %u of this source",
                               group->format->name, blocks, group->count);
    if (layout != NULL && (rm_layout_payload_bytes(layout, group->count) > RM_LAYOUT_PAYLOAD_MAX ||
                           group->count * rm_virtual_group_turns(group) > RM_LAYOUT_RECORDS_MAX))
        return rm_resolve_fail(resolve, "instruments", resolve->entry[group->first], NULL,
                               "%u instruments of format \"%s\" do not fit into a datagram of %d bytes; give some "
                               "another source",
                               group->count, group->format->name, RM_LAYOUT_PAYLOAD_MAX);
    return RM_OK;
}

/** A datagram that takes all of its source is sent once: there must be no second group like it. */
static enum rm_code check_together(struct rm_resolve const *resolve, uint32_t instrument) {
    struct rm_ring_config const *config = resolve->config;
    for (uint32_t g = 0; g < config->group_count; ++g)
        if (blocks_of(config->groups[g].format) == ANY_BLOCKS && belongs(resolve, &config->groups[g], instrument))
            return rm_resolve_fail(resolve, "instruments", resolve->entry[instrument], NULL,
                                   "it shares its datagrams with \"%s\", so write them one after the other",
                                   config->groups[g].name);
    return RM_OK;
}

static enum rm_code add(struct rm_resolve const *resolve, uint32_t instrument) {
    struct rm_ring_config *config = resolve->config;
    struct rm_virtual_group *last = config->group_count == 0 ? NULL : &config->groups[config->group_count - 1];
    enum rm_code code = RM_OK;
    if (last != NULL && belongs(resolve, last, instrument) &&
        (blocks_of(last->format) == ANY_BLOCKS || last->count < blocks_of(last->format))) {
        ++last->count;
    } else {
        code = check_together(resolve, instrument);
        if (code == RM_OK)
            code = open_group(resolve, instrument);
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

static enum rm_code allocate(struct rm_ring_config *config, struct rm_error *error) {
    config->group_count = 0;
    config->groups = calloc(config->instrument_count, sizeof *config->groups);
    return config->groups != NULL ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "no memory for the instruments");
}

enum rm_code rm_resolve_groups(struct rm_resolve const *resolve) {
    struct rm_ring_config *config = resolve->config;
    enum rm_code code = allocate(config, resolve->error);
    for (uint32_t i = 0; i < config->instrument_count && code == RM_OK; ++i)
        code = add(resolve, i);
    for (uint32_t g = 0; g < config->group_count && code == RM_OK; ++g)
        code = check_group(resolve, &config->groups[g]);
    if (code == RM_OK)
        fit_ports(config);
    return code;
}

enum rm_code rm_ring_all_native(struct rm_ring_config *config, struct rm_error *error) {
    config->formats = calloc(1, sizeof *config->formats);
    if (config->formats == NULL || !rm_format_builtin("native", config->formats))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the format");
    config->format_count = 1;
    enum rm_code const code = allocate(config, error);
    for (uint32_t i = 0; i < config->instrument_count && code == RM_OK; ++i) {
        struct rm_virtual_instrument const *one = &config->instruments[i];
        struct rm_virtual_group *group = &config->groups[config->group_count++];
        *group = (struct rm_virtual_group){
            .first = i,
            .count = 1,
            .source_ipv4 = {one->source_ipv4, one->source_ipv4},
            .period_turns = 1,
            .format = config->formats,
        };
        strcpy(group->name, one->name);
    }
    return code;
}
