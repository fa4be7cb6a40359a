// SPDX-License-Identifier: Apache-2.0
/** An owner of images with its writer, and readers of a workspace that has no server. */
#ifndef RM_FABRIC_TEST_IMAGES_STEPS_H
#define RM_FABRIC_TEST_IMAGES_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <ringmaster/workspace.h>

#include "fabric/images_writer.h"
#include "fabric/test_workspace.h"

enum {
    SLOTS = 8,
    LEASES = 3, // all that eight slots leave to readers: one reader holds two of them
    FRAME_BYTES = 5000,
    FRAGMENTS = 70,
    A_SECOND_NS = 1000000000,
};

struct images_test {
    char workspaces[PATH_MAX / 2];
    struct rm_owner *owner;
    rm_owner_index index;
    struct rm_images_writer *writer;
    struct rm_workspace *workspace;
    struct rm_images_view view;
};

static inline void images_owner_open(struct images_test *test, uint32_t leases) {
    struct rm_error error = {.text = ""};
    struct rm_images_plan const plan = {.name = "cam01",
                                        .description = "a camera",
                                        .slots = leases + RM_IMAGE_SLOTS_OWN,
                                        .leases = leases,
                                        .frame_bytes = FRAME_BYTES,
                                        .fragments_max = FRAGMENTS};
    assert_int_equal(rm_owner_new("demo", "cameras", &test->owner, &error), RM_OK);
    test->index = rm_owner_images(test->owner, &plan);
    if (rm_owner_open(test->owner, &error) != RM_OK ||
        rm_images_writer_new(test->owner, test->index, &test->writer, &error) != RM_OK)
        fail_msg("%s", error.text);
}

static inline void images_owner_close(struct images_test *test) {
    rm_images_writer_free(test->writer);
    rm_owner_close(test->owner);
    test->writer = NULL;
    test->owner = NULL;
}

static inline void images_attach(struct images_test *test) {
    struct rm_error error = {.text = ""};
    if (rm_workspace_attach("demo", RM_ATTACH_SERVERLESS, &test->workspace, &error) != RM_OK ||
        rm_workspace_images(test->workspace, "cam01", &test->view, &error) != RM_OK)
        fail_msg("%s", error.text);
}

static inline struct rm_images_reader *images_reader(struct images_test *test) {
    struct rm_error error = {.text = ""};
    struct rm_images_reader *reader = NULL;
    if (rm_images_reader_new(&test->view, &reader, &error) != RM_OK)
        fail_msg("%s", error.text);
    return reader;
}

static inline void images_detach(struct images_test *test) {
    rm_workspace_detach(test->workspace);
    test->workspace = NULL;
}

/** What byte `i` of a frame is. */
static inline uint8_t images_byte(uint64_t number, uint64_t i) { return (uint8_t)(number * 31 + i * 7 + (i >> 8)); }

/** Publishes a frame from an own slot. */
static inline uint64_t images_publish(struct images_test *test, uint32_t slot, uint64_t number) {
    struct rm_image_slot *image = rm_images_slot(test->writer, slot);
    uint8_t *bytes = rm_images_bytes(test->writer, slot);
    image->number = number;
    image->length = FRAME_BYTES;
    image->fragments = image->placed = FRAGMENTS;
    image->turn = RM_TURN_NONE;
    for (uint64_t i = 0; i < FRAME_BYTES; ++i)
        bytes[i] = images_byte(number, i);
    rm_images_map(test->writer, slot)[0] = number;
    return rm_images_publish(test->writer, slot);
}

/** Takes a slot back, and publishes from it. */
static inline void images_publish_next(struct images_test *test, uint64_t number) {
    uint32_t const slot = rm_images_reclaim(test->writer);
    assert_true(slot < test->view.slot_count);
    images_publish(test, slot, number);
}

static inline bool images_frame_good(struct rm_frame const *frame, uint64_t number) {
    bool good = frame->slot->number == number && frame->slot->length == FRAME_BYTES && frame->map[0] == number;
    for (uint64_t i = 0; good && i < FRAME_BYTES; ++i)
        good = frame->bytes[i] == images_byte(number, i);
    return good;
}

/** The reader's next frame lies ready, and is this one. */
static inline struct rm_frame images_expect(struct rm_images_reader *reader, uint64_t number, uint64_t passed_over) {
    struct rm_frame frame;
    assert_int_equal(rm_images_next(reader, 0, &frame), RM_FRAME_OK);
    assert_int_equal(frame.slot->number, number);
    assert_int_equal(frame.passed_over, passed_over);
    assert_true(images_frame_good(&frame, number));
    return frame;
}

static inline void images_expect_and_release(struct rm_images_reader *reader, uint64_t number, uint64_t passed_over) {
    struct rm_frame frame = images_expect(reader, number, passed_over);
    rm_images_release(reader, &frame);
}

#endif
