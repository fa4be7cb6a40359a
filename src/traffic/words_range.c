// SPDX-License-Identifier: Apache-2.0
/* range PORTS …, seq …, enable and disable PORTS …: frames that are not all alike. */
#include <string.h>

#include "traffic/words_parts.h"

static char const *const LIMITS[] = {"start", "min", "max", "inc", NULL};

/* How much more from one frame to the next: "0.0.0.1" and "00:00:00:00:00:01" as Pktgen has it, or a number. */
static enum rm_code read_step(struct rm_traffic_template const *frame, enum rm_traffic_field_name name,
                              char const *text, uint64_t *step, struct rm_error *error) {
    if (strpbrk(text, ".:") != NULL)
        return rm_traffic_read_field(frame, name, text, step, error);
    return rm_traffic_read_whole("inc", 0, rm_traffic_field_limit(frame, name), text, step, error);
}

static enum rm_code range_set(struct rm_traffic_settings *settings, enum rm_traffic_field_name name,
                              char const *limit_text, char const *text, struct rm_error *error) {
    struct rm_traffic_template const *const frame = &settings->base.template[0];
    uint32_t limit;
    uint64_t value;
    enum rm_code code = rm_traffic_read_word("limit", LIMITS, limit_text, &limit, error);
    if (code == RM_OK)
        code = limit == RM_TRAFFIC_LIMIT_INC ? read_step(frame, name, text, &value, error)
                                             : rm_traffic_read_field(frame, name, text, &value, error);
    if (code != RM_OK)
        return code;
    settings->range[name].said[limit] = true;
    settings->range[name].value[limit] = value;
    return RM_OK;
}

enum rm_code rm_traffic_range_side(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                   struct rm_error *error) {
    static char const *const SIDES[] = {"src", "dst", NULL};
    static char const *const FIELDS[] = {"mac", "ip", "port", NULL};
    static enum rm_traffic_field_name const NAME[2][3] = {
        {RM_TRAFFIC_SOURCE_MAC, RM_TRAFFIC_SOURCE_ADDRESS, RM_TRAFFIC_SOURCE_PORT},
        {RM_TRAFFIC_DESTINATION_MAC, RM_TRAFFIC_DESTINATION_ADDRESS, RM_TRAFFIC_DESTINATION_PORT},
    };
    uint32_t side, field;
    enum rm_code code = rm_traffic_read_word("side", SIDES, arguments->word[1], &side, error);
    if (code == RM_OK)
        code = rm_traffic_read_word("field", FIELDS, arguments->word[2], &field, error);
    return code != RM_OK ? code : range_set(settings, NAME[side][field], arguments->word[3], arguments->word[4], error);
}

enum rm_code rm_traffic_range_field(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                    struct rm_error *error) {
    static char const *const FIELDS[] = {"sport", "dport", "vlan", "cos", "tos", "ttl", "size", NULL};
    static enum rm_traffic_field_name const NAME[] = {
        RM_TRAFFIC_SOURCE_PORT, RM_TRAFFIC_DESTINATION_PORT,
        RM_TRAFFIC_VLAN,        RM_TRAFFIC_PRIORITY,
        RM_TRAFFIC_TOS,         RM_TRAFFIC_TTL,
        RM_TRAFFIC_SIZE,
    };
    uint32_t field;
    enum rm_code const code = rm_traffic_read_word("field", FIELDS, arguments->word[1], &field, error);
    return code != RM_OK ? code : range_set(settings, NAME[field], arguments->word[2], arguments->word[3], error);
}

static enum rm_code sequence_field(struct rm_traffic_template *frame, enum rm_traffic_field_name name, char const *text,
                                   struct rm_error *error) {
    uint64_t value = 0;
    enum rm_code const code = rm_traffic_read_field(frame, name, text, &value, error);
    frame->field[name] = (struct rm_traffic_field){.start = value, .min = value, .max = value};
    return code;
}

