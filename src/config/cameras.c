// SPDX-License-Identifier: Apache-2.0
/* The section `cameras`: who sends images, with the places of what is wrong. */
#include "base/fail.h"
#include "config/resolve.h"
#include "frames/pixels.h"
#include "frames/tecmp.h"
#include "wire/address.h"

#include <ringmaster/images.h>

#include <stdlib.h>
#include <string.h>

static enum rm_code camera_fail(struct rm_config const *config, struct rm_error *error, uint32_t index,
                                char const *member, char const *expected) {
    return rm_config_fail_entry(config, error, "cameras", index, member, "%s", expected);
}

static enum rm_code resolve_camera_name(struct rm_config *config, struct rm_error *error, uint32_t index,
                                        struct rm_file_camera const *written) {
    struct rm_config_camera *const camera = &config->camera[index];
    if (!rm_config_name_is_good(written->name))
        return rm_config_fail_entry(config, error, "cameras", index, "name", "found \"%s\", " RM_CONFIG_NAME_RULE,
                                    written->name);
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(config->camera[i].name, written->name) == 0)
            return rm_config_fail_entry(config, error, "cameras", index, "name",
                                        "\"%s\" is already the name of cameras[%u], expected one of its own",
                                        written->name, i);
    strcpy(camera->name, written->name);
    return RM_OK;
}

static enum rm_code resolve_camera_port(struct rm_config *config, struct rm_error *error, uint32_t index,
                                        struct rm_file_camera const *written) {
    struct rm_config_camera *const camera = &config->camera[index];
    camera->port = rm_config_find_port(config, written->port, strlen(written->port));
    char guess[64];
    if (camera->port == config->port_count)
        return rm_config_fail_entry(config, error, "cameras", index, "port", "there is no port \"%s\"%s", written->port,
                                    rm_config_guess_port(config, written->port, guess, sizeof guess));
    struct rm_config_port *const port = &config->port[camera->port];
    port->cameras = true;
    if (port->port.queues != 1)
        return rm_config_fail_entry(config, error, "cameras", index, "port",
                                    "port \"%s\" has %u queues, expected one: its cameras are received by one thread",
                                    written->port, port->port.queues);
    camera->id = *written->id;
    camera->udp_port = written->udp_port != NULL ? *written->udp_port : port->udp_port;
    if (written->address != NULL && !rm_ipv4_parse(written->address, &camera->ipv4))
        return rm_config_fail_entry(config, error, "cameras", index, "address",
                                    "found \"%s\", expected an IPv4 address such as 10.30.0.11", written->address);
    if (port->port.kind == RM_PORT_UDP && camera->udp_port != port->udp_port)
        return rm_config_fail_entry(config, error, "cameras", index, "udp_port",
                                    "found %u, but port \"%s\" is a socket on %u, expected one and the same",
                                    camera->udp_port, written->port, port->udp_port);
    return RM_OK;
}

static enum rm_code resolve_camera_format(struct rm_config *config, struct rm_error *error, uint32_t index,
                                          struct rm_file_camera const *written) {
    static char const *const words[] = {[RM_CAMERA_GVSP] = "gvsp",
                                        [RM_CAMERA_FRAGMENTS] = "fragments",
                                        [RM_CAMERA_TECMP] = "tecmp",
                                        [RM_CAMERA_CMP] = "cmp"};
    struct rm_config_camera *const camera = &config->camera[index];
    camera->format = RM_CAMERA_GVSP;
    while (camera->format < RM_CAMERA_LINES && strcmp(words[camera->format], written->format) != 0)
        camera->format++;
    camera->lines = 1;
    while (camera->format == RM_CAMERA_LINES && camera->lines < config->format_count &&
           strcmp(config->format[camera->lines].name, written->format) != 0)
        camera->lines++;
    if (camera->format == RM_CAMERA_LINES && camera->lines >= config->format_count)
        return rm_config_fail_entry(config, error, "cameras", index, "format",
                                    "found \"%s\", expected gvsp, fragments, tecmp, cmp, or the name of one of "
                                    "\"formats\"",
                                    written->format);
    return RM_OK;
}

