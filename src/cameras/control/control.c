// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "network.h"
#include "wire/frame.h"

/** Registers of the first stream channel, which every GigE Vision device has at these addresses. */
enum { STREAM_PORT = 0x0D00, STREAM_PACKET_SIZE = 0x0D04, STREAM_DESTINATION = 0x0D18, PACKET_SIZE_MASK = 0xFFFF };

static char const REGISTERS[] = "expected the registers of GigE Vision, not locked";

struct ipv4_text {
    char text[INET_ADDRSTRLEN];
};

static struct ipv4_text ipv4_words(uint32_t ipv4) {
    struct ipv4_text words;
    struct in_addr const address = {.s_addr = htonl(ipv4)};
    inet_ntop(AF_INET, &address, words.text, sizeof words.text);
    return words;
}

/** Takes an error of Aravis', and frees it. `advice`: what to do. */
static enum rm_code control_fail(struct rm_camera_control const *control, struct rm_error *error, GError *why,
                                 char const *what, char const *advice) {
    char reason[sizeof error->text / 2];
    g_strlcpy(reason, why != NULL ? why->message : "no reason is given", sizeof reason);
    g_clear_error(&why);
    return rm_fail(error, RM_E_SYSTEM, "camera \"%s\" at %s: %s: %s; %s", control->camera->name,
                   ipv4_words(control->camera->ipv4).text, what, reason, advice);
}

static bool control_write(struct rm_camera_control *control, uint64_t address, uint32_t value, GError **why) {
    return arv_device_write_register(control->device, address, value, why);
}

static enum rm_code control_open(struct rm_camera_control *control, uint32_t our_ipv4, struct rm_error *error) {
    GError *why = NULL;
    GInetAddress *const ours = g_inet_address_new_from_string(ipv4_words(our_ipv4).text);
    GInetAddress *const camera = g_inet_address_new_from_string(ipv4_words(control->camera->ipv4).text);
    control->device = arv_gv_device_new(ours, camera, &why);
    g_object_unref(ours);
    g_object_unref(camera);
    if (control->device == NULL || why != NULL)
        return control_fail(control, error, why, "cannot be opened", "`ping` shows whether it is there");
    if (!arv_gv_device_is_controller(ARV_GV_DEVICE(control->device)))
        return rm_fail(error, RM_E_BUSY, "camera \"%s\" at %s: another program controls it, stop that first",
                       control->camera->name, ipv4_words(control->camera->ipv4).text);
    return RM_OK;
}

/** The largest packets that the way and the port take. */
static uint32_t packet_bytes_of(struct rm_port_config const *port, uint32_t mtu_bytes) {
    uint32_t const longest = port->longest_frame != 0 ? port->longest_frame : RM_LONGEST_FRAME;
    uint32_t const taken = port->kind == RM_PORT_UDP ? longest + RM_IPV4_BYTES + RM_UDP_BYTES
                                                     : longest - RM_ETHERNET_BYTES - RM_VLAN_BYTES;
    return mtu_bytes < taken ? mtu_bytes : taken;
}

static enum rm_code control_set_feature(struct rm_camera_control *control, struct rm_config_feature const *feature,
                                        struct rm_error *error) {
    static char const advice[] = "`arv-tool-0.8 features` shows what it has and takes";
    char what[3 * RM_CONFIG_FEATURE_BYTES];
    GError *why = NULL;
    ArvGcNode *const node = arv_device_get_feature(control->device, feature->name);
    bool const executed = feature->value[0] == '\0';
    snprintf(what, sizeof what, executed ? "feature \"%s\"" : "feature \"%s\" cannot be set to \"%s\"", feature->name,
             feature->value);
    if (!ARV_IS_GC_FEATURE_NODE(node))
        return rm_fail(error, RM_E_CONFIG, "camera \"%s\" at %s has no feature \"%s\"; %s", control->camera->name,
                       ipv4_words(control->camera->ipv4).text, feature->name, advice);
    if (executed && !ARV_IS_GC_COMMAND(node))
        return rm_fail(error, RM_E_CONFIG, "camera \"%s\" at %s: feature \"%s\" is no command, expected its value",
                       control->camera->name, ipv4_words(control->camera->ipv4).text, feature->name);
    if (executed)
        arv_gc_command_execute(ARV_GC_COMMAND(node), &why);
    else
        arv_gc_feature_node_set_value_from_string(ARV_GC_FEATURE_NODE(node), feature->value, &why);
    return why == NULL ? RM_OK : control_fail(control, error, why, what, advice);
}

