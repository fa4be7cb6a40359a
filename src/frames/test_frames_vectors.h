// SPDX-License-Identifier: Apache-2.0
/** For tests: blocks of vectors/gvsp.txt, resend.txt and images.txt. */
#ifndef RM_FRAMES_TEST_FRAMES_VECTORS_H
#define RM_FRAMES_TEST_FRAMES_VECTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTOR_LINE = 2048, VECTOR_PAYLOAD = 512, VECTOR_FIELDS = 24 };

struct frames_vector {
    char name[64], verdict[32];
    uint8_t payload[VECTOR_PAYLOAD];
    uint32_t length;
    struct {
        char key[32];
        uint64_t value;
        bool used;
    } field[VECTOR_FIELDS];
    uint32_t fields;
};

static inline void frames_vector_line(struct frames_vector *vector, char const *key, char *text) {
    if (strcmp(key, "name") == 0) {
        snprintf(vector->name, sizeof vector->name, "%.63s", text);
    } else if (strcmp(key, "verdict") == 0) {
        snprintf(vector->verdict, sizeof vector->verdict, "%.31s", text);
    } else if (strcmp(key, "payload") == 0) {
        char *end;
        for (unsigned long byte = strtoul(text, &end, 16); end != text; byte = strtoul(text, &end, 16)) {
            assert_true(byte <= 0xFF && vector->length < VECTOR_PAYLOAD);
            vector->payload[vector->length++] = (uint8_t)byte;
            text = end;
        }
    } else {
        assert_true(vector->fields < VECTOR_FIELDS);
        snprintf(vector->field[vector->fields].key, sizeof vector->field[0].key, "%.31s", key);
        vector->field[vector->fields++].value = strtoull(text, NULL, 0);
    }
}

/** Reads the next block; false at the end of the file. */
static inline bool frames_vector_read(FILE *file, struct frames_vector *vector) {
    char line[VECTOR_LINE];
    *vector = (struct frames_vector){0};
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' && vector->name[0])
            return true;
        if (line[0] == '\0' || line[0] == '#')
            continue;
        char *const space = strchr(line, ' ');
        assert_non_null(space);
        *space = '\0';
        frames_vector_line(vector, line, space + 1);
    }
    return vector->name[0] != '\0';
}

/** The value of a field, 0 where it is left out. */
static inline uint64_t frames_vector_field(struct frames_vector *vector, char const *key) {
    for (uint32_t i = 0; i < vector->fields; ++i)
        if (strcmp(vector->field[i].key, key) == 0) {
            vector->field[i].used = true;
            return vector->field[i].value;
        }
    return 0;
}

/** That a value is what the block says. */
static inline void frames_vector_is(struct frames_vector *vector, char const *key, uint64_t value) {
    uint64_t const wanted = frames_vector_field(vector, key);
    if (wanted != value)
        fail_msg("%s: %s is %#llx, expected %#llx", vector->name, key, (unsigned long long)value,
                 (unsigned long long)wanted);
}

/** That each of its fields was looked at. */
static inline void frames_vector_all_used(struct frames_vector const *vector) {
    for (uint32_t i = 0; i < vector->fields; ++i)
        if (!vector->field[i].used)
            fail_msg("%s: the test does not look at %s", vector->name, vector->field[i].key);
}

/** The geometry's fields. */
static inline void frames_vector_geometry(struct frames_vector *vector, struct rm_image_geometry const *geometry) {
    frames_vector_is(vector, "pixel_format", geometry->pixel_format);
    frames_vector_is(vector, "width", geometry->width);
    frames_vector_is(vector, "height", geometry->height);
    frames_vector_is(vector, "offset_x", geometry->offset_x);
    frames_vector_is(vector, "offset_y", geometry->offset_y);
    frames_vector_is(vector, "padding_x", geometry->padding_x);
    frames_vector_is(vector, "padding_y", geometry->padding_y);
}

#endif
