// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: the first bytes throw the dice for a description, the rest are a payload. Aborts when two ways of
 * reading differ, when an empty datagram of the layout is not taken, or when a byte beyond the payload is read or
 * written (the address sanitizer's doing). */
#include <stdlib.h>
#include <string.h>

#include "wire/layout_parts.h"
#include "wire/test_layout_random.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

struct bytes {
    uint8_t const *next;
    uint8_t const *end;
};

static void require(bool held) {
    if (!held)
        abort();
}

static uint32_t below(void *from, uint32_t limit) {
    struct bytes *const bytes = from;
    uint32_t value = 0;
    for (int i = 0; i < 2 && bytes->next < bytes->end; ++i)
        value = value << 8 | *bytes->next++;
    return value % limit;
}

/** Turn and tag are the caller's. */
static void read_record(struct rm_layout const *layout, uint8_t const *payload, uint32_t index,
                        struct rm_sample *sample, struct rm_record *record) {
    rm_layout_read(layout, payload, index, sample, record);
    record->turn = record->tag = 7;
}

static void check_record(struct rm_layout *layout, uint8_t const *payload, uint32_t index) {
    struct rm_sample expected_sample, sample;
    struct rm_record expected, record;
    require(rm_layout_read_by(layout, RM_BY_BYTES));
    read_record(layout, payload, index, &expected_sample, &expected);
    for (enum rm_layout_way way = RM_BY_WORDS; way <= RM_BY_VECTOR; ++way) {
        if (!rm_layout_read_by(layout, way))
            continue;
        read_record(layout, payload, index, &sample, &record);
        require(sample.id == expected_sample.id && sample.status == expected_sample.status &&
                sample.counter == expected_sample.counter);
        require(memcmp(&record, &expected, sizeof record) == 0);
    }
}

/** Fields may overlap each other, so nothing written is sure to come back. */
static void check_written(struct rm_layout const *layout, uint8_t *payload, uint32_t length) {
    static union rm_lane const zeros[RM_LANES];
    uint32_t records;
    rm_layout_begin(layout, payload, length);
    require(rm_layout_check(layout, payload, length, &records) == RM_PORT_DECODED);
    for (uint32_t i = 0; i < records; ++i) {
        struct rm_sample const sample = {.id = i, .status = (uint16_t)i, .counter = i};
        rm_layout_write(layout, payload, i, &sample, zeros);
    }
}

static void check_payload(struct rm_layout *layout, uint8_t *payload, uint32_t length) {
    uint32_t records = 0;
    enum rm_port_counter const verdict = rm_layout_check(layout, payload, length, &records);
    if (verdict != RM_PORT_DECODED) {
        require(verdict == RM_PORT_TOO_SHORT || verdict == RM_PORT_TOO_LONG || verdict == RM_PORT_BAD_LENGTH ||
                verdict == RM_PORT_BAD_MAGIC);
        return;
    }
    require(records >= 1 && records <= RM_LAYOUT_RECORDS_MAX);
    for (uint32_t i = 0; i < records; ++i)
        check_record(layout, payload, i);
    check_written(layout, payload, length);
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct bytes bytes = {.next = data, .end = data + size};
    struct layout_dice const dice = {below, &bytes};
    struct rm_layout_description description;
    struct rm_layout *layout;
    random_description(&dice, &description);
    if (rm_layout_compile(&description, &layout, NULL) != RM_OK)
        return 0;
    /* A buffer that ends where the payload ends: what is there, and what the layout wants, with the right constants. */
    uint32_t const rest = (uint32_t)(bytes.end - bytes.next);
    uint32_t const lengths[] = {rest, layout->shape.shortest};
    for (int i = 0; i < 2; ++i) {
        uint8_t *const payload = malloc(lengths[i]);
        require(payload != NULL || lengths[i] == 0);
        if (i == 1)
            rm_layout_begin(layout, payload, lengths[i]);
        else if (rest != 0)
            memcpy(payload, bytes.next, rest);
        check_payload(layout, payload, lengths[i]);
        free(payload);
    }
    rm_layout_free(layout);
    return 0;
}
