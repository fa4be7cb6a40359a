// SPDX-License-Identifier: Apache-2.0
/** Frames of a camera are put together: 2.5 megapixels of 12 bits, 3 750 000 bytes, from packets of both formats that lie
 * in buffers, as a port has them; headers are written and read, bytes go to their place, the frame is taken and released. Beside it
 * a copy of the same bytes with streaming stores, from the same buffers to the same kind of memory, and nothing else.
 * Then a line of 2500 such pixels is unpacked to 16 bits. */
#include <string.h>

#include "base/large_pages.h"
#include "cost.h"
#include "frames/assembly.h"
#include "frames/fragment.h"
#include "frames/gvsp.h"
#include "frames/pixels.h"
#include "frames/stream_copy.h"

enum {
    WIDTH = 2500,
    HEIGHT = 1000,
    IMAGE_BYTES = WIDTH * HEIGHT * 3 / 2,
    SLOTS = 4,
    SLOT_BYTES = (IMAGE_BYTES + 63) / 64 * 64,
    BUFFERS = 512,
    BUFFER_BYTES = 9216,
    BURST = 32,
    LINES = 20000,
};

static struct rm_image_geometry const assembly_geometry = {
    .pixel_format = 0x010C0047, .width = WIDTH, .height = HEIGHT};

/** A stream: its packets pass through BUFFERS buffers in turn. */
struct assembly_subject {
    bool is_gvsp;
    uint32_t each;
    struct rm_assembly *assembly;
    rm_stream_copy *copy;
    uint8_t *buffer, *to;
    uint64_t frame;
    /** Frames that are held, so that each goes to another place than the one before. */
    struct rm_image const *lease[SLOTS - 1];
};

static void assembly_put_datagram(struct assembly_subject *subject, uint8_t const *payload, uint32_t length) {
    struct rm_gvsp_packet packet;
    struct rm_image_datagram datagram;
    struct rm_image_fragment fragment;
    if (subject->is_gvsp) {
        if (rm_gvsp_parse(payload, length, &packet) != RM_GVSP_GOOD ||
            !rm_gvsp_fragment(&packet, subject->each, &fragment))
            bench_fail("a packet was refused");
    } else {
        if (rm_image_parse(payload, length, &datagram) != RM_IMAGE_GOOD)
            bench_fail("a datagram was refused");
        fragment = datagram.fragment;
    }
    if (rm_assembly_put(subject->assembly, &fragment, subject->frame) > RM_FRAGMENT_INFORMED)
        bench_fail("a fragment was not placed");
}

static uint8_t *assembly_buffer(struct assembly_subject const *subject, uint32_t number) {
    return subject->buffer + (size_t)(number % BUFFERS) * BUFFER_BYTES;
}

/** Bytes of a packet of the frame: the first one has none. */
static uint32_t assembly_length(struct assembly_subject const *subject, uint32_t number) {
    if (number == 0)
        return 0;
    uint64_t const left = IMAGE_BYTES - (uint64_t)(number - 1) * subject->each;
    return left < subject->each ? (uint32_t)left : subject->each;
}

/** Writes a packet's header; returns its bytes. */
static uint32_t assembly_write(struct assembly_subject const *subject, uint32_t number) {
    uint32_t const length = assembly_length(subject, number);
    if (subject->is_gvsp)
        return rm_gvsp_write(assembly_buffer(subject, number),
                             &(struct rm_gvsp_packet){.extended_ids = true,
                                                      .format = length == 0 ? RM_GVSP_LEADER : RM_GVSP_PAYLOAD,
                                                      .block = subject->frame,
                                                      .packet = number,
                                                      .payload_type = RM_GVSP_IMAGE,
                                                      .geometry = assembly_geometry});
    struct rm_image_datagram const datagram = {
        .kind = length == 0 ? RM_IMAGE_CONFIGURATION : RM_IMAGE_FRAGMENT,
        .fragment = {.frame = subject->frame,
                     .offset = length == 0 ? 0 : (uint64_t)(number - 1) * subject->each,
                     .length = length,
                     .fragment_bytes = subject->each,
                     .total_bytes = IMAGE_BYTES,
                     .geometry = assembly_geometry},
    };
    return rm_image_write(assembly_buffer(subject, number), &datagram);
}

/** A burst's headers are written before the first one is read, as another core or a card writes them: one that was
 * written just before would hold up the read, which is wider than the stores. */
static void assembly_take_burst(struct assembly_subject *subject, uint32_t first, uint32_t end) {
    uint32_t header[BURST];
    for (uint32_t number = first; number < end; ++number)
        header[number - first] = assembly_write(subject, number);
    for (uint32_t number = first; number < end; ++number)
        assembly_put_datagram(subject, assembly_buffer(subject, number),
                              header[number - first] + assembly_length(subject, number));
}