static enum rm_code sequence_address(struct rm_traffic_template *frame, enum rm_traffic_field_name name,
                                     char const *text, struct rm_error *error) {
    uint64_t *const high = name == RM_TRAFFIC_SOURCE_ADDRESS ? &frame->source_ipv6_high : &frame->destination_ipv6_high;
    uint64_t low = 0;
    enum rm_code const code = rm_traffic_read_address(text, frame->ipv6, high, &low, error);
    frame->field[name] = (struct rm_traffic_field){.start = low, .min = low, .max = low};
    return code;
}

/* PORTS NUMBER DST_MAC SRC_MAC DST_IP SRC_IP SPORT DPORT ipv4|ipv6 udp|tcp VLAN SIZE: the order is Pktgen's. VLAN 0 is
 * a frame without a tag. */
enum rm_code rm_traffic_sequence(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                 struct rm_error *error) {
    static char const *const TYPES[] = {"ipv4", "ipv6", NULL};
    static char const *const PROTOCOLS[] = {"udp", "tcp", NULL};
    char const *const *const word = arguments->word;
    uint32_t type = 0, protocol = 0;
    uint64_t number = 0;
    enum rm_code code = rm_traffic_read_whole("seq", 0, RM_TRAFFIC_TEMPLATES_MAX - 1, word[1], &number, error);
    if (code == RM_OK)
        code = rm_traffic_read_word("type", TYPES, word[8], &type, error);
    if (code == RM_OK)
        code = rm_traffic_read_word("proto", PROTOCOLS, word[9], &protocol, error);
    if (code != RM_OK)
        return code;
    struct rm_traffic_template frame = settings->sequence[number];
    frame.ipv6 = type == 1;
    frame.protocol = protocol == 0 ? RM_TRAFFIC_UDP : RM_TRAFFIC_TCP;
    code = sequence_field(&frame, RM_TRAFFIC_DESTINATION_MAC, word[2], error);
    if (code == RM_OK)
        code = sequence_field(&frame, RM_TRAFFIC_SOURCE_MAC, word[3], error);
    if (code == RM_OK)
        code = sequence_address(&frame, RM_TRAFFIC_DESTINATION_ADDRESS, word[4], error);
    if (code == RM_OK)
        code = sequence_address(&frame, RM_TRAFFIC_SOURCE_ADDRESS, word[5], error);
    if (code == RM_OK)
        code = sequence_field(&frame, RM_TRAFFIC_SOURCE_PORT, word[6], error);
    if (code == RM_OK)
        code = sequence_field(&frame, RM_TRAFFIC_DESTINATION_PORT, word[7], error);
    if (code == RM_OK)
        code = sequence_field(&frame, RM_TRAFFIC_VLAN, word[10], error);
    if (code == RM_OK)
        code = sequence_field(&frame, RM_TRAFFIC_SIZE, word[11], error);
    frame.tagged = frame.field[RM_TRAFFIC_VLAN].start != 0;
    if (code == RM_OK)
        settings->sequence[number] = frame;
    return code;
}

static enum rm_code enable_feature(struct rm_traffic_settings *settings, char const *word, bool on,
                                   struct rm_error *error) {
    static char const *const FEATURES[] = {"range", "random", "vlan", "latency", "imix", "process", NULL};
    bool *const switches[] = {&settings->ranges,  &settings->random, &settings->base.template[0].tagged,
                              &settings->latency, &settings->imix,   &settings->base.answers};
    uint32_t feature;
    enum rm_code const code = rm_traffic_read_word("feature", FEATURES, word, &feature, error);
    if (code != RM_OK)
        return code;
    *switches[feature] = on;
    if (on && feature == 0)
        settings->random = false;
    if (on && feature == 1)
        settings->ranges = false;
    return RM_OK;
}

enum rm_code rm_traffic_enable(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                               struct rm_error *error) {
    return enable_feature(settings, arguments->word[1], true, error);
}

enum rm_code rm_traffic_disable(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                struct rm_error *error) {
    return enable_feature(settings, arguments->word[1], false, error);
}
