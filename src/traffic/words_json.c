// SPDX-License-Identifier: Apache-2.0
/* show json: settings, state and flows of all ports in one line, for programs. docs/generator.md has its keys. */
#include <inttypes.h>

#include "base/json.h"
#include "traffic/words_parts.h"

static char const *boolean(bool value) { return value ? "true" : "false"; }

static void json_key(FILE *out, char const *key, char const *text) {
    fprintf(out, ",\"%s\":", key);
    rm_json_text(out, text);
}

static void json_field(FILE *out, char const *key, struct rm_traffic_template const *frame,
                       enum rm_traffic_field_name name) {
    char value[RM_TRAFFIC_VALUE_BYTES];
    json_key(out, key, rm_traffic_write_field(frame, name, frame->field[name].start, value));
}

static char const *pattern_word(struct rm_traffic_template const *frame) {
    static char const *const WORD[] = {
        [RM_TRAFFIC_PAYLOAD_ZERO] = "zero", [RM_TRAFFIC_PAYLOAD_LETTERS] = "abc", [RM_TRAFFIC_PAYLOAD_TEXT] = "user"};
    return WORD[frame->payload];
}

/* Without braces. */
static void json_frame(FILE *out, struct rm_traffic_template const *frame) {
    fprintf(out, "\"size\":%" PRIu64 ",\"type\":\"%s\",\"proto\":\"%s\",\"pattern\":\"%s\"",
            frame->field[RM_TRAFFIC_SIZE].start, frame->ipv6 ? "ipv6" : "ipv4",
            frame->protocol == RM_TRAFFIC_UDP ? "udp" : "tcp", pattern_word(frame));
    json_field(out, "src_mac", frame, RM_TRAFFIC_SOURCE_MAC);
    json_field(out, "dst_mac", frame, RM_TRAFFIC_DESTINATION_MAC);
    json_field(out, "src_ip", frame, RM_TRAFFIC_SOURCE_ADDRESS);
    json_field(out, "dst_ip", frame, RM_TRAFFIC_DESTINATION_ADDRESS);
    fprintf(out, ",\"sport\":%" PRIu64 ",\"dport\":%" PRIu64 ",\"vlan\":%" PRIu64 ",\"tagged\":%s",
            frame->field[RM_TRAFFIC_SOURCE_PORT].start, frame->field[RM_TRAFFIC_DESTINATION_PORT].start,
            frame->field[RM_TRAFFIC_VLAN].start, boolean(frame->tagged));
    fprintf(out, ",\"cos\":%" PRIu64 ",\"tos\":%" PRIu64 ",\"ttl\":%" PRIu64, frame->field[RM_TRAFFIC_PRIORITY].start,
            frame->field[RM_TRAFFIC_TOS].start, frame->field[RM_TRAFFIC_TTL].start);
}

/* As the field goes once range or random is enabled. */
static void json_range(FILE *out, struct rm_traffic_template const *frame, enum rm_traffic_field_name name) {
    struct rm_traffic_field const *const field = &frame->field[name];
    char text[RM_TRAFFIC_VALUE_BYTES];
    fprintf(out, "{\"field\":\"%s\",\"changes\":\"%s\",\"inc\":%" PRIu64, rm_traffic_field_word(name),
            field->change == RM_TRAFFIC_RANDOM ? "random" : "range", field->step);
    json_key(out, "start", rm_traffic_write_field(frame, name, field->start, text));
    json_key(out, "min", rm_traffic_write_field(frame, name, field->min, text));
    json_key(out, "max", rm_traffic_write_field(frame, name, field->max, text));
    fputc('}', out);
}

static void json_ranges(FILE *out, struct rm_traffic_settings const *settings) {
    struct rm_traffic_settings ranged = *settings;
    struct rm_traffic traffic;
    char const *between = "";
    ranged.sequence_count = 0;
    ranged.ranges = !ranged.random;
    fputs(",\"ranges\":[", out);
    rm_traffic_settings_resolve(&ranged, &traffic, NULL); /* contradictions are shown as they are */
    for (enum rm_traffic_field_name name = 0; name < RM_TRAFFIC_FIELDS; name++)
        if (traffic.template[0].field[name].change != RM_TRAFFIC_FIXED) {
            fputs(between, out);
            json_range(out, &traffic.template[0], name);
            between = ",";
        }
    fputc(']', out);
}

static void json_sequence(FILE *out, struct rm_traffic_settings const *settings) {
    fputs(",\"sequence\":[", out);
    for (uint32_t i = 0; i < settings->sequence_count; i++) {
        fputs(i == 0 ? "{" : ",{", out);
        json_frame(out, &settings->sequence[i]);
        fputc('}', out);
    }
    fputc(']', out);
}