/** One frame; the unit is a kilobyte of 1000 bytes. */
static uint64_t assembly_act(void *argument) {
    struct assembly_subject *const subject = argument;
    ++subject->frame;
    uint32_t const packets = 1 + (IMAGE_BYTES + subject->each - 1) / subject->each;
    for (uint32_t first = 0; first < packets; first += BURST)
        assembly_take_burst(subject, first, first + BURST < packets ? first + BURST : packets);
    struct rm_image const *const image = rm_assembly_take(subject->assembly);
    if (image == NULL || image->status != RM_IMAGE_WHOLE)
        bench_fail("a frame was not whole");
    struct rm_image const **const lease = &subject->lease[subject->frame % (SLOTS - 1)];
    if (*lease != NULL)
        rm_assembly_release(subject->assembly, *lease);
    *lease = image;
    return IMAGE_BYTES / 1000;
}

/** The same bytes, copied from the same buffers. */
static uint64_t assembly_copy(void *argument) {
    struct assembly_subject *const subject = argument;
    uint8_t *const to = subject->to + ++subject->frame % SLOTS * SLOT_BYTES;
    uint32_t number = 0;
    for (uint32_t offset = 0; offset < IMAGE_BYTES; offset += subject->each, ++number) {
        uint32_t const left = IMAGE_BYTES - offset;
        subject->copy(to + offset, subject->buffer + (size_t)(number % BUFFERS) * BUFFER_BYTES,
                      left < subject->each ? left : subject->each);
    }
    rm_stream_copy_end();
    return IMAGE_BYTES / 1000;
}

/** How a line is unpacked. */
struct unpack_subject {
    rm_unpack16 *unpack;
    uint8_t line[WIDTH * 3 / 2];
    uint16_t value[WIDTH];
};

static uint64_t unpack_act(void *argument) {
    struct unpack_subject *const subject = argument;
    for (uint32_t i = 0; i < LINES; ++i) {
        subject->unpack(RM_PACKING_12P, subject->line, WIDTH, subject->value);
        __asm__ volatile("" ::: "memory");
    }
    return (uint64_t)LINES * WIDTH / 1000;
}

static size_t assembly_prepare(struct bench_case *cases) {
    static struct assembly_subject subjects[] = {{.is_gvsp = true, .each = 1436},
                                                 {.is_gvsp = true, .each = 8936},
                                                 {.each = 1432},
                                                 {.each = 8932},
                                                 {.each = 1408},
                                                 {.each = 8896}};
    static char const *const names[] = {"GVSP, MTU 1500", "GVSP, MTU 9000",   "ours, MTU 1500",
                                        "ours, MTU 9000", "ours, 1408 bytes", "ours, 8896 bytes"};
    static char const *const unpack_names[] = {"12p to 16 bits, scalar", "12p, AVX2", "12p, AVX-512"};
    static struct unpack_subject unpacks[3];
    struct rm_assembly_settings const settings = {.slots = SLOTS,
                                                  .bytes_max = IMAGE_BYTES,
                                                  .fragments_max = 4096,
                                                  .deadline_ticks = UINT64_MAX / 4,
                                                  .restart_ticks = UINT64_MAX / 4,
                                                  .later = 1,
                                                  .streaming = true};
    uint8_t *const buffer = rm_large_pages_map((size_t)BUFFERS * BUFFER_BYTES);
    uint8_t *const to = rm_large_pages_map((size_t)SLOTS * SLOT_BYTES);
    if (buffer == NULL || to == NULL)
        bench_fail("no memory");
    memset(buffer, 0x5A, (size_t)BUFFERS * BUFFER_BYTES);
    memset(to, 0x5A, (size_t)SLOTS * SLOT_BYTES);
    size_t count = 0;
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; ++i) {
        subjects[i].assembly = rm_assembly_new(&settings);
        subjects[i].copy = rm_stream_copy_for(RM_SIMD_BEST);
        subjects[i].buffer = buffer;
        subjects[i].to = to;
        if (subjects[i].assembly == NULL)
            bench_fail("no memory");
        if (i < 2)
            cases[count++] = (struct bench_case){i == 0 ? "copied, 1436 bytes each" : "copied, 8936 bytes each",
                                                 assembly_copy, &subjects[i], NULL, NULL};
    }
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; ++i)
        cases[count++] = (struct bench_case){names[i], assembly_act, &subjects[i], &cases[i % 2], NULL};
    for (enum rm_simd simd = RM_SIMD_SCALAR; simd <= rm_simd_best(); ++simd) {
        struct unpack_subject *const subject = &unpacks[simd - RM_SIMD_SCALAR];
        subject->unpack = rm_unpackers_for(simd).to16;
        cases[count++] = (struct bench_case){unpack_names[simd - RM_SIMD_SCALAR], unpack_act, subject, NULL, NULL};
    }
    return count;
}

struct bench_cost const assembly_cost = {.name = "assembly",
                                         .about =
                                             "to put the frames of a camera together, beside a copy of their bytes",
                                         .rounds = 31,
                                         .unit = "ns per 1000 bytes, or pixels",
                                         .unit_ns = 1,
                                         .prepare = assembly_prepare};
