// SPDX-License-Identifier: Apache-2.0
/** Images of an attached workspace, as a reader finds them. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "fabric/images_plan.h"
#include "fabric/leases.h"
#include "fabric/owner_folder.h"
#include "fabric/workspace_parts.h"

/** The constant members, read once: the owner may cut or change them at any instant. */
static struct rm_images images_constant(struct rm_images const *images) {
    struct rm_images volatile const *const live = images;
    return (struct rm_images){
        .slot_count = live->slot_count,
        .lease_count = live->lease_count,
        .slots_offset = live->slots_offset,
        .maps_offset = live->maps_offset,
        .bytes_offset = live->bytes_offset,
        .map_bytes = live->map_bytes,
        .frame_bytes = live->frame_bytes,
        .lease_base = live->lease_base,
    };
}

static bool images_lease_path(struct rm_workspace const *workspace, struct rm_mapped_segment const *segment,
                              struct rm_images_view *view) {
    char directory[PATH_MAX], segment_path[PATH_MAX], path[PATH_MAX];
    rm_owner_directory(directory, rm_workspace_directory(workspace), segment->owner);
    rm_segment_path(segment_path, directory, segment->owner);
    rm_leases_path(path, segment_path);
    return snprintf(view->lease_path, sizeof view->lease_path, "%s", path) < (int)sizeof view->lease_path;
}

static void images_view_make(struct rm_images const *images, struct rm_images const *constant,
                             struct rm_mapped_segment const *segment, struct rm_images_view *view) {
    uint8_t const *const start = (uint8_t const *)images;
    *view = (struct rm_images_view){
        .header = images,
        .slot = (struct rm_image_slot const *)(start + constant->slots_offset),
        .maps = (uint64_t const *)(start + constant->maps_offset),
        .bytes = start + constant->bytes_offset,
        .map_bytes = constant->map_bytes,
        .frame_bytes = constant->frame_bytes,
        .lease_base = constant->lease_base,
        .slot_count = constant->slot_count,
        .lease_count = constant->lease_count,
        .segment = segment->header,
        .device = segment->device,
        .inode = segment->inode,
    };
}

enum rm_code rm_workspace_images(struct rm_workspace const *workspace, char const *name, struct rm_images_view *view,
                                 struct rm_error *error) {
    char full[RM_NAME_BYTES + 8];
    snprintf(full, sizeof full, "images/%.*s", RM_NAME_BYTES, name);
    struct rm_object const *object;
    void const *memory;
    enum rm_code const code = rm_workspace_find(workspace, RM_OBJECT_IMAGES, full, &object, &memory, error);
    if (code != RM_OK)
        return code;
    struct rm_mapped_segment const *const segment = rm_workspace_holder(workspace, memory);
    struct rm_images const constant = images_constant(memory);
    uint64_t const before = (uint64_t)((uint8_t const *)memory - (uint8_t const *)segment->header);
    if (!rm_images_sound(&constant, segment->bytes - before))
        return rm_fail(error, RM_E_HALF_MADE, "%s: images \"%s\" are damaged; start their owner again",
                       rm_workspace_directory(workspace), name);
    images_view_make(memory, &constant, segment, view);
    if (!images_lease_path(workspace, segment, view))
        return rm_fail(error, RM_E_ARGUMENT, "%s: a path too long for the file of leases: at most %zu bytes",
                       rm_workspace_directory(workspace), sizeof view->lease_path - 1);
    return RM_OK;
}
