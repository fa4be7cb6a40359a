// SPDX-License-Identifier: Apache-2.0
/** Segments that were cut or overwritten: attaching says so, or what it lets through can be read without a fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>

#include <ringmaster/workspace.h>

#include "fabric/test_walk.h"
#include "fabric/test_workspace.h"

enum { ROUNDS = 4000 };

struct test {
    char workspaces[PATH_MAX / 2];
    char path[PATH_MAX];
    uint8_t *sound; /**< the segment as its owner left it */
    uint64_t bytes;
    struct test_plan owner;
};

static int set_up(void **state) {
    struct test *test = calloc(1, sizeof *test);
    *state = test;
    struct rm_segment segment;
    if (test == NULL || !test_workspaces_make(test->workspaces, sizeof test->workspaces))
        return -1;
    test_plan_make(&test->owner, TEST_CAPACITY);
    if (rm_segment_open("demo", "server", &test->owner.plan, &segment, NULL) != RM_OK)
        return -1;
    rm_segment_finish(&segment);
    snprintf(test->path, sizeof test->path, "%s", segment.path);
    test->bytes = segment.header->segment_bytes;
    test->sound = malloc(test->bytes);
    if (test->sound == NULL)
        return -1;
    memcpy(test->sound, segment.header, test->bytes);
    rm_segment_close(&segment);
    return unlink(test->path); // on huge pages perhaps: the damaged ones shall be files that can be cut
}

static int tear_down(void **state) {
    struct test *test = *state;
    rm_plan_free(&test->owner.plan);
    test_workspaces_remove(test->workspaces);
    free(test->sound);
    free(test);
    return 0;
}