static enum rm_code control_set_features(struct rm_camera_control *control, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < control->camera->feature_count && code == RM_OK; ++i)
        code = control_set_feature(control, &control->camera->feature[i], error);
    return code;
}

static enum rm_code control_set_packet_size(struct rm_camera_control *control, uint32_t bytes, struct rm_error *error) {
    GError *why = NULL;
    if (!control_write(control, STREAM_PACKET_SIZE, bytes, &why))
        return control_fail(control, error, why, "the size of its packets cannot be set", REGISTERS);
    return RM_OK;
}

/** Opens the stream channel. */
static enum rm_code control_set_destination(struct rm_camera_control *control, uint32_t our_ipv4,
                                            struct rm_error *error) {
    struct rm_port_config const *const port = &control->port->port;
    GError *why = NULL;
    uint32_t size = 0;
    control->destination_ipv4 = port->kind == RM_PORT_UDP && port->bind_ipv4 != 0 ? port->bind_ipv4 : our_ipv4;
    if (port->kind != RM_PORT_UDP)
        control->listener = rm_listen_for_nothing(control->destination_ipv4, control->camera->udp_port);
    if (!control_write(control, STREAM_DESTINATION, control->destination_ipv4, &why) ||
        !control_write(control, STREAM_PORT, control->camera->udp_port, &why) ||
        !arv_device_read_register(control->device, STREAM_PACKET_SIZE, &size, &why))
        return control_fail(control, error, why, "the destination of its stream cannot be set", REGISTERS);
    control->packet_bytes = size & PACKET_SIZE_MASK;
    return RM_OK;
}

static enum rm_code control_acquire(struct rm_camera_control *control, struct rm_error *error) {
    GError *why = NULL;
    arv_device_execute_command(control->device, "AcquisitionStart", &why);
    if (why != NULL)
        return control_fail(control, error, why, "feature \"AcquisitionStart\"",
                            "the camera's own program may tell why it cannot start");
    control->acquires = true;
    return RM_OK;
}

enum rm_code rm_camera_control_start(struct rm_camera_control *control, struct rm_error *error) {
    struct rm_way_to_camera way;
    control->listener = -1;
    if (!rm_way_to_camera(control->camera->ipv4, &way))
        return rm_fail(error, RM_E_SYSTEM, "camera \"%s\": no way leads to %s: %s; `ip route` shows those there are",
                       control->camera->name, ipv4_words(control->camera->ipv4).text, strerror(errno));
    enum rm_code code = control_open(control, way.ipv4, error);
    if (code == RM_OK)
        code = control_set_packet_size(control, packet_bytes_of(&control->port->port, way.mtu_bytes), error);
    if (code == RM_OK)
        code = control_set_features(control, error);
    if (code == RM_OK)
        code = control_set_destination(control, way.ipv4, error);
    return code == RM_OK ? control_acquire(control, error) : code;
}

void rm_camera_control_close(struct rm_camera_control *control) {
    if (control->device != NULL && control->acquires)
        arv_device_execute_command(control->device, "AcquisitionStop", NULL);
    if (control->device != NULL && control->destination_ipv4 != 0)
        control_write(control, STREAM_PORT, 0, NULL);
    g_clear_object(&control->device);
    if (control->listener >= 0)
        close(control->listener);
    control->listener = -1;
}

void rm_camera_control_print(struct rm_camera_control const *control, FILE *out) {
    fprintf(out, "%s: %s sends to %s:%u, packets of %u bytes\n", control->camera->name,
            ipv4_words(control->camera->ipv4).text, ipv4_words(control->destination_ipv4).text,
            control->camera->udp_port, control->packet_bytes);
    fflush(out);
}