static enum rm_code resolve_camera_geometry(struct rm_config *config, struct rm_error *error, uint32_t index,
                                            struct rm_file_camera const *written) {
    struct rm_config_camera *const camera = &config->camera[index];
    struct rm_pixel_format const *const format =
        written->pixel_format == NULL ? NULL : rm_pixel_format_named(written->pixel_format);
    if (written->pixel_format != NULL && format == NULL)
        return rm_config_fail_entry(config, error, "cameras", index, "pixel_format",
                                    "found \"%s\", expected a name such as Mono8, Mono12p or BayerRG12Packed",
                                    written->pixel_format);
    camera->pixel_format = format == NULL ? 0 : format->number;
    camera->width = written->width == NULL ? 0 : *written->width;
    camera->height = written->height == NULL ? 0 : *written->height;
    bool const all = camera->pixel_format != 0 && camera->width != 0 && camera->height != 0;
    bool const lines = camera->format != RM_CAMERA_GVSP && camera->format != RM_CAMERA_FRAGMENTS;
    if (lines && !all)
        return camera_fail(config, error, index, "format",
                           "lines do not tell their geometry, expected the keys pixel_format, width and height");
    return RM_OK;
}

static enum rm_code resolve_camera_memory(struct rm_config *config, struct rm_error *error, uint32_t index,
                                          struct rm_file_camera const *written) {
    struct rm_config_camera *const camera = &config->camera[index];
    camera->frame_bytes = *written->frame_bytes;
    camera->slots = *written->slots;
    camera->leases = *written->leases;
    camera->deadline_ms = *written->deadline_ms;
    camera->incomplete = *written->incomplete;
    camera->resend_percent = *written->resend_percent;
    camera->profile = *written->profile;
    camera->record_turns = *written->record_turns;
    if (camera->slots < 8 || camera->slots > RM_IMAGE_SLOTS_MAX)
        return rm_config_fail_entry(config, error, "cameras", index, "slots", "found %u, expected 8 to %d",
                                    camera->slots, RM_IMAGE_SLOTS_MAX);
    if (camera->leases < 1 || camera->leases + RM_IMAGE_SLOTS_OWN > camera->slots)
        return rm_config_fail_entry(config, error, "cameras", index, "leases",
                                    "found %u, expected 1 to %u, which is %d below slots", camera->leases,
                                    camera->slots - RM_IMAGE_SLOTS_OWN, RM_IMAGE_SLOTS_OWN);
    if (!(camera->deadline_ms > 0 && camera->deadline_ms <= 60000))
        return camera_fail(config, error, index, "deadline_ms", "expected more than 0, up to 60000 ms");
    if (!(camera->resend_percent >= 0 && camera->resend_percent <= 100))
        return camera_fail(config, error, index, "resend_percent", "expected 0 to 100 %");
    if (camera->record_turns == 0)
        return camera_fail(config, error, index, "record_turns", "found 0, expected 1 turn at least");
    return RM_OK;
}

/** Whether there is room for a frame, where the file tells how large it is. */
static enum rm_code resolve_frame_bytes(struct rm_config *config, struct rm_error *error, uint32_t index,
                                        struct rm_file_camera const *written) {
    (void)written;
    struct rm_config_camera const *const camera = &config->camera[index];
    struct rm_image_geometry const geometry = {
        .pixel_format = camera->pixel_format, .width = camera->width, .height = camera->height};
    uint64_t const needed = rm_image_bytes(&geometry);
    if (needed <= camera->frame_bytes)
        return RM_OK;
    return rm_config_fail_entry(config, error, "cameras", index, "frame_bytes",
                                "found %u, a frame of its geometry has %llu", camera->frame_bytes,
                                (unsigned long long)needed);
}

static bool camera_is_captured(struct rm_config_camera const *camera) {
    return camera->format == RM_CAMERA_TECMP || camera->format == RM_CAMERA_CMP;
}