static void write_segment(struct test *test, uint8_t const *content, uint64_t bytes) {
    int const file = open(test->path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_int_equal(write(file, content, bytes), bytes);
    close(file);
}

/** True when attaching was allowed; then everything was read. */
static bool survives(uint64_t *sum) {
    struct rm_workspace *workspace;
    struct rm_error error = {.text = ""};
    if (rm_workspace_attach("demo", RM_ATTACH_DEAD, &workspace, &error) != RM_OK) {
        assert_true(error.code == RM_E_HALF_MADE || error.code == RM_E_VERSION);
        return false;
    }
    for (size_t i = 0; i < rm_workspace_object_count(workspace); ++i) {
        void const *memory;
        struct rm_object const *object = rm_workspace_object(workspace, i, &memory);
        *sum += test_walk_object(object, memory);
        struct rm_stream_view view;
        if (object->kind == RM_OBJECT_STREAM && strncmp(object->name, "stream/", 7) == 0 &&
            rm_workspace_stream(workspace, object->name + 7, &view, &error) == RM_OK)
            *sum += test_walk_stream(&view);
    }
    rm_workspace_detach(workspace);
    return true;
}

static void assert_damaged(struct test *test, char const *words) {
    struct rm_workspace *workspace;
    struct rm_error error = {.text = ""};
    write_segment(test, test->sound, test->bytes);
    assert_int_equal(rm_workspace_attach("demo", RM_ATTACH_DEAD, &workspace, &error), RM_E_HALF_MADE);
    if (strstr(error.text, "is damaged") == NULL || strstr(error.text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

/** Writes `value` to `*word`, sees the segment refused for it, and puts back what was there. */
#define ASSERT_REFUSED_WITH(word, value, words)                                                                        \
    do {                                                                                                               \
        __typeof__(word) const was = (word);                                                                           \
        (word) = (value);                                                                                              \
        assert_damaged(test, words);                                                                                   \
        (word) = was;                                                                                                  \
    } while (0)

static void test_header_and_directory(void **state) {
    struct test *test = *state;
    struct rm_segment_header *header = (struct rm_segment_header *)test->sound;
    struct rm_object *object = (struct rm_object *)(header + 1);
    ASSERT_REFUSED_WITH(header->segment_bytes, test->bytes + 1, "shorter than it says");
    ASSERT_REFUSED_WITH(header->directory_offset, test->bytes, "directory lies outside");
    ASSERT_REFUSED_WITH(header->directory_offset, UINT64_MAX - 63, "directory lies outside");
    ASSERT_REFUSED_WITH(header->directory_offset, 0, "directory lies outside");
    ASSERT_REFUSED_WITH(header->object_count, UINT32_MAX, "directory lies outside");
    ASSERT_REFUSED_WITH(header->object_bytes, 0, "directory lies outside");
    ASSERT_REFUSED_WITH(object->offset, test->bytes + RM_PAGE_BYTES, "object of its directory lies outside");
    ASSERT_REFUSED_WITH(object->offset, (uint64_t)0 - RM_PAGE_BYTES, "object of its directory lies outside");
    ASSERT_REFUSED_WITH(object->offset, object->offset + 8, "object of its directory lies outside");
    ASSERT_REFUSED_WITH(object->bytes, UINT64_MAX, "object of its directory lies outside");
    char name[RM_NAME_BYTES];
    memcpy(name, object->name, sizeof name);
    memset(object->name, 'n', sizeof name);
    assert_damaged(test, "has no end");
    memcpy(object->name, name, sizeof name);
}

static void test_objects(void **state) {
    struct test *test = *state;
    struct rm_object *object = (struct rm_object *)((struct rm_segment_header *)test->sound + 1);
    struct rm_stream *stream = (struct rm_stream *)(test->sound + object[test->owner.stream].offset);
    struct rm_parameter *parameter = (struct rm_parameter *)(test->sound + object[test->owner.parameter].offset);
    char const *words = "contradicts its place";
    ASSERT_REFUSED_WITH(stream->slots_offset, UINT64_MAX - 63, words);
    ASSERT_REFUSED_WITH(stream->slots_offset, 0, words);
    ASSERT_REFUSED_WITH(stream->slots_offset, stream->slots_offset + 8, words);
    ASSERT_REFUSED_WITH(stream->capacity, 0, words);
    ASSERT_REFUSED_WITH(stream->capacity, 1000, words);
    ASSERT_REFUSED_WITH(stream->capacity, 2 * TEST_CAPACITY, words);
    ASSERT_REFUSED_WITH(stream->capacity, 1ull << 63, words);
    ASSERT_REFUSED_WITH(stream->margin, TEST_CAPACITY, words);
    ASSERT_REFUSED_WITH(stream->period, 0, words);
    ASSERT_REFUSED_WITH(stream->lane_count, RM_LANES + 1, words);
    ASSERT_REFUSED_WITH(parameter->values_offset, UINT64_MAX - 7, words);
    ASSERT_REFUSED_WITH(parameter->values_offset, sizeof *parameter + 1, words);
    ASSERT_REFUSED_WITH(parameter->count, UINT64_MAX / 8 + 2, words);
    ASSERT_REFUSED_WITH(parameter->value_bytes, 1u << 20, words);
    ASSERT_REFUSED_WITH(object[test->owner.stream].bytes, sizeof *stream - 1, words);
    ASSERT_REFUSED_WITH(object[test->owner.parameter].bytes, 8, words);
    ASSERT_REFUSED_WITH(object[test->owner.parameter].element_type, 99, words);
    ASSERT_REFUSED_WITH(object[test->owner.counters].shape[0], 22, words);
    ASSERT_REFUSED_WITH(object[test->owner.clock].bytes, 64, words);
    ASSERT_REFUSED_WITH(object[test->owner.histogram].bytes, 64, words);
    ASSERT_REFUSED_WITH(object[test->owner.text].shape[0], 4096, words);
    uint64_t sum = 0;
    write_segment(test, test->sound, test->bytes);
    assert_true(survives(&sum)); // all was put back, so the refusals were for what they say
}

static void test_images(void **state) {
    struct test *test = *state;
    struct rm_object *object = (struct rm_object *)((struct rm_segment_header *)test->sound + 1);
    struct rm_images *images = (struct rm_images *)(test->sound + object[test->owner.images].offset);
    char const *words = "contradicts its place";
    ASSERT_REFUSED_WITH(images->slot_count, 0, words);
    ASSERT_REFUSED_WITH(images->slot_count, 7, words);
    ASSERT_REFUSED_WITH(images->slot_count, UINT32_MAX, words);
    ASSERT_REFUSED_WITH(images->lease_count, 65, words);
    ASSERT_REFUSED_WITH(images->slots_offset, 0, words);
    ASSERT_REFUSED_WITH(images->slots_offset, images->slots_offset + 8, words);
    ASSERT_REFUSED_WITH(images->slots_offset, UINT64_MAX - 63, words);
    ASSERT_REFUSED_WITH(images->maps_offset, UINT64_MAX - 63, words);
    ASSERT_REFUSED_WITH(images->maps_offset, images->maps_offset + 1, words);
    ASSERT_REFUSED_WITH(images->map_bytes, 0, words);
    ASSERT_REFUSED_WITH(images->map_bytes, UINT64_MAX - 7, words);
    ASSERT_REFUSED_WITH(images->bytes_offset, images->bytes_offset + RM_PAGE_BYTES, words);
    ASSERT_REFUSED_WITH(images->bytes_offset, images->bytes_offset + 64, words);
    ASSERT_REFUSED_WITH(images->frame_bytes, 0, words);
    ASSERT_REFUSED_WITH(images->frame_bytes, 1ull << 62, words);
    ASSERT_REFUSED_WITH(images->lease_base, UINT64_MAX, words);
    ASSERT_REFUSED_WITH(object[test->owner.images].bytes, sizeof *images - 1, words);
    ASSERT_REFUSED_WITH(object[test->owner.images].shape[0], 9, words);
    uint64_t sum = 0;
    write_segment(test, test->sound, test->bytes);
    assert_true(survives(&sum));
}

static void test_standby_and_state(void **state) {
    struct test *test = *state;
    struct rm_object *object = (struct rm_object *)((struct rm_segment_header *)test->sound + 1);
    struct rm_object *const own = &object[test->owner.state];
    struct rm_state *kept = (struct rm_state *)(test->sound + own->offset);
    char const *words = "contradicts its place";
    ASSERT_REFUSED_WITH(kept->bytes_offset, 0, words);
    ASSERT_REFUSED_WITH(kept->bytes_offset, UINT64_MAX - 63, words);
    ASSERT_REFUSED_WITH(kept->capacity, kept->capacity + 8, words);
    ASSERT_REFUSED_WITH(kept->capacity, UINT64_MAX - 7, words);
    ASSERT_REFUSED_WITH(own->bytes, sizeof *kept - 1, words);
    ASSERT_REFUSED_WITH(own->shape[0], 8, words);
    ASSERT_REFUSED_WITH(object[test->owner.standby_state].bytes, sizeof(struct rm_standby_state) - 1, words);
    ASSERT_REFUSED_WITH(object[test->owner.standby_orders].bytes, sizeof(struct rm_standby_orders) - 1, words);
    uint64_t sum = 0;
    write_segment(test, test->sound, test->bytes);
    assert_true(survives(&sum));
}

static void test_cut(void **state) {
    struct test *test = *state;
    uint64_t sum = 0;
    for (uint64_t bytes = 0; bytes < test->bytes; bytes += bytes < 300 ? 1 : 1021) {
        write_segment(test, test->sound, bytes);
        assert_false(survives(&sum));
    }
    write_segment(test, test->sound, test->bytes);
    assert_true(survives(&sum));
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/** Overwrites a word somewhere in the header, the directory or the head of an object. */
static void damage(struct test const *test, uint8_t *content, uint64_t *seed) {
    struct rm_object const *object = (struct rm_object const *)((struct rm_segment_header *)test->sound + 1);
    uint64_t const start = sizeof(uint64_t); // the magic stays: without it there is nothing to test
    uint64_t const which = next_random(seed) % (2 * test->owner.plan.count);
    uint64_t const random = next_random(seed);
    uint64_t const at = which < test->owner.plan.count
                            ? object[which].offset + random % (which == test->owner.stream ? 1024 : 256)
                            : start + random % (sizeof(struct rm_segment_header) + 6 * sizeof *object - start);
    uint64_t const values[] = {0, 1, UINT64_MAX, UINT32_MAX, 1ull << 63, test->bytes, 4096, next_random(seed)};
    uint64_t const value = values[next_random(seed) % 8];
    memcpy(content + at, &value, 1 + next_random(seed) % 8);
}

static void test_random_damage(void **state) {
    struct test *test = *state;
    uint64_t seed = 88172645463325252ull;
    uint64_t sum = 0;
    int survived = 0;
    uint8_t *content = malloc(test->bytes);
    assert_non_null(content);
    for (int round = 0; round < ROUNDS; ++round) {
        memcpy(content, test->sound, test->bytes);
        for (uint64_t i = 0; i < 2 + seed % 6; ++i)
            damage(test, content, &seed);
        write_segment(test, content, test->bytes);
        survived += survives(&sum);
    }
    free(content);
    print_message("%d of %d damaged segments could be read (%llu)\n", survived, ROUNDS, (unsigned long long)sum);
    assert_in_range(survived, ROUNDS / 20, ROUNDS * 19 / 20); // or the damage was of one kind only
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_header_and_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_images, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_standby_and_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_random_damage, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