static void json_mix(FILE *out, struct rm_traffic_settings const *settings) {
    struct rm_traffic_template const *const frame = &settings->base.template[0];
    fprintf(out, ",\"imix\":%s,\"mix\":[", boolean(settings->imix));
    for (uint32_t i = 0; i < frame->mix_count; i++)
        fprintf(out, "%s[%u,%u]", i == 0 ? "" : ",", frame->mix[i].size_bytes, frame->mix[i].weight);
    fputc(']', out);
}

static void json_pace(FILE *out, struct rm_traffic const *base) {
    static char const *const PACE[] = {
        [RM_TRAFFIC_UNPACED] = "max", [RM_TRAFFIC_PERCENT] = "percent", [RM_TRAFFIC_PACKETS_PER_S] = "pps"};
    fprintf(out,
            ",\"pace\":\"%s\",\"rate\":%.10g,\"line_bits_per_s\":%.10g,\"count\":%" PRIu64
            ",\"burst\":%u,\"late\":\"%s\",\"late_max_ns\":%" PRIu64 ",\"seed\":%" PRIu64 ",\"process\":%s",
            PACE[base->pace], base->rate, base->line_bits_per_s, base->count, base->burst,
            base->late == RM_TRAFFIC_SEND_LATE ? "send" : "skip", base->late_max_ns, base->seed,
            boolean(base->answers));
}

static void json_flow(FILE *out, struct rm_traffic_flow_state const *flow) {
    fprintf(out,
            "{\"template\":%u,\"sent\":%" PRIu64 ",\"received\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"duplicate\":%" PRIu64
            ",\"reordered\":%" PRIu64,
            flow->template_number, flow->sent, flow->received, flow->lost, flow->duplicate, flow->reordered);
    fprintf(out,
            ",\"latency_ns\":{\"min\":%" PRIu64 ",\"p50\":%" PRIu64 ",\"p99\":%" PRIu64 ",\"p99.9\":%" PRIu64
            ",\"max\":%" PRIu64 "}}",
            flow->latency_min_ns, flow->latency_p50_ns, flow->latency_p99_ns, flow->latency_p999_ns,
            flow->latency_max_ns);
}

static void json_flows(FILE *out, struct rm_traffic_words const *words, uint32_t port) {
    struct rm_traffic_flow_state flow;
    fputs(",\"flows\":[", out);
    for (uint32_t i = 0; words->actions->flow != NULL && words->actions->flow(words->generator, port, i, &flow); i++) {
        fputs(i == 0 ? "" : ",", out);
        json_flow(out, &flow);
    }
    fputc(']', out);
}

static void json_port(FILE *out, struct rm_traffic_words const *words, uint32_t port) {
    struct rm_traffic_words_port const *const one = &words->port[port];
    struct rm_traffic_settings const *const settings = &one->settings;
    struct rm_traffic_state state = {.sending = false};
    words->actions->state(words->generator, port, &state);
    fputs("{\"name\":", out);
    rm_json_text(out, one->name);
    json_key(out, "kind", one->kind);
    json_key(out, "device", one->device);
    json_key(out, "capture", state.capture);
    json_key(out, "asked", state.asked);
    json_key(out, "source", state.source);
    fprintf(out, ",\"captured\":%" PRIu64, state.captured);
    fprintf(out, ",\"mac\":\"%02x:%02x:%02x:%02x:%02x:%02x\"", one->mac[0], one->mac[1], one->mac[2], one->mac[3],
            one->mac[4], one->mac[5]);
    fprintf(out, ",\"longest_frame\":%u,\"link_up\":%s,\"sending\":%s,", one->longest_frame, boolean(state.link_up),
            boolean(state.sending));
    json_frame(out, &settings->base.template[0]);
    json_pace(out, &settings->base);
    json_mix(out, settings);
    fprintf(out, ",\"range\":%s,\"random\":%s,\"latency\":%s,\"flow_count\":%u", boolean(settings->ranges),
            boolean(settings->random), boolean(settings->latency), settings->flow_count);
    json_ranges(out, settings);
    json_sequence(out, settings);
    json_flows(out, words, port);
    fputc('}', out);
}

enum rm_code rm_traffic_show_json(void *context, struct rm_arguments const *arguments, FILE *answer,
                                  struct rm_error *error) {
    (void)arguments;
    (void)error;
    struct rm_traffic_words const *const words = context;
    fputs("{\"ports\":[", answer);
    for (uint32_t i = 0; i < words->port_count; i++) {
        fputs(i == 0 ? "" : ",", answer);
        json_port(answer, words, i);
    }
    fputs("]}\n", answer);
    return RM_OK;
}
