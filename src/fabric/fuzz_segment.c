// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: a sound segment, overwritten in places. Either rm_segment_fault objects, or everything in it can
 * be read without leaving it; the address sanitizer holds the latter.
 *
 * The input is a list of changes: three bytes for the place (modulo the length), one for how many bytes (1 to 8), then
 * those. The first two bytes cut the segment by so many bytes. */
#include <stdlib.h>
#include <string.h>

#include "fabric/segment_check.h"
#include "fabric/segment_objects.h"
#include "fabric/test_walk.h"
#include "fabric/test_workspace.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

/** A fresh segment in private memory. */
static struct rm_segment_header *make_sound(uint64_t *bytes) {
    struct test_plan test;
    test_plan_make(&test, TEST_CAPACITY);
    *bytes = rm_plan_layout(&test.plan);
    struct rm_segment_header *header = aligned_alloc(RM_PAGE_BYTES, *bytes);
    if (header == NULL)
        abort();
    memset(header, 0, *bytes);
    rm_objects_begin(header, &test.plan, "server", *bytes);
    rm_plan_free(&test.plan);
    return header;
}

static void change(uint8_t *memory, uint64_t bytes, uint8_t const *data, size_t size) {
    while (size >= 5) {
        uint64_t const place = (data[0] | (uint64_t)data[1] << 8 | (uint64_t)data[2] << 16) % bytes;
        uint64_t count = 1 + data[3] % 8;
        data += 4;
        size -= 4;
        count = count < size ? count : size;
        count = count < bytes - place ? count : bytes - place;
        memcpy(memory + place, data, count);
        data += count;
        size -= count;
    }
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    if (size < 2)
        return 0;
    uint64_t whole;
    struct rm_segment_header *sound = make_sound(&whole);
    uint64_t const bytes = whole - (data[0] | (uint64_t)data[1] << 8);
    void *copy = NULL;
    if (posix_memalign(&copy, RM_PAGE_BYTES, bytes) != 0)
        abort();
    struct rm_segment_header *header = copy;
    memcpy(header, sound, bytes);
    free(sound);
    change((uint8_t *)header, bytes, data + 2, size - 2);
    if (rm_segment_fault(header, bytes) == NULL) {
        uint8_t const *start = (uint8_t const *)header;
        struct rm_object const *object = (struct rm_object const *)(start + header->directory_offset);
        uint64_t sum = 0;
        for (uint32_t i = 0; i < header->object_count; ++i)
            sum += test_walk_object(&object[i], start + object[i].offset);
        if (sum == UINT64_MAX) // never; but the compiler must not leave the reading out
            abort();
    }
    free(header);
    return 0;
}
