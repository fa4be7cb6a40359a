// SPDX-License-Identifier: Apache-2.0
/** Rings whose other end is hostile, or differs from ours: descriptors that lead astray, frames in pieces, indices that
 * jump. */
#include "net/memif_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    SLOTS_LOG2 = 7,
    SLOTS = 1 << SLOTS_LOG2,
    BUFFERS_AT = 4096,
    STRIDE = 256,
    LONGEST = 512,
    FRAME = 106,
    REGION_BYTES = BUFFERS_AT + SLOTS * STRIDE
};

/** Memory as a client makes it, with one ring to the server, which is ours. */
struct rig {
    struct rm_memif_ring ring;
    struct rm_memif_shared_ring *shared;
    struct rm_memif_regions regions;
    struct rm_burst burst;
};

static uint8_t *buffer(struct rig const *rig, uint32_t slot) {
    return rig->regions.region[0].base + BUFFERS_AT + (slot % SLOTS) * STRIDE;
}

static void begin(struct rig *rig, bool to_server) {
    memset(rig, 0, sizeof *rig);
    int const file = rm_memif_regions_make(&rig->regions, REGION_BYTES);
    assert_true(file >= 0);
    close(file);
    rig->shared = (struct rm_memif_shared_ring *)(void *)rig->regions.region[0].base;
    assert_true(rm_memif_ring_init(&rig->ring, LONGEST));
    struct rm_memif_place const place = {.shared = rig->shared, .slots = SLOTS, .to_server = to_server, .bell = -1};
    if (to_server)
        rm_memif_ring_attach_receive(&rig->ring, &rig->regions, &place);
    else
        rm_memif_ring_attach_send(&rig->ring, &rig->regions, &place);
}

static void end(struct rig *rig) {
    rm_memif_ring_free(&rig->ring);
    rm_memif_regions_unmap(&rig->regions);
}

static void describe(struct rig *rig, uint32_t slot, uint32_t flags, uint32_t region, uint32_t length,
                     uint32_t offset) {
    struct rm_memif_descriptor *const at = &rig->shared->slot[slot % SLOTS];
    atomic_store(&at->what, (uint64_t)length << 32 | region << 16 | flags);
    atomic_store(&at->where, offset);
}

/** A frame as it should be; its bytes are its slot's number. */
static void put(struct rig *rig, uint32_t slot) {
    memset(buffer(rig, slot), (int)slot, FRAME);
    describe(rig, slot, 0, 0, FRAME, BUFFERS_AT + (slot % SLOTS) * STRIDE);
}

static void show_head(struct rig *rig, uint32_t head) { atomic_store(&rig->shared->head, (uint16_t)head); }

static uint64_t errors(struct rig const *rig) { return atomic_load(&rig->ring.errors); }

static void frames_are_read_where_they_lie_and_given_back(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig, true);
    for (uint32_t slot = 0; slot < SLOTS; ++slot)
        put(&rig, slot);
    for (uint32_t first = 0; first < 70000; first += RM_BURST) { // more than an index of 16 bits counts
        show_head(&rig, first + RM_BURST);
        assert_int_equal(rm_memif_ring_receive(&rig.ring, &rig.burst), RM_BURST);
        for (uint32_t i = 0; i < RM_BURST; ++i) {
            assert_ptr_equal(rig.burst.data[i], buffer(&rig, first + i));
            assert_int_equal(rig.burst.length[i], FRAME);
            assert_null(rig.burst.handle[i]);
            assert_false(rig.burst.checksum_good[i]);
        }
        assert_int_equal(atomic_load(&rig.shared->tail), (uint16_t)first);
        rm_memif_ring_release(&rig.ring);
        assert_int_equal(atomic_load(&rig.shared->tail), (uint16_t)(first + RM_BURST));
        assert_int_equal(rm_memif_ring_receive(&rig.ring, &rig.burst), 0);
    }
    assert_int_equal(errors(&rig), 0);
    end(&rig);
}

