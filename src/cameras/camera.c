// SPDX-License-Identifier: Apache-2.0
#include "cameras/camera.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cameras/camera_formats.h"
#include "cameras/camera_publish.h"

enum {
    /** Fragments are this long at least, on average: room for their bits. */
    LEAST_FRAGMENT_BYTES = 128,
    LEAST_FRAGMENTS = 4096,
    /** Of images in shared memory: rm_owner_images. */
    MOST_FRAGMENTS = 1 << 24,
    /** Frames that large do not stay in a cache until someone reads them. */
    STREAMING_BYTES = 2 << 20,
    /** A sender is silent, and an old number is that of a restarted camera, after a second, or so many deadlines. */
    RESTART_DEADLINES = 4,
};

/* Endings of fragments and frames have the assembly's order. */
_Static_assert(RM_CAMERA_WITHOUT_ROOM - RM_CAMERA_PLACED == RM_FRAGMENT_WITHOUT_ROOM, "every ending of a fragment");
_Static_assert(RM_CAMERA_GEOMETRIES - RM_CAMERA_BEGUN == RM_GEOMETRY_CHANGES - RM_FRAMES_BEGUN, "all of frames");

static uint32_t camera_fragments_max(struct rm_config_camera const *config) {
    uint32_t const fragments = config->frame_bytes / LEAST_FRAGMENT_BYTES;
    uint32_t const most = fragments < MOST_FRAGMENTS ? fragments : MOST_FRAGMENTS;
    return most > LEAST_FRAGMENTS ? most : LEAST_FRAGMENTS;
}

void rm_camera_plan(struct rm_camera *camera, struct rm_owner *owner) {
    struct rm_config_camera const *const config = camera->config;
    char name[RM_NAME_BYTES];
    camera->images_index =
        rm_owner_images(owner, &(struct rm_images_plan){.name = config->name,
                                                        .description = "frames of the camera",
                                                        .slots = config->slots,
                                                        .leases = config->leases,
                                                        .frame_bytes = config->frame_bytes,
                                                        .fragments_max = camera_fragments_max(config)});
    snprintf(name, sizeof name, "counters/camera/%s", config->name);
    camera->counters_index = rm_owner_counters(owner, name, "what became of datagrams and frames of the camera",
                                               RM_COUNTER_SET_CAMERA, RM_CAMERA_COUNTERS);
    rm_camera_plan_frames(camera, owner);
}

static uint64_t camera_restart_ticks(struct rm_camera const *camera) {
    double const deadline_s = camera->config->deadline_ms / 1e3 * RESTART_DEADLINES;
    return (uint64_t)((deadline_s > 1 ? deadline_s : 1) * camera->ticks_per_second);
}

static bool camera_asks(struct rm_config_camera const *config) {
    return config->format == RM_CAMERA_GVSP && config->resend_percent > 0;
}

/** Of GigE Vision until a packet has extended ids. */
static bool camera_has_short_numbers(struct rm_camera const *camera) {
    enum rm_camera_format const format = camera->config->format;
    bool const short_lines = format == RM_CAMERA_LINES && rm_layout_counter_bits(camera->lines->layout) == 16;
    return format == RM_CAMERA_GVSP || camera->reader->is_captured || short_lines;
}

