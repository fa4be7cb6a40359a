// SPDX-License-Identifier: Apache-2.0
/** Frames of cameras in a workspace that has no server, published on request: the recorder's tests say how many, and know
 * every byte.
 *
 *     publish_images WORKSPACE CAMERA:FORMAT:WIDTHxHEIGHT …
 *
 * A line "INDEX COUNT" on standard input publishes so many frames of a camera, and "INDEX COUNT incomplete" those whose
 * last fragment did not come. A line "INDEX NUMBER", the newest frame's, answers it. Frame n, from 1 on, is of turn
 * 100 n. Byte i of it is 31 n + 17 INDEX + 7 i + i / 256, modulo 256, and 0 where a fragment is missing. It ends with
 * its input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timebase.h"
#include "fabric/images_writer.h"
#include "frames/pixels.h"

enum { CAMERAS_MAX = 16, SLOTS = 16, LEASES = 8, FRAGMENT_BYTES = 1000 };

struct camera {
    char name[32];
    uint32_t index, pixel_format, width, height, length, fragments;
    rm_owner_index object;
    struct rm_images_writer *writer;
    /** The newest frame's; and the slots that were never published. */
    uint64_t number;
    uint32_t unused;
};

static void publish_die(char const *what) {
    fprintf(stderr, "publish_images: %s\n", what);
    exit(EXIT_FAILURE);
}

static void camera_parse(struct camera *camera, uint32_t index, char const *words) {
    char format[32];
    if (sscanf(words, "%31[^:]:%31[^:]:%ux%u", camera->name, format, &camera->width, &camera->height) != 4)
        publish_die("expected CAMERA:FORMAT:WIDTHxHEIGHT");
    struct rm_pixel_format const *const known = rm_pixel_format_named(format);
    if (known == NULL)
        publish_die("the pixel format is not known");
    camera->index = index;
    camera->pixel_format = known->number;
    camera->length = rm_pixel_line_bytes(known->packing, camera->width) * camera->height;
    camera->fragments = (camera->length + FRAGMENT_BYTES - 1) / FRAGMENT_BYTES;
    camera->unused = SLOTS;
}

static void camera_fill(struct camera const *camera, uint32_t slot, bool incomplete) {
    uint8_t *const bytes = rm_images_bytes(camera->writer, slot);
    uint64_t *const map = rm_images_map(camera->writer, slot);
    uint32_t const placed = camera->fragments - incomplete;
    memset(map, 0, (camera->fragments + 63) / 64 * sizeof *map);
    for (uint32_t f = 0; f < placed; ++f)
        map[f / 64] |= 1ull << f % 64;
    for (uint32_t i = 0; i < camera->length; ++i)
        bytes[i] =
            i / FRAGMENT_BYTES < placed ? (uint8_t)(31 * camera->number + 17 * camera->index + 7 * i + i / 256) : 0;
}

static void camera_publish(struct camera *camera, bool incomplete) {
    uint32_t const slot = camera->unused > 0 ? --camera->unused : rm_images_reclaim(camera->writer);
    if (slot == SLOTS)
        publish_die("readers hold all slots");
    ++camera->number;
    camera_fill(camera, slot, incomplete);
    struct rm_image_slot *const image = rm_images_slot(camera->writer, slot);
    uint64_t const sequence = atomic_load_explicit(&image->sequence, memory_order_relaxed);
    *image = (struct rm_image_slot){
        .sequence = sequence,
        .number = camera->number,
        .device_time = 1000 * camera->number,
        .turn = 100 * camera->number,
        .first_tsc = rm_tsc(),
        .tai_ns = rm_tai_ns(),
        .length = camera->length,
        .pixel_format = camera->pixel_format,
        .width = camera->width,
        .height = camera->height,
        .status = incomplete ? RM_IMAGE_INCOMPLETE : RM_IMAGE_WHOLE,
        .flags = RM_IMAGE_HAS_GEOMETRY | RM_IMAGE_HAS_TURN,
        .fragment_bytes = FRAGMENT_BYTES,
        .fragments = camera->fragments,
        .placed = camera->fragments - incomplete,
    };
    image->last_tsc = image->closed_tsc = rm_tsc();
    rm_images_publish(camera->writer, slot);
}

int main(int argc, char **argv) {
    static struct camera camera[CAMERAS_MAX];
    struct rm_owner *owner = NULL;
    struct rm_error error = {.text = "no memory"};
    uint32_t const count = argc > 2 && argc - 2 <= CAMERAS_MAX ? (uint32_t)argc - 2 : 0;
    if (count == 0)
        publish_die("expected WORKSPACE CAMERA:FORMAT:WIDTHxHEIGHT …");
    if (rm_owner_new(argv[1], "cameras", &owner, &error) != RM_OK)
        publish_die(error.text);
    for (uint32_t i = 0; i < count; ++i) {
        camera_parse(&camera[i], i, argv[2 + i]);
        camera[i].object = rm_owner_images(owner, &(struct rm_images_plan){.name = camera[i].name,
                                                                           .description = "a camera of a test",
                                                                           .slots = SLOTS,
                                                                           .leases = LEASES,
                                                                           .frame_bytes = camera[i].length,
                                                                           .fragments_max = camera[i].fragments});
    }
    if (rm_owner_open(owner, &error) != RM_OK)
        publish_die(error.text);
    for (uint32_t i = 0; i < count; ++i)
        if (rm_images_writer_new(owner, camera[i].object, &camera[i].writer, &error) != RM_OK)
            publish_die(error.text);
    char line[128];
    for (unsigned index, frames; fgets(line, sizeof line, stdin) != NULL;) {
        if (sscanf(line, "%u %u", &index, &frames) != 2 || index >= count)
            publish_die("expected INDEX COUNT");
        for (unsigned i = 0; i < frames; ++i)
            camera_publish(&camera[index], strstr(line, "incomplete") != NULL);
        printf("%u %llu\n", index, (unsigned long long)camera[index].number);
        fflush(stdout);
    }
    for (uint32_t i = 0; i < count; ++i)
        rm_images_writer_free(camera[i].writer);
    rm_owner_close(owner);
    return EXIT_SUCCESS;
}