static enum rm_code resolve_capture(struct rm_config *config, struct rm_error *error, uint32_t index,
                                    struct rm_file_camera const *written) {
    struct rm_config_camera *const camera = &config->camera[index];
    camera->device = written->device == NULL ? 0 : *written->device;
    camera->channel = *written->channel;
    camera->first_line = *written->first_line;
    if (!camera_is_captured(camera))
        return written->device == NULL
                   ? RM_OK
                   : camera_fail(config, error, index, "device",
                                 "a camera of this format is behind no capture device, take it out");
    if (written->device == NULL)
        return camera_fail(config, error, index, "format",
                           "packets of capture devices need the key device, the number of the camera's");
    return RM_OK;
}

/** Whether lines of the format can be lines of this camera. */
static enum rm_code resolve_lines(struct rm_config *config, struct rm_error *error, uint32_t index,
                                  struct rm_file_camera const *written) {
    (void)written;
    struct rm_config_camera const *const camera = &config->camera[index];
    struct rm_line_camera const lines = {
        .geometry = {.pixel_format = camera->pixel_format, .width = camera->width, .height = camera->height}};
    if (camera_is_captured(camera) && camera->pixel_format != 0 && rm_csi2_data_type(camera->pixel_format) == 0)
        return camera_fail(config, error, index, "pixel_format",
                           "no line of MIPI CSI-2 has it, expected 8 bits, or packed as RAW10 or RAW12 there");
    if (camera->format != RM_CAMERA_LINES || camera->lines >= config->format_count || camera->pixel_format == 0)
        return RM_OK;
    struct rm_layout const *const layout = config->format[camera->lines].layout;
    struct rm_error why = {.text = ""};
    if (layout != NULL && rm_line_layout_check(layout, &lines, &why) == RM_OK)
        return RM_OK;
    return rm_config_fail_entry(config, error, "cameras", index, "format", "formats \"%s\", layout.%s",
                                config->format[camera->lines].name,
                                layout == NULL ? "lanes: not there, expected a described layout" : why.text);
}

