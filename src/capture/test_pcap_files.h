// SPDX-License-Identifier: Apache-2.0
/** Capture files for tests, written byte by byte: nothing here shares a line with the library that reads them. */
#ifndef RM_CAPTURE_TEST_PCAP_FILES_H
#define RM_CAPTURE_TEST_PCAP_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    TEST_PCAP_MOST = 1 << 16,
    TEST_PCAP_ETHERNET = 1,
};

enum test_pcap_form { TEST_PCAP_US, TEST_PCAP_NS, TEST_PCAP_NG };

struct test_pcap {
    enum test_pcap_form form;
    bool big_endian;
    uint32_t length;
    uint8_t bytes[TEST_PCAP_MOST];
};

static inline void test_pcap_put(struct test_pcap *file, uint32_t value, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; ++i)
        file->bytes[file->length++] = (uint8_t)(value >> 8 * (file->big_endian ? bytes - 1 - i : i));
}

static inline void test_pcap_begin(struct test_pcap *file, uint32_t link_type) {
    file->length = 0;
    if (file->form == TEST_PCAP_NG) {
        uint32_t const words[] = {0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0xFFFFFFFF, 0xFFFFFFFF, 28};
        for (uint32_t i = 0; i < sizeof words / sizeof *words; ++i)
            if (i == 3) {
                test_pcap_put(file, 1, 2);
                test_pcap_put(file, 0, 2);
            } else {
                test_pcap_put(file, words[i], 4);
            }
        test_pcap_put(file, 1, 4); /* the interface, with stamps in ns */
        test_pcap_put(file, 32, 4);
        test_pcap_put(file, link_type, 2);
        test_pcap_put(file, 0, 2);
        test_pcap_put(file, 65535, 4);
        test_pcap_put(file, 9, 2); /* if_tsresol */
        test_pcap_put(file, 1, 2);
        file->bytes[file->length++] = 9;
        memset(file->bytes + file->length, 0, 7);
        file->length += 7;
        test_pcap_put(file, 32, 4);
        return;
    }
    test_pcap_put(file, file->form == TEST_PCAP_NS ? 0xA1B23C4D : 0xA1B2C3D4, 4);
    test_pcap_put(file, 2, 2);
    test_pcap_put(file, 4, 2);
    test_pcap_put(file, 0, 4);
    test_pcap_put(file, 0, 4);
    test_pcap_put(file, 65535, 4);
    test_pcap_put(file, link_type, 4);
}

/** A frame of `length` bytes, of which `captured` are in the file; all of them are `fill`. */
static inline void test_pcap_add(struct test_pcap *file, uint64_t at_ns, uint32_t length, uint32_t captured,
                                 uint8_t fill) {
    uint32_t const padding = file->form == TEST_PCAP_NG ? (4 - captured % 4) % 4 : 0;
    if (file->form == TEST_PCAP_NG) {
        test_pcap_put(file, 6, 4);
        test_pcap_put(file, 32 + captured + padding, 4);
        test_pcap_put(file, 0, 4);
        test_pcap_put(file, (uint32_t)(at_ns >> 32), 4);
        test_pcap_put(file, (uint32_t)at_ns, 4);
    } else {
        test_pcap_put(file, (uint32_t)(at_ns / 1000000000), 4);
        test_pcap_put(file, (uint32_t)(at_ns % 1000000000) / (file->form == TEST_PCAP_NS ? 1 : 1000), 4);
    }
    test_pcap_put(file, captured, 4);
    test_pcap_put(file, length, 4);
    memset(file->bytes + file->length, fill, captured + padding);
    file->length += captured + padding;
    if (file->form == TEST_PCAP_NG)
        test_pcap_put(file, 32 + captured + padding, 4);
}

static inline FILE *test_pcap_open(struct test_pcap *file) { return fmemopen(file->bytes, file->length, "rb"); }

/** Writes it to a file; false where that fails. */
static inline bool test_pcap_write(struct test_pcap const *file, char const *path) {
    FILE *const out = fopen(path, "wbe");
    if (out == NULL)
        return false;
    bool const whole = fwrite(file->bytes, 1, file->length, out) == file->length;
    return fclose(out) == 0 && whole;
}

#endif
