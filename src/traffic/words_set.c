// SPDX-License-Identifier: Apache-2.0
/* set PORTS …: pace and the frame of its own. */
#include <inttypes.h>
#include <string.h>

#include "traffic/words_parts.h"

enum { US = 1000, LATE_MAX_US = 1000000 };

static struct rm_traffic_template *settings_frame(struct rm_traffic_settings *settings) {
    return &settings->base.template[0];
}

static enum rm_code set_whole(char const *what, uint64_t min, uint64_t max, char const *text, uint64_t *value,
                              struct rm_error *error) {
    uint64_t number;
    enum rm_code const code = rm_traffic_read_whole(what, min, max, text, &number, error);
    if (code == RM_OK)
        *value = number;
    return code;
}

static enum rm_code set_field(struct rm_traffic_settings *settings, enum rm_traffic_field_name name, char const *text,
                              struct rm_error *error) {
    struct rm_traffic_template *const frame = settings_frame(settings);
    uint64_t value;
    enum rm_code const code = rm_traffic_read_field(frame, name, text, &value, error);
    if (code == RM_OK)
        frame->field[name] = (struct rm_traffic_field){.start = value, .min = value, .max = value};
    return code;
}

enum rm_code rm_traffic_set_rate(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                 struct rm_error *error) {
    return rm_traffic_read_rate(arguments->word[1], &settings->base.pace, &settings->base.rate, error);
}

enum rm_code rm_traffic_set_line(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                 struct rm_error *error) {
    return rm_traffic_read_line_rate(arguments->word[1], &settings->base.line_bits_per_s, error);
}

enum rm_code rm_traffic_set_size(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                 struct rm_error *error) {
    return set_field(settings, RM_TRAFFIC_SIZE, arguments->word[1], error);
}

enum rm_code rm_traffic_set_count(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                  struct rm_error *error) {
    if (strcmp(arguments->word[1], "forever") == 0) {
        settings->base.count = 0;
        return RM_OK;
    }
    return set_whole("count", 0, UINT64_MAX, arguments->word[1], &settings->base.count, error);
}

enum rm_code rm_traffic_set_burst(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                  struct rm_error *error) {
    uint64_t burst = settings->base.burst;
    enum rm_code const code = set_whole("burst", 1, RM_TRAFFIC_BURST_MAX, arguments->word[1], &burst, error);
    settings->base.burst = (uint32_t)burst;
    return code;
}

enum rm_code rm_traffic_set_sport(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                  struct rm_error *error) {
    return set_field(settings, RM_TRAFFIC_SOURCE_PORT, arguments->word[1], error);
}

enum rm_code rm_traffic_set_dport(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                  struct rm_error *error) {
    return set_field(settings, RM_TRAFFIC_DESTINATION_PORT, arguments->word[1], error);
}

enum rm_code rm_traffic_set_ttl(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                struct rm_error *error) {
    return set_field(settings, RM_TRAFFIC_TTL, arguments->word[1], error);
}

enum rm_code rm_traffic_set_tos(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                struct rm_error *error) {
    return set_field(settings, RM_TRAFFIC_TOS, arguments->word[1], error);
}

enum rm_code rm_traffic_set_cos(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                struct rm_error *error) {
    return set_field(settings, RM_TRAFFIC_PRIORITY, arguments->word[1], error);
}

enum rm_code rm_traffic_set_vlan(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                 struct rm_error *error) {
    return set_field(settings, RM_TRAFFIC_VLAN, arguments->word[1], error);
}

/* An address of the other protocol would be no address of this one: IPv6 begins in fd00::/64. */
enum rm_code rm_traffic_set_type(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                 struct rm_error *error) {
    static char const *const TYPES[] = {"ipv4", "ipv6", NULL};
    static uint64_t const LOCAL = 0xFD00000000000000;
    struct rm_traffic_template *const frame = settings_frame(settings);
    uint32_t type;
    enum rm_code const code = rm_traffic_read_word("type", TYPES, arguments->word[1], &type, error);
    if (code != RM_OK || frame->ipv6 == (type == 1))
        return code;
    static enum rm_traffic_field_name const ADDRESSES[] = {RM_TRAFFIC_SOURCE_ADDRESS, RM_TRAFFIC_DESTINATION_ADDRESS};
    frame->ipv6 = type == 1;
    for (uint32_t i = 0; i < 2; i++) {
        settings->range[ADDRESSES[i]] = (struct rm_traffic_range){.value = {0}};
        struct rm_traffic_field *const field = &frame->field[ADDRESSES[i]];
        field->start = field->min = field->max = (uint32_t)field->start;
    }
    if (frame->source_ipv6_high == 0)
        frame->source_ipv6_high = LOCAL;
    if (frame->destination_ipv6_high == 0)
        frame->destination_ipv6_high = LOCAL;
    return RM_OK;
}

enum rm_code rm_traffic_set_proto(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                  struct rm_error *error) {
    static char const *const PROTOCOLS[] = {"udp", "tcp", NULL};
    uint32_t protocol;
    enum rm_code const code = rm_traffic_read_word("proto", PROTOCOLS, arguments->word[1], &protocol, error);
    if (code == RM_OK)
        settings_frame(settings)->protocol = protocol == 0 ? RM_TRAFFIC_UDP : RM_TRAFFIC_TCP;
    return code;
}

