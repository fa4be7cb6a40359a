// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cameras_resolve.h"
#include "frames/pixels.h"
#include "packets.h"

enum { WIDTH = 640, HEIGHT = 480 };

/** One camera while it is resolved. */
struct resolving_camera {
    struct rm_cameras_resolve const *resolve;
    struct rm_virtual_file_camera const *entry;
    char const *place;
    struct rm_config_camera const *described;
    struct rm_virtual_camera *camera;
};

static enum rm_code resolve_identity(struct resolving_camera const *of) {
    struct rm_config const *const machine = of->resolve->config->machine;
    struct rm_config_camera const *as = of->described;
    for (uint32_t c = 0; of->entry->poses_as != NULL && c < machine->camera_count; ++c)
        if (strcmp(machine->camera[c].name, of->entry->poses_as) == 0)
            as = &machine->camera[c];
    if (of->entry->poses_as != NULL && strcmp(as->name, of->entry->poses_as) != 0)
        return rm_cameras_fail(of->resolve, of->place, "poses_as", "found \"%s\", expected a camera of %s",
                               of->entry->poses_as, machine->source_path);
    of->camera->ipv4 = as->ipv4;
    of->camera->udp_port = as->udp_port;
    of->camera->id = as->id;
    return RM_OK;
}

static enum rm_code resolve_geometry(struct resolving_camera const *of) {
    struct rm_virtual_file_camera const *const entry = of->entry;
    struct rm_config_camera const *const described = of->described;
    struct rm_pixel_format const *format =
        rm_pixel_format_of(described->pixel_format == 0 ? rm_pixel_format_at(0)->number : described->pixel_format);
    if (entry->pixel_format != NULL)
        format = rm_pixel_format_named(entry->pixel_format);
    if (format == NULL)
        return rm_cameras_fail(of->resolve, of->place, "pixel_format",
                               "found \"%s\", expected a name such as Mono8, Mono12p or BayerRG12Packed",
                               entry->pixel_format);
    struct rm_image_geometry const geometry = {
        .pixel_format = format->number,
        .width = entry->width != NULL    ? *entry->width
                 : described->width != 0 ? described->width
                                         : WIDTH,
        .height = entry->height != NULL    ? *entry->height
                  : described->height != 0 ? described->height
                                           : HEIGHT,
        .padding_x = *entry->padding_x,
    };
    if ((uint64_t)geometry.width * geometry.height > RM_VIRTUAL_PIXELS_MAX)
        return rm_cameras_fail(of->resolve, of->place, "height", "%u × %u pixels are too many, expected at most %d",
                               geometry.width, geometry.height, RM_VIRTUAL_PIXELS_MAX);
    of->camera->geometry = geometry;
    of->camera->frame_bytes = rm_image_bytes(&geometry);
    return RM_OK;
}

static enum rm_code resolve_stream(struct resolving_camera const *of) {
    struct rm_virtual_file_camera const *const entry = of->entry;
    struct rm_virtual_camera *const camera = of->camera;
    camera->rate_hz = *entry->rate_hz;
    camera->exposure_s = 1e-6 * *entry->exposure_us;
    camera->mtu = *entry->mtu;
    camera->pattern = *entry->pattern;
    camera->pace = *entry->pace;
    camera->extended_ids = *entry->extended_ids;
    camera->configuration_first = *entry->configuration_first;
    camera->control = *entry->control;
    camera->first_number = *entry->first_number;
    camera->packet_bytes = rm_camera_packet_bytes(camera->format, camera->extended_ids, camera->mtu);
    if (camera->format == RM_CAMERA_GVSP && camera->first_number == 0)
        return rm_cameras_fail(of->resolve, of->place, "first_number",
                               "found 0, which GigE Vision has not, expected 1");
    if (camera->control && (camera->format != RM_CAMERA_GVSP || camera->ipv4 == 0))
        return rm_cameras_fail(of->resolve, of->place, "control",
                               "expected a camera with format gvsp and an address in %s, where programs find it",
                               of->resolve->config->machine->source_path);
    return RM_OK;
}

static void copy_name(char *to, size_t bytes, char const *from) { snprintf(to, bytes, "%s", from == NULL ? "" : from); }

static void take_spot(struct resolving_camera const *of) {
    struct rm_virtual_file_spot const *const spot = of->entry->spot;
    struct rm_image_geometry const *const geometry = &of->camera->geometry;
    of->camera->spot = (struct rm_camera_spot){
        .centre_x = spot->centre_x != NULL ? *spot->centre_x : (geometry->width - 1) / 2.0,
        .centre_y = spot->centre_y != NULL ? *spot->centre_y : (geometry->height - 1) / 2.0,
        .sigma_x = *spot->sigma_x,
        .sigma_y = *spot->sigma_y,
        .tilt_rad = *spot->tilt_deg * M_PI / 180,
        .peak = *spot->peak,
        .background = *spot->background,
        .noise = *spot->noise,
        .move_x = *spot->move_x,
        .move_y = *spot->move_y,
        .move_hz = *spot->move_hz,
        .pixels_per_unit = *spot->pixels_per_unit,
    };
    copy_name(of->camera->spot.follow, sizeof of->camera->spot.follow, spot->follow);
    copy_name(of->camera->spot.follow_x, sizeof of->camera->spot.follow_x, spot->follow_x);
    copy_name(of->camera->spot.follow_y, sizeof of->camera->spot.follow_y, spot->follow_y);
}

static enum rm_code resolve_faults(struct resolving_camera const *of) {
    enum rm_code code = RM_OK;
    for (uint32_t f = 0; f < of->entry->faults_count; ++f) {
        struct rm_virtual_file_fault const *const fault = &of->entry->faults[f];
        of->camera->fault[f] = (struct rm_camera_fault){
            .kind = fault->kind,
            .probability = *fault->probability,
            .every = fault->every == NULL ? 0 : *fault->every,
            .first = *fault->first,
            .end = fault->end == NULL ? UINT64_MAX : *fault->end,
        };
        char key[32];
        snprintf(key, sizeof key, "faults[%u]", f);
        if (*fault->probability == 0 && fault->every == NULL)
            code = rm_cameras_fail(of->resolve, of->place, key, "it never happens, expected probability or every");
    }
    of->camera->fault_count = of->entry->faults_count;
    return code;
}

enum rm_code rm_cameras_resolve_camera(struct rm_cameras_resolve const *resolve, uint32_t index,
                                       struct rm_virtual_file_camera const *entry, char const *place) {
    struct rm_cameras_config *const config = resolve->config;
    struct rm_config_camera const *const described = &config->machine->camera[index];
    struct resolving_camera const of = {resolve, entry, place, described, &config->camera[config->camera_count]};
    *of.camera = (struct rm_virtual_camera){
        .port = described->port, .format = described->format, .seed = *resolve->file->seed + index};
    strcpy(of.camera->name, described->name);
    enum rm_code code = resolve_identity(&of);
    code = rm_code_first(code, resolve_geometry(&of));
    code = rm_code_first(code, resolve_stream(&of));
    code = rm_code_first(code, resolve_faults(&of));
    take_spot(&of);
    config->camera_count++;
    return code;
}