static struct rm_assembly_settings camera_settings(struct rm_camera *camera, struct rm_images const *images) {
    static enum rm_incomplete const incomplete[] = {[RM_CAMERA_DROP] = RM_INCOMPLETE_DROP,
                                                    [RM_CAMERA_DELIVER] = RM_INCOMPLETE_DELIVER,
                                                    [RM_CAMERA_FILL] = RM_INCOMPLETE_FILL};
    struct rm_config_camera const *const config = camera->config;
    return (struct rm_assembly_settings){
        .slots = config->slots,
        .bytes_max = config->frame_bytes,
        .fragments_max = camera_fragments_max(config),
        .deadline_ticks = (uint64_t)(config->deadline_ms / 1e3 * camera->ticks_per_second),
        .restart_ticks = camera_restart_ticks(camera),
        .later = camera_asks(config) ? 2 : 1, /* what is asked for comes after the next frame began */
        .incomplete = incomplete[config->incomplete],
        .streaming = config->frame_bytes >= STREAMING_BYTES,
        .bytes = rm_images_bytes(camera->writer, 0),
        .maps = rm_images_map(camera->writer, 0),
        .frame_stride_bytes = images->frame_bytes,
        .map_stride_bytes = images->map_bytes,
        .short_numbers = camera_has_short_numbers(camera),
    };
}

/** False where there is no memory. */
static bool camera_open_resend(struct rm_camera *camera, struct rm_assembly_settings const *assembly) {
    if (!camera_asks(camera->config))
        return true;
    struct rm_resend_settings settings =
        rm_resend_usual(camera->config->resend_percent, assembly->deadline_ticks, (uint64_t)camera->ticks_per_second);
    settings.slots = assembly->slots;
    settings.fragments_max = assembly->fragments_max;
    camera->resend = rm_resend_new(&settings);
    return camera->resend != NULL;
}

/** False where there is no memory. */
static bool camera_open_capture(struct rm_camera *camera) {
    struct rm_config_camera const *const config = camera->config;
    camera->line_camera = (struct rm_line_camera){
        .geometry = {.pixel_format = config->pixel_format, .width = config->width, .height = config->height},
        .first_line = config->first_line};
    if (!camera->reader->is_captured)
        return true;
    camera->capture.join =
        (struct rm_message_join){.bytes = malloc(RM_CMP_CSI2_LONGEST), .capacity = RM_CMP_CSI2_LONGEST};
    return camera->capture.join.bytes != NULL;
}

/** What readers still lease of an earlier receiver is not ours yet. */
static void camera_withhold(struct rm_camera *camera) {
    for (uint32_t slot = 0; slot < camera->config->slots; ++slot) {
        bool const own = rm_images_is_own(camera->writer, slot);
        camera->published[slot] = own ? NULL : rm_assembly_withhold(camera->assembly, slot);
        camera->own_slots += own;
    }
}

enum rm_code rm_camera_open(struct rm_camera *camera, struct rm_owner *owner, struct rm_error *error) {
    struct rm_config_camera const *const config = camera->config;
    camera->owner = owner;
    camera->reader = rm_camera_format_reader_of(config->format);
    camera->counters = rm_owner_memory(owner, camera->counters_index);
    camera->recorded = RM_TURN_NONE;
    enum rm_code const code = rm_images_writer_new(owner, camera->images_index, &camera->writer, error);
    if (code != RM_OK)
        return code;
    struct rm_assembly_settings const settings = camera_settings(camera, rm_owner_memory(owner, camera->images_index));
    camera->assembly = rm_assembly_new(&settings);
    if (camera->assembly == NULL || !camera_open_resend(camera, &settings) || !camera_open_capture(camera))
        return rm_fail(error, RM_E_NO_SPACE, "camera \"%s\": no memory to put its frames together", config->name);
    camera_withhold(camera);
    camera->is_touched = true;
    rm_camera_show(camera);
    return RM_OK;
}

void rm_camera_close(struct rm_camera *camera) {
    free(camera->capture.join.bytes);
    camera->capture.join.bytes = NULL;
    rm_resend_free(camera->resend);
    rm_assembly_free(camera->assembly);
    rm_images_writer_free(camera->writer);
    camera->resend = NULL;
    camera->assembly = NULL;
    camera->writer = NULL;
}

bool rm_camera_listens(struct rm_camera const *camera, uint32_t source_ipv4, uint16_t udp_port) {
    struct rm_config_camera const *const config = camera->config;
    return config->udp_port == udp_port && (config->ipv4 == 0 || config->ipv4 == source_ipv4);
}