/** What lies outside is skipped and counted; what lies between is shown. */
static void descriptors_that_lead_astray_are_counted(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig, true);
    struct {
        uint32_t region, length, offset;
    } const wrong[] = {{1, FRAME, BUFFERS_AT},      {UINT16_MAX, FRAME, 0},
                       {0, FRAME, REGION_BYTES},    {0, FRAME, REGION_BYTES - FRAME + 1},
                       {0, FRAME, UINT32_MAX},      {0, UINT32_MAX, 0},
                       {0, UINT32_MAX, UINT32_MAX}, {0, REGION_BYTES + 1, 0}};
    uint32_t const count = sizeof wrong / sizeof wrong[0];
    for (uint32_t i = 0; i < count; ++i) {
        describe(&rig, 2 * i, 0, wrong[i].region, wrong[i].length, wrong[i].offset);
        put(&rig, 2 * i + 1);
    }
    show_head(&rig, 2 * count);
    assert_int_equal(rm_memif_ring_receive(&rig.ring, &rig.burst), count);
    assert_int_equal(errors(&rig), count);
    for (uint32_t i = 0; i < count; ++i)
        assert_int_equal(rig.burst.data[i][0], 2 * i + 1);
    rm_memif_ring_release(&rig.ring);
    assert_int_equal(atomic_load(&rig.shared->tail), 2 * count);

    describe(&rig, 2 * count, 0, 0, FRAME, REGION_BYTES - FRAME); // to the last byte
    describe(&rig, 2 * count + 1, 0, 0, LONGEST + 1, BUFFERS_AT); // shown as far as frames go
    show_head(&rig, 2 * count + 2);
    assert_int_equal(rm_memif_ring_receive(&rig.ring, &rig.burst), 2);
    assert_int_equal(rig.burst.length[1], LONGEST);
    assert_int_equal(errors(&rig), count);
    end(&rig);
}

/** All of them wrong: nothing is shown, and the slots are lent until they are released all the same. */
static void a_ring_of_nonsense_is_emptied(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig, true);
    memset(rig.shared->slot, 0xFF, sizeof rig.shared->slot[0] * SLOTS); // an endless chain, too
    show_head(&rig, SLOTS);
    assert_int_equal(rm_memif_ring_receive(&rig.ring, &rig.burst), 0);
    rm_memif_ring_release(&rig.ring);
    assert_int_equal(atomic_load(&rig.shared->tail), SLOTS);
    assert_int_equal(errors(&rig), 1);
    end(&rig);
}

static void pieces_are_put_together_one_frame_a_burst(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig, true);
    for (uint32_t slot = 0; slot < 12; ++slot)
        put(&rig, slot);
    // A frame of 3 pieces, a whole one, one of 2, one whose second piece is wrong, one that does not end.
    uint32_t const goes_on[] = {0, 1, 4, 6, 8};
    for (uint32_t i = 0; i < sizeof goes_on / sizeof goes_on[0]; ++i)
        describe(&rig, goes_on[i], RM_MEMIF_NEXT, 0, FRAME, BUFFERS_AT + goes_on[i] * STRIDE);
    describe(&rig, 7, 0, 3, FRAME, BUFFERS_AT);
    show_head(&rig, 9);

    assert_int_equal(rm_memif_ring_receive(&rig.ring, &rig.burst), 2);
    assert_int_equal(rig.burst.length[0], 3 * FRAME);
    for (uint32_t at = 0; at < 3 * FRAME; ++at)
        assert_int_equal(rig.burst.data[0][at], at / FRAME);
    assert_int_equal(rig.burst.data[1][0], 3);
    rm_memif_ring_release(&rig.ring);
    assert_int_equal(atomic_load(&rig.shared->tail), 4);

    assert_int_equal(rm_memif_ring_receive(&rig.ring, &rig.burst), 1);
    assert_int_equal(rig.burst.length[0], 2 * FRAME);
    rm_memif_ring_release(&rig.ring);
    for (int poll = 0; poll < 2; ++poll) {
        assert_int_equal(rm_memif_ring_receive(&rig.ring, &rig.burst), 0);
        rm_memif_ring_release(&rig.ring);
    }
    assert_int_equal(errors(&rig), 2);
    assert_int_equal(atomic_load(&rig.shared->tail), 9);
    end(&rig);
}

static void pieces_beyond_the_longest_frame_are_left_out(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig, true);
    for (uint32_t slot = 0; slot < SLOTS; ++slot)
        describe(&rig, slot, slot + 1 < SLOTS ? RM_MEMIF_NEXT : 0, 0, REGION_BYTES, 0);
    show_head(&rig, SLOTS);
    assert_int_equal(rm_memif_ring_receive(&rig.ring, &rig.burst), 1);
    assert_int_equal(rig.burst.length[0], LONGEST);
    rm_memif_ring_release(&rig.ring);
    assert_int_equal(atomic_load(&rig.shared->tail), SLOTS);
    end(&rig);
}

