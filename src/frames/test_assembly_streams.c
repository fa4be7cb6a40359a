// SPDX-License-Identifier: Apache-2.0
/** From datagrams of both formats to frames: two cameras interleaved, packets in random order and twice, chunks, leaders
 * and trailers that are missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/assembly.h"
#include "frames/fragment.h"
#include "frames/gvsp.h"

enum { WIDTH = 100, HEIGHT = 20, IMAGE_BYTES = WIDTH * HEIGHT * 3 / 2, EACH = 256, DATAGRAMS = 32, LONGEST = 400 };

static struct rm_image_geometry const geometry = {.pixel_format = 0x010C0047, .width = WIDTH, .height = HEIGHT};

/** What a camera sends for one frame. */
struct sent_frame {
    uint8_t datagram[DATAGRAMS][LONGEST];
    uint32_t length[DATAGRAMS];
    uint32_t count;
};

static uint8_t image_byte(uint64_t frame, uint64_t offset) { return (uint8_t)(frame * 13 + offset * 3 + offset / 256); }

static void send_bytes(struct sent_frame *sent, uint32_t header, uint64_t frame, uint64_t offset, uint32_t length) {
    for (uint32_t i = 0; i < length; ++i)
        sent->datagram[sent->count][header + i] = image_byte(frame, offset + i);
    sent->length[sent->count++] = header + length;
}

/** A leader, payload of `total` bytes, and a trailer. */
static void send_gvsp(struct sent_frame *sent, uint64_t frame, bool extended, uint16_t payload_type, uint32_t total) {
    struct rm_gvsp_packet packet = {.extended_ids = extended,
                                    .format = RM_GVSP_LEADER,
                                    .block = frame,
                                    .payload_type = payload_type,
                                    .time = frame,
                                    .geometry = geometry,
                                    .height = HEIGHT,
                                    .block_bytes = total};
    sent->count = 0;
    send_bytes(sent, rm_gvsp_write(sent->datagram[0], &packet), frame, 0, 0);
    packet.format = RM_GVSP_PAYLOAD;
    for (uint32_t offset = 0; offset < total; offset += EACH) {
        ++packet.packet;
        uint32_t const left = total - offset;
        send_bytes(sent, rm_gvsp_write(sent->datagram[sent->count], &packet), frame, offset, left < EACH ? left : EACH);
    }
    packet.format = RM_GVSP_TRAILER;
    ++packet.packet;
    send_bytes(sent, rm_gvsp_write(sent->datagram[sent->count], &packet), frame, 0, 0);
}

static void send_images(struct sent_frame *sent, uint64_t frame) {
    struct rm_image_datagram datagram = {
        .kind = RM_IMAGE_FRAGMENT,
        .fragment = {.frame = frame, .fragment_bytes = EACH, .total_bytes = IMAGE_BYTES, .geometry = geometry}};
    sent->count = 0;
    for (uint32_t offset = 0; offset < IMAGE_BYTES; offset += EACH) {
        uint32_t const left = IMAGE_BYTES - offset;
        datagram.fragment.offset = offset;
        datagram.fragment.length = left < EACH ? left : EACH;
        send_bytes(sent, rm_image_write(sent->datagram[sent->count], &datagram), frame, offset,
                   datagram.fragment.length);
    }
    datagram.kind = RM_IMAGE_CONFIGURATION;
    send_bytes(sent, rm_image_write(sent->datagram[sent->count], &datagram), frame, 0, 0);
}

static struct rm_assembly *stream_assembly(bool short_numbers) {
    struct rm_assembly_settings const settings = {.slots = 4,
                                                  .bytes_max = 2 * IMAGE_BYTES,
                                                  .fragments_max = DATAGRAMS,
                                                  .deadline_ticks = 1000,
                                                  .restart_ticks = 5000,
                                                  .later = 1,
                                                  .incomplete = RM_INCOMPLETE_DELIVER,
                                                  .streaming = true,
                                                  .short_numbers = short_numbers};
    struct rm_assembly *const made = rm_assembly_new(&settings);
    assert_non_null(made);
    return made;
}

