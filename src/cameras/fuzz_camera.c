// SPDX-License-Identifier: Apache-2.0
/** Any sequence of datagrams to a camera: no byte beyond a slot is written, endings add up, what is published is sound,
 * and what is asked for again is within its budget. Input: a byte that chooses format and policy, then datagrams, each behind its length in a byte; a length of 255
 * lets a deadline pass. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cameras/camera.h"

enum {
    FRAME_BYTES = 4096,
    SLOTS = 8,
    LEASES = 3,
    LONGEST = 254,
    DEADLINE_TICKS = 1000,
    /** Time passes between datagrams, so that some are asked for again. */
    STEP_TICKS = 64,
    RAW12 = 0x810C0100,
};

static void fuzz_must(bool good, char const *what) {
    if (good)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    static char folder[] = "/tmp/fuzz_camera.XXXXXX";
    (void)argc;
    (void)argv;
    fuzz_must(mkdtemp(folder) != NULL && setenv("RINGMASTER_WORKSPACES", folder, 1) == 0, "no folder");
    return 0;
}

static void fuzz_ask(struct rm_camera *camera, uint64_t tsc) {
    struct rm_gvcp_resend request[RM_RESEND_REQUESTS];
    uint32_t const count = rm_camera_ask(camera, tsc, request);
    fuzz_must(count <= RM_RESEND_REQUESTS, "more requests than there is room for");
    for (uint32_t i = 0; i < count; ++i)
        fuzz_must(request[i].request != 0 && request[i].first <= request[i].last, "a request that is none");
}

static void fuzz_datagrams(struct rm_camera *camera, uint8_t const *data, size_t size) {
    uint64_t tsc = 1;
    for (size_t at = 0; at < size;) {
        uint32_t const wanted = data[at++];
        tsc += 1 + wanted % STEP_TICKS;
        uint32_t const length = wanted < size - at ? wanted : (uint32_t)(size - at);
        if (wanted > LONGEST) {
            rm_camera_tend(camera, tsc += DEADLINE_TICKS);
            continue;
        }
        uint8_t *const exact = malloc(length > 0 ? length : 1); /* a byte beyond it is one too far */
        fuzz_must(exact != NULL, "no memory");
        memcpy(exact, data + at, length);
        rm_camera_take(camera, exact, length, 1 + (wanted == 7), tsc);
        free(exact);
        at += length;
        fuzz_ask(camera, tsc);
    }
    rm_camera_tend(camera, tsc + DEADLINE_TICKS);
    rm_camera_show(camera);
}

static void fuzz_check(struct rm_camera const *camera) {
    uint64_t endings = 0, frames = 0;
    for (uint32_t i = RM_CAMERA_PLACED; i <= RM_CAMERA_GATHERED; ++i)
        endings += rm_counter_get(camera->counters, i);
    fuzz_must(endings == rm_counter_get(camera->counters, RM_CAMERA_RECEIVED), "endings do not add up");
    for (uint32_t i = RM_CAMERA_WHOLE; i <= RM_CAMERA_DROPPED; ++i)
        frames += rm_counter_get(camera->counters, i);
    fuzz_must(frames == rm_counter_get(camera->counters, RM_CAMERA_BEGUN), "frames do not add up");
    for (uint32_t slot = 0; slot < SLOTS; ++slot) {
        struct rm_image_slot const *const image = rm_images_slot(camera->writer, slot);
        if (rm_images_is_own(camera->writer, slot))
            continue;
        fuzz_must(image->length <= FRAME_BYTES && image->placed <= image->fragments, "a frame that is not sound");
        fuzz_must(image->status != RM_IMAGE_WHOLE || image->placed == image->fragments, "whole without its fragments");
    }
    fuzz_must(camera->own_slots >= RM_CAMERA_OWN_SLOTS, "slots are missing");
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    if (size == 0)
        return 0;
    static enum rm_camera_format const formats[] = {RM_CAMERA_GVSP, RM_CAMERA_FRAGMENTS, RM_CAMERA_TECMP,
                                                    RM_CAMERA_CMP};
    struct rm_config_camera const config = {
        .name = "cam01",
        .format = formats[data[0] % 4],
        .incomplete = (enum rm_camera_incomplete)(data[0] / 4 % 3),
        .pixel_format = RAW12,
        .width = 8,
        .height = 5,
        .resend_percent = 50,
        .frame_bytes = FRAME_BYTES,
        .slots = SLOTS,
        .leases = LEASES,
        .deadline_ms = 1,
        .record_turns = 10,
    };
    struct rm_camera_clock clock;
    struct rm_camera camera = {.config = &config, .clock = &clock, .ticks_per_second = 1e3 * DEADLINE_TICKS};
    struct rm_owner *owner;
    struct rm_error error;
    rm_camera_clock_open(&clock);
    fuzz_must(rm_owner_new("fuzz", "cameras", &owner, &error) == RM_OK, "no owner");
    rm_camera_plan(&camera, owner);
    fuzz_must(rm_owner_open(owner, &error) == RM_OK && rm_camera_open(&camera, owner, &error) == RM_OK, error.text);
    fuzz_datagrams(&camera, data + 1, size - 1);
    fuzz_check(&camera);
    rm_camera_close(&camera);
    rm_owner_close(owner);
    rm_camera_clock_close(&clock);
    return 0;
}
