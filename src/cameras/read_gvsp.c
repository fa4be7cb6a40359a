// SPDX-License-Identifier: Apache-2.0
/* GigE Vision streams. Their packets do not tell how many bytes the others have: the first one of a block does, and as
 * long as none came, any. */
#include "cameras/camera_formats.h"
#include "frames/gvsp.h"

static bool gvsp_names(struct rm_camera const *camera, uint8_t const *payload, uint32_t length) {
    (void)camera;
    (void)payload;
    (void)length;
    return true;
}

static enum rm_camera_counter gvsp_fault(enum rm_gvsp_fault fault) {
    switch (fault) {
    case RM_GVSP_TOO_SHORT:
        return RM_CAMERA_TOO_SHORT;
    case RM_GVSP_BAD_PACKET_ID:
        return RM_CAMERA_BAD_PLACE;
    default:
        return RM_CAMERA_UNSUPPORTED;
    }
}

/** Learns the length of payload packets. One that tells of an error has no payload. */
static void gvsp_measure(struct rm_camera_gvsp *gvsp, struct rm_gvsp_packet const *packet) {
    if (packet->format != RM_GVSP_PAYLOAD || packet->status >= RM_GVSP_STATUS_ERROR)
        return;
    bool const first = packet->packet == 1;
    if (first || gvsp->packet_bytes == 0 || (!gvsp->is_sure && packet->length > gvsp->packet_bytes))
        gvsp->packet_bytes = packet->length;
    gvsp->is_sure = gvsp->is_sure || first;
}

/** Block ids of 16 bits go from 65535 to 1. */
static void gvsp_follow_ids(struct rm_camera *camera, struct rm_gvsp_packet const *packet, uint64_t tsc) {
    if (camera->gvsp.extended_ids == packet->extended_ids)
        return;
    camera->gvsp.extended_ids = packet->extended_ids;
    rm_assembly_renumber(camera->assembly, !packet->extended_ids, tsc);
}

static enum rm_camera_counter gvsp_take(struct rm_camera *camera, uint8_t const *payload, uint32_t length,
                                        uint64_t tsc) {
    struct rm_gvsp_packet packet;
    struct rm_image_fragment fragment;
    enum rm_gvsp_fault const fault = rm_gvsp_parse(payload, length, &packet);
    if (fault != RM_GVSP_GOOD)
        return gvsp_fault(fault);
    gvsp_follow_ids(camera, &packet, tsc);
    gvsp_measure(&camera->gvsp, &packet);
    if (camera->resend != NULL)
        rm_resend_note(camera->resend, &packet);
    if (!rm_gvsp_fragment(&packet, camera->gvsp.packet_bytes, &fragment))
        return RM_CAMERA_CAMERA_ERROR;
    return rm_camera_put(camera, &fragment, tsc);
}

struct rm_camera_format_reader const rm_camera_gvsp_reader = {.names = gvsp_names, .take = gvsp_take};