static void an_index_that_jumps_is_an_error_and_no_end(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig, true);
    show_head(&rig, SLOTS + 1);
    assert_int_equal(rm_memif_ring_receive(&rig.ring, &rig.burst), 0);
    assert_int_equal(errors(&rig), 1);
    show_head(&rig, SLOTS); // backwards
    assert_int_equal(rm_memif_ring_discard(&rig.ring), 0);
    assert_int_equal(errors(&rig), 2);
    put(&rig, SLOTS);
    show_head(&rig, SLOTS + 1);
    assert_int_equal(rm_memif_ring_receive(&rig.ring, &rig.burst), 1);
    end(&rig);
}

static void offer_frame(struct rig *rig, uint32_t length) {
    static uint8_t frame[STRIDE];
    rig->burst.count = 1;
    rig->burst.data[0] = frame;
    rig->burst.length[0] = length;
}

/** Sending into buffers that a client names: none of them may lead outside. */
static void nothing_is_written_outside(void **state) {
    (void)state;
    struct rig rig;
    begin(&rig, false);
    offer_frame(&rig, FRAME);
    assert_int_equal(rm_memif_ring_send(&rig.ring, &rig.burst), 0); // no empty buffers yet
    describe(&rig, 0, 0, 0, STRIDE, REGION_BYTES - FRAME + 1);
    show_head(&rig, 1);
    assert_int_equal(rm_memif_ring_send(&rig.ring, &rig.burst), 1); // taken, and dropped
    describe(&rig, 0, 0, 2, STRIDE, 0);
    assert_int_equal(rm_memif_ring_send(&rig.ring, &rig.burst), 1);
    describe(&rig, 0, 0, 0, FRAME - 1, BUFFERS_AT); // too small
    assert_int_equal(rm_memif_ring_send(&rig.ring, &rig.burst), 1);
    assert_int_equal(atomic_load(&rig.ring.unsent), 3);
    assert_int_equal(atomic_load(&rig.shared->tail), 0);
    describe(&rig, 0, 0, 0, FRAME, BUFFERS_AT);
    assert_int_equal(rm_memif_ring_send(&rig.ring, &rig.burst), 1);
    assert_int_equal(atomic_load(&rig.shared->tail), 1);
    show_head(&rig, SLOTS + 2); // more empty buffers than there are
    assert_int_equal(rm_memif_ring_send(&rig.ring, &rig.burst), 0);
    assert_int_equal(errors(&rig), 1);
    end(&rig);
}

/** A file that can shrink would end its reader by SIGBUS. */
static void only_sealed_files_are_mapped(void **state) {
    (void)state;
    struct rm_memif_regions regions = {0};
    int const file = memfd_create("test", MFD_CLOEXEC);
    assert_int_equal(ftruncate(file, 8192), 0);
    assert_non_null(rm_memif_regions_map(&regions, file, 8192));
    close(file);
    struct rm_memif_regions own = {0};
    int const sealed = rm_memif_regions_make(&own, 8192);
    assert_non_null(rm_memif_regions_map(&regions, sealed, 8193));
    assert_non_null(rm_memif_regions_map(&regions, sealed, 0));
    assert_null(rm_memif_regions_map(&regions, sealed, 8192));
    own.region[0].base[8191] = 42;
    assert_int_equal(regions.region[0].base[8191], 42);
    assert_int_equal(regions.region[0].base[8191 + 65536], 0); // as far as a length may lead astray
    for (uint32_t i = 1; i < RM_MEMIF_REGIONS_MAX; ++i)
        assert_null(rm_memif_regions_map(&regions, sealed, 8192));
    assert_non_null(rm_memif_regions_map(&regions, sealed, 8192));
    close(sealed);
    rm_memif_regions_unmap(&regions);
    rm_memif_regions_unmap(&own);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(frames_are_read_where_they_lie_and_given_back),
        cmocka_unit_test(descriptors_that_lead_astray_are_counted),
        cmocka_unit_test(a_ring_of_nonsense_is_emptied),
        cmocka_unit_test(pieces_are_put_together_one_frame_a_burst),
        cmocka_unit_test(pieces_beyond_the_longest_frame_are_left_out),
        cmocka_unit_test(an_index_that_jumps_is_an_error_and_no_end),
        cmocka_unit_test(nothing_is_written_outside),
        cmocka_unit_test(only_sealed_files_are_mapped),
    };
    return cmocka_run_group_tests_name("memif rings", tests, NULL, NULL);
}