enum rm_code rm_traffic_set_pattern(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                    struct rm_error *error) {
    static char const *const PATTERNS[] = {"abc", "zero", "user", NULL};
    static enum rm_traffic_payload const PAYLOAD[] = {RM_TRAFFIC_PAYLOAD_LETTERS, RM_TRAFFIC_PAYLOAD_ZERO,
                                                      RM_TRAFFIC_PAYLOAD_TEXT};
    struct rm_traffic_template *const frame = settings_frame(settings);
    uint32_t pattern;
    enum rm_code const code = rm_traffic_read_word("pattern", PATTERNS, arguments->word[1], &pattern, error);
    if (code != RM_OK)
        return code;
    if (PAYLOAD[pattern] == RM_TRAFFIC_PAYLOAD_TEXT && frame->text_bytes == 0)
        return rm_fail(error, RM_E_ARGUMENT,
                       "pattern: there is no text yet, expected `set PORTS user pattern TEXT` "
                       "before");
    frame->payload = PAYLOAD[pattern];
    return RM_OK;
}

enum rm_code rm_traffic_set_user(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                 struct rm_error *error) {
    struct rm_traffic_template *const frame = settings_frame(settings);
    size_t const length = strlen(arguments->word[1]);
    if (length < 1 || length > RM_TRAFFIC_TEXT_BYTES)
        return rm_fail(error, RM_E_ARGUMENT, "user pattern: found %zu bytes, expected 1 to %d", length,
                       RM_TRAFFIC_TEXT_BYTES);
    memcpy(frame->text, arguments->word[1], length);
    frame->text_bytes = (uint32_t)length;
    frame->payload = RM_TRAFFIC_PAYLOAD_TEXT;
    return RM_OK;
}

enum rm_code rm_traffic_set_seq_cnt(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                    struct rm_error *error) {
    uint64_t count = settings->sequence_count;
    enum rm_code const code = set_whole("seq_cnt", 0, RM_TRAFFIC_TEMPLATES_MAX, arguments->word[1], &count, error);
    settings->sequence_count = (uint32_t)count;
    return code;
}

enum rm_code rm_traffic_set_flows(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                  struct rm_error *error) {
    uint64_t count = settings->flow_count;
    enum rm_code const code = set_whole("flows", 1, RM_TRAFFIC_FLOWS_MAX, arguments->word[1], &count, error);
    settings->flow_count = (uint32_t)count;
    return code;
}

enum rm_code rm_traffic_set_late(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                 struct rm_error *error) {
    static char const *const WORDS[] = {"send", "skip", NULL};
    uint32_t late;
    enum rm_code const code = rm_traffic_read_word("late", WORDS, arguments->word[1], &late, error);
    if (code == RM_OK)
        settings->base.late = late == 0 ? RM_TRAFFIC_SEND_LATE : RM_TRAFFIC_SKIP_LATE;
    return code;
}

enum rm_code rm_traffic_set_late_max(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                     struct rm_error *error) {
    uint64_t us;
    enum rm_code const code = rm_traffic_read_whole("late_max", 0, LATE_MAX_US, arguments->word[1], &us, error);
    if (code == RM_OK)
        settings->base.late_max_ns = us * US;
    return code;
}

enum rm_code rm_traffic_set_seed(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                 struct rm_error *error) {
    return set_whole("seed", 0, UINT64_MAX, arguments->word[1], &settings->base.seed, error);
}

enum rm_code rm_traffic_set_imix(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                 struct rm_error *error) {
    settings->imix = true;
    return rm_traffic_read_mix(arguments->word[1], settings_frame(settings), error);
}

static enum rm_code read_side(char const *text, bool *source, struct rm_error *error) {
    static char const *const SIDES[] = {"src", "dst", NULL};
    uint32_t side;
    enum rm_code const code = rm_traffic_read_word("side", SIDES, text, &side, error);
    *source = code == RM_OK && side == 0;
    return code;
}

enum rm_code rm_traffic_set_mac(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                struct rm_error *error) {
    bool source;
    enum rm_code const code = read_side(arguments->word[1], &source, error);
    return code != RM_OK ? code
                         : set_field(settings, source ? RM_TRAFFIC_SOURCE_MAC : RM_TRAFFIC_DESTINATION_MAC,
                                     arguments->word[2], error);
}

enum rm_code rm_traffic_set_ip(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                               struct rm_error *error) {
    struct rm_traffic_template *const frame = settings_frame(settings);
    bool source;
    uint64_t high = 0, low;
    enum rm_code code = read_side(arguments->word[1], &source, error);
    if (code == RM_OK)
        code = rm_traffic_read_address(arguments->word[2], frame->ipv6, &high, &low, error);
    if (code != RM_OK)
        return code;
    frame->field[source ? RM_TRAFFIC_SOURCE_ADDRESS : RM_TRAFFIC_DESTINATION_ADDRESS] =
        (struct rm_traffic_field){.start = low, .min = low, .max = low};
    if (frame->ipv6)
        *(source ? &frame->source_ipv6_high : &frame->destination_ipv6_high) = high;
    return RM_OK;
}