static void receive(struct rm_assembly *assembly, struct sent_frame const *sent, uint32_t index, bool is_gvsp) {
    struct rm_image_datagram datagram;
    struct rm_gvsp_packet packet;
    struct rm_image_fragment fragment;
    if (is_gvsp) {
        assert_int_equal(rm_gvsp_parse(sent->datagram[index], sent->length[index], &packet), RM_GVSP_GOOD);
        assert_true(rm_gvsp_fragment(&packet, EACH, &fragment));
    } else {
        assert_int_equal(rm_image_parse(sent->datagram[index], sent->length[index], &datagram), RM_IMAGE_GOOD);
        fragment = datagram.fragment;
    }
    assert_true(rm_assembly_put(assembly, &fragment, 1) < RM_FRAGMENT_MISPLACED);
}

static void check_whole(struct rm_assembly *assembly, uint64_t frame, uint32_t total) {
    struct rm_image const *const image = rm_assembly_take(assembly);
    assert_non_null(image);
    assert_true(image->frame == frame && image->length == total && image->status == RM_IMAGE_WHOLE);
    assert_memory_equal(&image->geometry, &geometry, sizeof geometry);
    for (uint32_t i = 0; i < total; ++i)
        assert_int_equal(image->bytes[i], image_byte(frame, i));
    rm_assembly_release(assembly, image);
}

static void shuffle(uint32_t *order, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        order[i] = i;
    for (uint32_t i = count; i > 1; --i) {
        uint32_t const j = (uint32_t)random() % i, kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

static void two_cameras_interleave_in_any_order(void **state) {
    (void)state;
    static struct sent_frame gvsp, images;
    struct rm_assembly *const first = stream_assembly(true), *const second = stream_assembly(false);
    for (uint64_t frame = 1; frame <= 50; ++frame) {
        send_gvsp(&gvsp, frame, false, RM_GVSP_IMAGE, IMAGE_BYTES);
        send_images(&images, frame);
        uint32_t one[DATAGRAMS], other[DATAGRAMS];
        shuffle(one, gvsp.count);
        shuffle(other, images.count);
        for (uint32_t i = 0; i < DATAGRAMS; ++i) {
            for (int twice = 0; twice < 2; ++twice) {
                if (i < gvsp.count)
                    receive(first, &gvsp, one[i], true);
                if (i < images.count)
                    receive(second, &images, other[i], false);
            }
        }
        check_whole(first, frame, IMAGE_BYTES);
        check_whole(second, frame, IMAGE_BYTES);
    }
    rm_assembly_free(first);
    rm_assembly_free(second);
}

/** A trailer is not needed, but with chunks, where it alone has the total. */
static void leaders_and_trailers_may_be_missing(void **state) {
    (void)state;
    static struct sent_frame sent;
    struct rm_assembly *const assembly = stream_assembly(false);
    send_gvsp(&sent, 1, true, RM_GVSP_IMAGE, IMAGE_BYTES);
    for (uint32_t i = 0; i + 1 < sent.count; ++i)
        receive(assembly, &sent, i, true);
    check_whole(assembly, 1, IMAGE_BYTES);

    uint32_t const with_chunks = IMAGE_BYTES + 24;
    send_gvsp(&sent, 2, true, RM_GVSP_IMAGE | RM_GVSP_CHUNKS, with_chunks);
    for (uint32_t i = 0; i + 1 < sent.count; ++i)
        receive(assembly, &sent, i, true);
    assert_null(rm_assembly_take(assembly));
    receive(assembly, &sent, sent.count - 1, true);
    check_whole(assembly, 2, with_chunks);

    send_gvsp(&sent, 3, true, RM_GVSP_IMAGE, IMAGE_BYTES);
    for (uint32_t i = 1; i < sent.count; ++i)
        receive(assembly, &sent, i, true);
    rm_assembly_expire(assembly, 1001);
    struct rm_image const *const image = rm_assembly_take(assembly);
    assert_non_null(image);
    assert_true(image->status == RM_IMAGE_INCOMPLETE && !image->has_geometry && image->length == IMAGE_BYTES);
    assert_true(image->placed == image->fragments);
    rm_assembly_free(assembly);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(two_cameras_interleave_in_any_order),
        cmocka_unit_test(leaders_and_trailers_may_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
