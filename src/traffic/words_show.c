// SPDX-License-Identifier: Apache-2.0
/* show PORTS: settings and flows, for people. */
#include <inttypes.h>

#include "traffic/words_parts.h"

static void show_field(FILE *answer, char const *word, struct rm_traffic_template const *frame,
                       enum rm_traffic_field_name name) {
    char value[RM_TRAFFIC_VALUE_BYTES], min[RM_TRAFFIC_VALUE_BYTES], max[RM_TRAFFIC_VALUE_BYTES];
    struct rm_traffic_field const *const field = &frame->field[name];
    fprintf(answer, "  %-8s %s", word, rm_traffic_write_field(frame, name, field->start, value));
    if (field->change != RM_TRAFFIC_FIXED)
        fprintf(answer, ", %s %s to %s", field->change == RM_TRAFFIC_RANDOM ? "at random" : "in turn",
                rm_traffic_write_field(frame, name, field->min, min),
                rm_traffic_write_field(frame, name, field->max, max));
    if (field->change == RM_TRAFFIC_RANGE)
        fprintf(answer, " by %" PRIu64, field->step);
    fputc('\n', answer);
}

static void show_frame(FILE *answer, struct rm_traffic_template const *frame) {
    fprintf(answer, "  %s, %s%s\n", frame->ipv6 ? "IPv6" : "IPv4", frame->protocol == RM_TRAFFIC_UDP ? "UDP" : "TCP",
            frame->flow_count > 0 ? ", stamped" : "");
    if (frame->mix_count == 0)
        show_field(answer, "size", frame, RM_TRAFFIC_SIZE);
    for (uint32_t i = 0; i < frame->mix_count; i++)
        fprintf(answer, "  %-8s %u, weight %u\n", i == 0 ? "imix" : "", frame->mix[i].size_bytes, frame->mix[i].weight);
    show_field(answer, "dst mac", frame, RM_TRAFFIC_DESTINATION_MAC);
    show_field(answer, "src mac", frame, RM_TRAFFIC_SOURCE_MAC);
    show_field(answer, "dst ip", frame, RM_TRAFFIC_DESTINATION_ADDRESS);
    show_field(answer, "src ip", frame, RM_TRAFFIC_SOURCE_ADDRESS);
    show_field(answer, "dport", frame, RM_TRAFFIC_DESTINATION_PORT);
    show_field(answer, "sport", frame, RM_TRAFFIC_SOURCE_PORT);
    if (frame->tagged)
        show_field(answer, "vlan", frame, RM_TRAFFIC_VLAN);
}

static void show_pace(FILE *answer, struct rm_traffic const *traffic) {
    if (traffic->pace == RM_TRAFFIC_UNPACED)
        fputs("  rate     max\n", answer);
    else if (traffic->pace == RM_TRAFFIC_PERCENT)
        fprintf(answer, "  rate     %g %% of %g Gbit/s: %.0f packets/s\n", traffic->rate,
                traffic->line_bits_per_s * 1e-9, rm_traffic_packets_per_s(traffic));
    else
        fprintf(answer, "  rate     %g packets/s\n", traffic->rate);
    if (traffic->count == 0)
        fputs("  count    forever\n", answer);
    else
        fprintf(answer, "  count    %" PRIu64 "\n", traffic->count);
    fprintf(answer, "  burst    %u\n", traffic->burst);
}

static enum rm_code show_port(struct rm_traffic_words const *words, uint32_t port, FILE *answer,
                              struct rm_error *error) {
    struct rm_traffic_words_port const *const one = &words->port[port];
    struct rm_traffic_state state = {.sending = false};
    struct rm_traffic traffic;
    enum rm_code const code = rm_traffic_settings_resolve(&one->settings, &traffic, error);
    if (code != RM_OK)
        return code;
    words->actions->state(words->generator, port, &state);
    fprintf(answer, "%u %s, %s%s%s: link %s, %s\n", port, one->name, one->kind, one->device[0] != '\0' ? " " : "",
            one->device, state.link_up ? "up" : "down", state.sending ? "sending" : "stopped");
    show_pace(answer, &traffic);
    for (uint32_t i = 0; i < traffic.template_count; i++) {
        if (one->settings.sequence_count > 0)
            fprintf(answer, "  frame %u of %u in turn\n", i, traffic.template_count);
        show_frame(answer, &traffic.template[i]);
    }
    if (state.source[0] != '\0')
        fprintf(answer, "  instead  %s\n", state.source);
    if (state.capture[0] != '\0')
        fprintf(answer, "  capture  %s, %" PRIu64 " frames\n", state.capture, state.captured);
    if (state.asked[0] != '\0')
        fprintf(answer, "  asked    %s\n", state.asked);
    return RM_OK;
}

static void show_flows(struct rm_traffic_words const *words, uint32_t port, FILE *answer) {
    struct rm_traffic_flow_state flow;
    fprintf(answer, "%u %s\n", port, words->port[port].name);
    for (uint32_t i = 0; words->actions->flow != NULL && words->actions->flow(words->generator, port, i, &flow); i++)
        fprintf(answer,
                "  flow %u: sent %" PRIu64 ", received %" PRIu64 ", lost %" PRIu64 ", duplicate %" PRIu64
                ", reordered %" PRIu64 "; latency p50 %" PRIu64 ", p99 %" PRIu64 ", max %" PRIu64 " ns\n",
                i, flow.sent, flow.received, flow.lost, flow.duplicate, flow.reordered, flow.latency_p50_ns,
                flow.latency_p99_ns, flow.latency_max_ns);
}

enum rm_code rm_traffic_show(void *context, struct rm_arguments const *arguments, FILE *answer,
                             struct rm_error *error) {
    struct rm_traffic_words const *const words = context;
    uint32_t ports = 0;
    enum rm_code code = rm_traffic_read_ports(words, arguments->word[0], &ports, error);
    for (uint32_t i = 0; i < words->port_count && code == RM_OK; i++)
        if ((ports >> i & 1) != 0)
            code = show_port(words, i, answer, error);
    return code;
}

enum rm_code rm_traffic_show_flows(void *context, struct rm_arguments const *arguments, FILE *answer,
                                   struct rm_error *error) {
    struct rm_traffic_words const *const words = context;
    uint32_t ports = 0;
    enum rm_code const code = rm_traffic_read_ports(words, arguments->word[0], &ports, error);
    for (uint32_t i = 0; i < words->port_count && code == RM_OK; i++)
        if ((ports >> i & 1) != 0)
            show_flows(words, i, answer);
    return code;
}