/** Of several that send as one camera, the first that was heard is, until it falls silent. */
static bool camera_hears(struct rm_camera *camera, uint32_t source_ipv4, uint64_t tsc) {
    if (camera->config->ipv4 != 0)
        return true;
    if (source_ipv4 != camera->sender_ipv4 && camera->sender_tsc != 0 &&
        (int64_t)(tsc - camera->sender_tsc) < (int64_t)camera_restart_ticks(camera))
        return false;
    camera->sender_ipv4 = source_ipv4;
    camera->sender_tsc = tsc;
    return true;
}

void rm_camera_take(struct rm_camera *camera, uint8_t const *payload, uint32_t length, uint32_t source_ipv4,
                    uint64_t tsc) {
    enum rm_camera_counter const ending = camera_hears(camera, source_ipv4, tsc)
                                              ? camera->reader->take(camera, payload, length, tsc)
                                              : RM_CAMERA_OTHER_SENDER;
    rm_counter_add(camera->counters, RM_CAMERA_RECEIVED, 1);
    rm_counter_add(camera->counters, ending, 1);
    camera->is_touched = true;
}

enum rm_camera_counter rm_camera_put(struct rm_camera *camera, struct rm_image_fragment const *fragment, uint64_t tsc) {
    enum rm_assembly_counter const ending = rm_assembly_put(camera->assembly, fragment, tsc);
    rm_camera_publish_closed(camera);
    return RM_CAMERA_PLACED + ending;
}

struct rm_camera_told *rm_camera_told(struct rm_camera *camera, uint64_t frame) {
    struct rm_camera_told *const told = &camera->told[frame % RM_CAMERA_TOLD];
    if (told->frame != frame)
        *told = (struct rm_camera_told){.frame = frame};
    return told;
}

void rm_camera_tend(struct rm_camera *camera, uint64_t tsc) {
    rm_assembly_expire(camera->assembly, tsc);
    rm_camera_publish_closed(camera);
}

uint32_t rm_camera_ask(struct rm_camera *camera, uint64_t tsc, struct rm_gvcp_resend request[RM_RESEND_REQUESTS]) {
    if (camera->resend == NULL)
        return 0;
    uint32_t const count = rm_resend_poll(camera->resend, camera->assembly, tsc, request);
    camera->is_touched |= count != 0;
    return count;
}

bool rm_camera_waits(struct rm_camera const *camera) { return rm_assembly_in_flight(camera->assembly, NULL) != NULL; }

static void camera_show_resend(struct rm_camera *camera) {
    struct rm_resend_counts const *const counts = rm_resend_counts(camera->resend);
    rm_counter_set(camera->counters, RM_CAMERA_RESEND_REQUESTS, counts->requests);
    rm_counter_set(camera->counters, RM_CAMERA_RESEND_PACKETS, counts->packets);
    rm_counter_set(camera->counters, RM_CAMERA_RESEND_REPEATS, counts->repeats);
    rm_counter_set(camera->counters, RM_CAMERA_RESEND_UNAVAILABLE, counts->unavailable);
    rm_counter_set(camera->counters, RM_CAMERA_RESEND_OVER_BUDGET, counts->frames_over_budget);
}

void rm_camera_show(struct rm_camera *camera) {
    if (!camera->is_touched)
        return;
    uint64_t const *const counts = rm_assembly_counts(camera->assembly);
    for (uint32_t i = RM_FRAMES_BEGUN; i <= RM_GEOMETRY_CHANGES; ++i)
        rm_counter_set(camera->counters, RM_CAMERA_BEGUN + i - RM_FRAMES_BEGUN, counts[i]);
    if (camera->resend != NULL)
        camera_show_resend(camera);
    rm_counter_set(camera->counters, RM_CAMERA_FREE_SLOTS, camera->own_slots);
    camera->is_touched = false;
}
