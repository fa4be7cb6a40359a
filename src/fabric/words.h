// SPDX-License-Identifier: Apache-2.0
/** Bytes and texts in shared words that another process may change at any instant. */
#ifndef RM_FABRIC_WORDS_H
#define RM_FABRIC_WORDS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Copies `bytes` into words; what is left of the last one becomes zero. */
static inline void rm_words_put(_Atomic uint64_t *word, void const *data, size_t bytes) {
    for (size_t done = 0; done < bytes; done += sizeof(uint64_t)) {
        uint64_t value = 0;
        memcpy(&value, (uint8_t const *)data + done, bytes - done < sizeof value ? bytes - done : sizeof value);
        atomic_store_explicit(word++, value, memory_order_relaxed);
    }
}

/** Copies `bytes` out of words. */
static inline void rm_words_get(void *data, _Atomic uint64_t const *word, size_t bytes) {
    for (size_t done = 0; done < bytes; done += sizeof(uint64_t)) {
        uint64_t const value = atomic_load_explicit(word++, memory_order_relaxed);
        memcpy((uint8_t *)data + done, &value, bytes - done < sizeof value ? bytes - done : sizeof value);
    }
}

/** Writes a text into a field of `bytes` bytes: cut between two characters of UTF-8, with zeros behind. */
static inline void rm_words_put_text(_Atomic uint64_t *word, char const *text, size_t bytes) {
    size_t length = strnlen(text, bytes);
    if (length == bytes)
        for (--length; length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80;)
            --length;
    for (size_t done = 0; done < bytes; done += sizeof(uint64_t)) {
        uint64_t value = 0;
        size_t const left = done < length ? length - done : 0;
        memcpy(&value, text + (left ? done : 0), left < sizeof value ? left : sizeof value);
        atomic_store_explicit(word++, value, memory_order_relaxed);
    }
}

/** Reads a text out of a field, and terminates it whatever the field contains. */
static inline void rm_words_get_text(char *text, _Atomic uint64_t const *word, size_t bytes) {
    rm_words_get(text, word, bytes);
    text[bytes - 1] = '\0';
}

#endif
