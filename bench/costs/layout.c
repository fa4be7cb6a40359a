// SPDX-License-Identifier: Apache-2.0
/** A described datagram beside a native one, from payload to record. A burst of datagrams of each format lies ready, as
 * in frames, and is read again and again: check, id and counter, record. What the receive role does between and after
 * these steps is left out, so the differences here are differences in nanoseconds of the whole role. */
#include "cost.h"
#include "wire/layout_parts.h"
#include "wire/native.h"

enum {
    DATAGRAMS = 20000,    /**< of a round: shorter than the slice of time that a busy machine gives */
    PAYLOADS = 64,        /**< of each format: a burst */
    SPACING_BYTES = 2944, /**< from one to the next: 46 cache lines, so that all sets of the cache are used */
    HEADER_BYTES = 42,    /**< Ethernet, IPv4, UDP: payloads stand as they do in a frame */
    LANES = 8,
    LIBERA_ENTRIES = 168,
    TURNS = 4,
    TURN_BYTES = 38, /**< where the vendor's last lane ends */
};

struct rm_layout_description const native_described = {
    .constant_count = 3,
    .constant = {{.at = 0, .type = RM_FIELD_U16, .value = RM_NATIVE_MAGIC},
                 {.at = 2, .type = RM_FIELD_U8, .value = RM_NATIVE_VERSION},
                 {.at = 3, .type = RM_FIELD_U8, .value = RM_KIND_BPM}},
    .instrument_count = 1,
    .turn_count = 1,
    .id = {.present = true, .in = RM_IN_TURN, .at = 4, .type = RM_FIELD_U16},
    .counter = {.present = true, .in = RM_IN_TURN, .at = 8, .type = RM_FIELD_U64},
    .status = {.present = true, .in = RM_IN_TURN, .at = 6, .type = RM_FIELD_U16},
    .lane_count = LANES,
    .lane = {{.at = 16, .type = RM_FIELD_I32},
             {.at = 20, .type = RM_FIELD_I32},
             {.at = 24, .type = RM_FIELD_I32},
             {.at = 28, .type = RM_FIELD_I32},
             {.at = 32, .type = RM_FIELD_I32},
             {.at = 36, .type = RM_FIELD_I32},
             {.at = 40, .type = RM_FIELD_I32},
             {.at = 44, .type = RM_FIELD_I32}},
};

/** Big-endian, one turn, every width. */
static struct rm_layout_description const vendor = {
    .byte_order = RM_BIG_ENDIAN,
    .constant_count = 1,
    .constant = {{.at = 0, .type = RM_FIELD_U32, .value = 0xCAFE0001}},
    .instrument_count = 1,
    .turn_count = 1,
    .id = {.present = true, .in = RM_IN_TURN, .at = 4, .type = RM_FIELD_U16, .shift = 4, .bits = 12},
    .counter = {.present = true, .in = RM_IN_TURN, .at = 8, .type = RM_FIELD_U32},
    .status = {.present = true, .in = RM_IN_TURN, .at = 6, .type = RM_FIELD_U16},
    .lane_count = LANES,
    .lane = {{.at = 12, .type = RM_FIELD_I24},
             {.at = 15, .type = RM_FIELD_I24},
             {.at = 18, .type = RM_FIELD_U32},
             {.at = 22, .type = RM_FIELD_I16},
             {.at = 24, .type = RM_FIELD_I24},
             {.at = 27, .type = RM_FIELD_I24},
             {.at = 30, .type = RM_FIELD_U32},
             {.at = 34, .type = RM_FIELD_F32}},
};

/** The same behind a header with id and counter, four turns per datagram. */
static struct rm_layout_description turns_of(struct rm_layout_description const *described) {
    struct rm_layout_description turns = *described;
    turns.id.in = turns.counter.in = turns.status.in = RM_IN_DATAGRAM;
    turns.turn_count = TURNS;
    turns.turn_stride = TURN_BYTES;
    return turns;
}

/** One thing to be measured: PAYLOADS datagrams of one format. */
struct subject {
    char const *name;
    struct rm_layout *layout; /**< NULL: native */
    uint8_t (*payload)[SPACING_BYTES];
    uint32_t length;
    uint32_t records;
};

static void layout_cost_expect(bool held, char const *what) {
    if (!held)
        bench_fail(what);
}

static uint8_t (*make_bench_payloads(void))[SPACING_BYTES] {
    size_t const bytes = (PAYLOADS + 1) * SPACING_BYTES;
    return (uint8_t(*)[SPACING_BYTES])((uint8_t *)bench_allocate(bytes) + HEADER_BYTES);
}

/** The compiler must believe that the record is used, and write it. */
static inline void use_record(struct rm_record *record) { __asm__ volatile("" : : "r"(record) : "memory"); }