static enum rm_code resolve_features(struct rm_config *config, struct rm_error *error, uint32_t index,
                                     struct rm_file_camera const *written) {
    struct rm_config_camera *const camera = &config->camera[index];
    if (written->features_count != 0 && camera->format != RM_CAMERA_GVSP)
        return camera_fail(config, error, index, "features",
                           "a camera of this format is not controlled, expected the format gvsp");
    if (written->features_count != 0 && camera->ipv4 == 0)
        return camera_fail(config, error, index, "features",
                           "the key address is missing, expected the IPv4 address by which the camera is controlled");
    camera->feature = calloc(written->features_count + 1, sizeof *camera->feature);
    if (camera->feature == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    camera->feature_count = written->features_count;
    for (uint32_t i = 0; i < written->features_count; i++) {
        strcpy(camera->feature[i].name, written->features[i].name);
        if (written->features[i].value != NULL)
            strcpy(camera->feature[i].value, written->features[i].value);
    }
    return RM_OK;
}

/** Whether a datagram could be of either. Cameras of GigE Vision have no number. */
static bool cameras_are_alike(struct rm_config_camera const *a, struct rm_config_camera const *b) {
    bool const near = a->port == b->port && camera_is_captured(a) == camera_is_captured(b) &&
                      (camera_is_captured(a) ? a->format == b->format : a->udp_port == b->udp_port);
    bool const same_sender = a->ipv4 == b->ipv4 || a->ipv4 == 0 || b->ipv4 == 0;
    bool const numbered = a->format != RM_CAMERA_GVSP && a->format == b->format;
    bool const same_number = a->id == b->id && a->device == b->device && a->channel == b->channel;
    return near && same_sender && (!numbered || same_number);
}

static enum rm_code check_camera_alone(struct rm_config *config, struct rm_error *error, uint32_t index,
                                       struct rm_file_camera const *written) {
    (void)written;
    for (uint32_t i = 0; i < index; i++)
        if (cameras_are_alike(&config->camera[i], &config->camera[index]))
            return rm_config_fail_entry(config, error, "cameras", index, "name",
                                        "its datagrams cannot be told from those of \"%s\", expected another port, "
                                        "udp_port, address, id, device or channel",
                                        config->camera[i].name);
    return RM_OK;
}

typedef enum rm_code resolver(struct rm_config *config, struct rm_error *error, uint32_t index,
                              struct rm_file_camera const *written);

/** Adds a number to a list that has it or has room; false where it has neither. */
static bool list_add(uint16_t *list, uint32_t *count, uint32_t most, uint16_t number) {
    uint32_t at = 0;
    while (at < *count && list[at] != number)
        at++;
    if (at == most)
        return false;
    list[at] = number;
    *count += at == *count;
    return true;
}

/** What else the file says of a port that the server does not open. */
static enum rm_code check_camera_ports(struct rm_config *config, struct rm_error *error) {
    static char const problem[] = "cameras send to port \"%s\", which the server does not open, expected another port";
    for (uint32_t i = 0; i < config->instrument_count; i++)
        if (config->port[config->instrument[i].port].cameras)
            return rm_config_fail(config, error, "instruments", problem,
                                  config->port[config->instrument[i].port].port.name);
    for (uint32_t i = 0; i < config->chain_count; i++)
        if (config->port[config->chain[i].port].cameras)
            return rm_config_fail(config, error, "chains", problem, config->port[config->chain[i].port].port.name);
    for (uint32_t i = 0; i < config->port_count; i++) {
        struct rm_config_port *const port = &config->port[i];
        if (port->cameras && (port->answer_ipv4 != 0 || port->kernel_interface[0] != '\0'))
            return rm_config_fail_entry(config, error, "ports", i,
                                        port->answer_ipv4 != 0 ? "answer" : "kernel_interface",
                                        "cameras send to this port, and their receiver answers nobody, take this key "
                                        "out");
        port->port.exception_path = port->port.exception_path && !port->cameras;
    }
    return RM_OK;
}

enum rm_code rm_config_claim_cameras(struct rm_config *config, struct rm_error *error) {
    for (uint32_t i = 0; i < config->camera_count; i++) {
        struct rm_config_camera const *const camera = &config->camera[i];
        struct rm_port_config *const port = &config->port[camera->port].port;
        bool const good =
            camera_is_captured(camera)
                ? list_add(port->ethertype, &port->ethertype_count, RM_PORT_ETHERTYPES_MAX, RM_CAPTURE_ETHERTYPE)
                : list_add(port->claim, &port->claim_count, RM_PORT_CLAIMS_MAX, camera->udp_port);
        if (!good)
            return rm_config_fail_entry(config, error, "cameras", i, "udp_port",
                                        "port \"%s\" would listen to more than %d UDP ports, expected some in common",
                                        port->name, RM_PORT_CLAIMS_MAX);
    }
    return check_camera_ports(config, error);
}

enum rm_code rm_config_resolve_cameras(struct rm_config_file const *file, struct rm_config *config,
                                       struct rm_error *error) {
    static resolver *const resolvers[] = {
        resolve_camera_name, resolve_camera_port, resolve_camera_format, resolve_camera_geometry, resolve_camera_memory,
        resolve_frame_bytes, resolve_capture,     resolve_lines,         resolve_features,        check_camera_alone};
    config->camera = calloc(file->cameras_count + 1, sizeof *config->camera);
    if (config->camera == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < file->cameras_count; i++) {
        if (!rm_yaml_fill(&rm_config_camera_schema, &file->cameras[i], true))
            return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
        for (size_t j = 0; j < sizeof resolvers / sizeof resolvers[0]; j++)
            code = rm_code_first(code, resolvers[j](config, error, i, &file->cameras[i]));
        config->camera_count = i + 1;
    }
    return code;
}
