// SPDX-License-Identifier: Apache-2.0
#include "cameras_summary.h"

#include <inttypes.h>

#include "base/json.h"
#include "wire/address.h"

void rm_cameras_describe(struct rm_cameras_config const *config, FILE *out) {
    for (uint32_t c = 0; c < config->camera_count; ++c) {
        struct rm_virtual_camera const *const camera = &config->camera[c];
        struct rm_camera_frame const frame = {.length = camera->frame_bytes, .packet_bytes = camera->packet_bytes};
        char from[16], to[16];
        rm_ipv4_format(camera->ipv4, from);
        rm_ipv4_format(config->port[camera->port].flow.destination_ipv4, to);
        fprintf(out, "%s: %s, %s %u × %u, %g Hz, %u packets of %u bytes a frame, from %s to %s:%u%s\n", camera->name,
                camera->format == RM_CAMERA_GVSP ? "gvsp" : "fragments",
                rm_pixel_format_of(camera->geometry.pixel_format)->name, camera->geometry.width,
                camera->geometry.height, camera->rate_hz, rm_camera_packets(camera, &frame), camera->packet_bytes,
                camera->ipv4 == 0 ? "any address" : from, to, camera->udp_port,
                camera->control ? ", when a program starts it" : "");
    }
    fflush(out);
}

static uint64_t packets_sent(struct rm_camera_sender const *sender) {
    return rm_counter_get(sender->link_counters, RM_SENDER_SENT);
}

static void summary_print(struct rm_camera_sender const *sender, FILE *out) {
    struct rm_camera_counts const *const counts = &sender->counts;
    fprintf(out, "%s: %" PRIu64 " frames, %" PRIu64 " packets, %" PRIu64 " bytes", sender->camera.name, counts->frames,
            packets_sent(sender), counts->bytes);
    if (counts->skipped != 0)
        fprintf(out, ", %" PRIu64 " frames skipped", counts->skipped);
    if (counts->resent + counts->unavailable != 0)
        fprintf(out, ", %" PRIu64 " packets sent again, %" PRIu64 " asked for too late", counts->resent,
                counts->unavailable);
    for (uint32_t kind = 0; kind < RM_CAMERA_FAULT_KINDS; ++kind)
        if (sender->faults.happened[kind] != 0)
            fprintf(out, ", %s %" PRIu64, rm_camera_fault_name((enum rm_camera_fault_kind)kind),
                    sender->faults.happened[kind]);
    fputs("\n", out);
}

static void summary_print_json(struct rm_camera_sender const *sender, FILE *out) {
    struct rm_camera_counts const *const counts = &sender->counts;
    rm_json_text(out, sender->camera.name);
    fprintf(out,
            ": {\"frames\": %" PRIu64 ", \"packets\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"skipped\": %" PRIu64
            ", \"resent\": %" PRIu64 ", \"unavailable\": %" PRIu64 ", \"faults\": {",
            counts->frames, packets_sent(sender), counts->bytes, counts->skipped, counts->resent, counts->unavailable);
    for (uint32_t kind = 0; kind < RM_CAMERA_FAULT_KINDS; ++kind)
        fprintf(out, "%s\"%s\": %" PRIu64, kind == 0 ? "" : ", ", rm_camera_fault_name((enum rm_camera_fault_kind)kind),
                sender->faults.happened[kind]);
    fputs("}}", out);
}

void rm_cameras_summary(struct rm_camera_sender const *senders, uint32_t count, bool json, FILE *out) {
    if (json)
        fputs("{\"cameras\": {", out);
    for (uint32_t s = 0; s < count; ++s) {
        if (json && s != 0)
            fputs(", ", out);
        if (json)
            summary_print_json(&senders[s], out);
        else
            summary_print(&senders[s], out);
    }
    if (json)
        fputs("}}\n", out);
    fflush(out);
}