static uint64_t read_native(struct subject const *subject, uint32_t datagrams) {
    uint64_t records = 0;
    for (uint32_t i = 0; i < datagrams; ++i) {
        struct rm_native native;
        struct rm_record record;
        if (rm_native_parse(subject->payload[i % PAYLOADS], subject->length, &native) != RM_PORT_DECODED)
            continue;
        rm_native_record(&native, native.turn + native.instrument, rm_tag_full_rate(i, native.status), &record);
        use_record(&record);
        ++records;
    }
    return records;
}

static uint64_t read_described(struct subject const *subject, uint32_t datagrams) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < datagrams; ++i) {
        uint8_t const *const payload = subject->payload[i % PAYLOADS];
        uint32_t records;
        if (rm_layout_check(subject->layout, payload, subject->length, &records) != RM_PORT_DECODED)
            continue;
        for (uint32_t index = 0; index < records; ++index) {
            struct rm_sample sample;
            struct rm_record record;
            rm_layout_read(subject->layout, payload, index, &sample, &record);
            record.turn = sample.counter + sample.id;
            record.tag = rm_tag_full_rate(i, sample.status);
            use_record(&record);
        }
        sum += records;
    }
    return sum;
}

static struct subject described_subject(char const *name, struct rm_layout_description const *description,
                                        enum rm_layout_way way, uint32_t instruments) {
    struct subject subject = {.name = name, .payload = make_bench_payloads()};
    struct rm_error error = {.text = ""};
    layout_cost_expect(rm_layout_compile(description, &subject.layout, &error) == RM_OK, error.text);
    layout_cost_expect(rm_layout_read_by(subject.layout, way), "this CPU has no AVX-512 VBMI");
    subject.length = rm_layout_payload_bytes(subject.layout, instruments);
    subject.records = instruments * description->turn_count;
    for (uint32_t i = 0; i < PAYLOADS; ++i) {
        rm_layout_begin(subject.layout, subject.payload[i], subject.length);
        for (uint32_t index = 0; index < subject.records; ++index) {
            struct rm_sample const sample = {.id = index, .status = 1, .counter = i};
            union rm_lane const lanes[RM_LANES] = {{.i = (int32_t)i}};
            rm_layout_write(subject.layout, subject.payload[i], index, &sample, lanes);
        }
    }
    return subject;
}

static struct subject native_subject(void) {
    struct subject subject = {.name = "native", .payload = make_bench_payloads(), .records = 1};
    for (uint32_t i = 0; i < PAYLOADS; ++i) {
        union rm_lane const lanes[LANES] = {{.i = (int32_t)i}};
        subject.length = rm_native_write(subject.payload[i], RM_KIND_BPM, 1, 0, i, lanes, LANES);
    }
    return subject;
}

static uint64_t read_datagrams(void *argument) {
    struct subject const *const subject = argument;
    uint32_t const datagrams = DATAGRAMS / subject->records;
    uint64_t const read =
        subject->layout == NULL ? read_native(subject, datagrams) : read_described(subject, datagrams);
    layout_cost_expect(read == (uint64_t)datagrams * subject->records, "a datagram was refused");
    return read;
}

static size_t layout_prepare(struct bench_case *cases) {
    struct rm_layout_description const *const libera = rm_layout_preset("libera_grouping");
    struct rm_layout_description const turns = turns_of(&vendor);
    struct subject const made[] = {
        native_subject(),
        described_subject("native, described", &native_described, RM_BY_VECTOR, 1),
        described_subject("big-endian vendor's", &vendor, RM_BY_VECTOR, 1),
        described_subject("big-endian vendor's, four turns", &turns, RM_BY_VECTOR, 1),
        described_subject("Libera Grouping, 168 entries", libera, RM_BY_VECTOR, LIBERA_ENTRIES),
        described_subject("native, described, by words", &native_described, RM_BY_WORDS, 1),
        described_subject("big-endian vendor's, by words", &vendor, RM_BY_WORDS, 1),
        described_subject("big-endian vendor's, four turns, by words", &turns, RM_BY_WORDS, 1),
        described_subject("Libera Grouping, 168 entries, by words", libera, RM_BY_WORDS, LIBERA_ENTRIES),
    };
    enum { COUNT = sizeof made / sizeof made[0] };
    static struct subject subjects[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        subjects[i] = made[i];
        cases[i] = (struct bench_case){made[i].name, read_datagrams, &subjects[i], i == 0 ? NULL : &cases[0], NULL};
    }
    return COUNT;
}

struct bench_cost const layout_cost = {.name = "layout",
                                       .about = "to read a described datagram, beside a native one",
                                       .rounds = 1001,
                                       .unit = "ns per record",
                                       .unit_ns = 1,
                                       .prepare = layout_prepare};
