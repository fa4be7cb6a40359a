// SPDX-License-Identifier: Apache-2.0
/* What docs/instruments.md says is so: every example in it is loaded as part of a configuration, and every vector of
 * src/wire/vectors/layouts.txt is read with the format of that name. Arguments: those two files. */
#include "config/config.h"
#include "config/test_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 16384, /* a payload of 4096 bytes in hexadecimal, with room */
    YAML_BYTES = 16384,
    EXAMPLES_LEAST = 8,
    VECTORS_LEAST = 16,
    VECTORS_MAX = 64,
};

static char const *documentation;
static char const *vectors_path;

static char const HEAD[] = "workspace: documented\n"
                           "ports:\n"
                           "  - {name: ring, kind: memif, socket: /run/ring.sock}\n"
                           "  - {name: hall, kind: memif, socket: /run/hall.sock}\n";
static char const TAIL[] = "roles:\n  - {role: receive, ports: [ring, hall], core: @}\n";

/* Reads up to the end of the next YAML example that is part of a configuration, and puts the rest of one around it;
 * false at the end of the page. */
static bool next_example(FILE *page, char yaml[YAML_BYTES]) {
    char line[LINE_BYTES];
    bool inside = false;
    while (fgets(line, sizeof line, page) != NULL) {
        if (strcmp(line, "```yaml\n") == 0) {
            inside = true;
            strcpy(yaml, HEAD);
        } else if (inside && strcmp(line, "```\n") == 0) {
            strcat(yaml, TAIL);
            return true;
        } else if (inside) {
            assert_true(strlen(yaml) + strlen(line) + sizeof TAIL < YAML_BYTES);
            strcat(yaml, line);
        }
    }
    assert_false(inside);
    return false;
}

static struct rm_config *load(struct config_file const *file, char const *yaml) {
    struct rm_config *config = NULL;
    struct rm_error error;
    write_config(file, yaml);
    if (rm_config_load(file->path, &config, &error) != RM_OK)
        fail_msg("%s\n%s", error.text, yaml);
    return config;
}

static struct rm_layout *layout_in(struct rm_config const *config, char const *name) {
    for (uint32_t i = 0; i < config->format_count; i++)
        if (strcmp(config->format[i].name, name) == 0)
            return config->format[i].layout;
    return NULL;
}

static uint32_t read_hex(char const *text, uint8_t *bytes) {
    uint32_t count = 0;
    for (; isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1]); text += 2) {
        char const digits[3] = {text[0], text[1], '\0'};
        bytes[count++] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return count;
}

static enum rm_port_counter verdict_called(char const *name) {
    static struct {
        char const *name;
        enum rm_port_counter counter;
    } const verdicts[] = {{"decoded", RM_PORT_DECODED},
                          {"too_short", RM_PORT_TOO_SHORT},
                          {"too_long", RM_PORT_TOO_LONG},
                          {"bad_length", RM_PORT_BAD_LENGTH},
                          {"bad_magic", RM_PORT_BAD_MAGIC}};
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++)
        if (strcmp(verdicts[i].name, name) == 0)
            return verdicts[i].counter;
    fail_msg("unknown verdict %s", name);
    return RM_PORT_RECEIVED;
}

/* One block of the vectors, as far as it was read. */
struct vector {
    char name[64];
    struct rm_layout *layout; /* NULL: of a format that the example at hand does not have */
    enum rm_port_counter verdict;
    uint8_t payload[LINE_BYTES / 2];
    uint32_t records; /* that the payload holds */
    uint32_t seen;    /* records compared */
};

static void check_payload(struct vector *vector, char const *hex) {
    uint32_t const length = read_hex(hex, vector->payload);
    vector->records = vector->seen = 0;
    enum rm_port_counter const verdict = rm_layout_check(vector->layout, vector->payload, length, &vector->records);
    if (verdict != vector->verdict)
        fail_msg("%s: counted under port counter %d, expected %d", vector->name, verdict, vector->verdict);
    if (verdict != RM_PORT_DECODED)
        vector->records = 0;
}

static void check_record(struct vector *vector, char *text) {
    struct rm_sample sample;
    struct rm_record record;
    assert_true(vector->seen < vector->records);
    rm_layout_read(vector->layout, vector->payload, vector->seen++, &sample, &record);
    assert_int_equal(sample.id, strtoull(text, &text, 0));
    assert_int_equal(sample.status, strtoull(text, &text, 0));
    assert_true(sample.counter == strtoull(text, &text, 0));
    for (uint32_t lane = 0; lane < rm_layout_described(vector->layout)->lane_count; lane++)
        assert_int_equal(record.lane[lane].i, (int32_t)strtoll(text, &text, 0));
    assert_string_equal(text, "\n");
}

static void finish(struct vector const *vector) {
    if (vector->layout != NULL && vector->seen != vector->records)
        fail_msg("%s: %u records, expected %u", vector->name, vector->records, vector->seen);
}

/* Every vector of a format that this configuration has; notes them, and returns how many there are in all. */
static uint32_t check_vectors(struct rm_config const *config, bool read[VECTORS_MAX]) {
    FILE *const file = fopen(vectors_path, "r");
    assert_non_null(file);
    static char line[LINE_BYTES];
    static struct vector vector;
    char word[64];
    uint32_t count = 0;
    vector.layout = NULL;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "name %63s", word) == 1) {
            finish(&vector);
            strcpy(vector.name, word);
            assert_true(++count <= VECTORS_MAX);
        } else if (sscanf(line, "format %63s", word) == 1) {
            vector.layout = layout_in(config, word);
            read[count - 1] |= vector.layout != NULL;
        } else if (sscanf(line, "verdict %63s", word) == 1) {
            vector.verdict = verdict_called(word);
        } else if (vector.layout != NULL && strncmp(line, "payload", 7) == 0) {
            check_payload(&vector, line + strcspn(line, " \n") + 1);
        } else if (vector.layout != NULL && strncmp(line, "record ", 7) == 0) {
            check_record(&vector, line + 7);
        }
    }
    finish(&vector);
    fclose(file);
    return count;
}

/* The page has examples with one variant of Libera Grouping by its own name; here are both. */
static char const BOTH_LIBERAS[] =
    "instruments:\n"
    "  - {name: a, kind: bpm, id: 1, port: ring, source: 10.20.0.1, format: libera_grouping}\n"
    "  - {name: b, kind: bpm, id: 1, port: hall, source: 10.20.0.1, format: libera_grouping_counter_first}\n";

static uint32_t load_and_check(struct config_file const *file, char const *yaml, bool read[VECTORS_MAX]) {
    struct rm_config *const config = load(file, yaml);
    uint32_t const vectors = check_vectors(config, read);
    rm_config_free(config);
    return vectors;
}

static void examples_are_right(void **state) {
    FILE *const page = fopen(documentation, "r");
    assert_non_null(page);
    static char yaml[YAML_BYTES];
    bool read[VECTORS_MAX] = {false};
    uint32_t examples = 0;
    for (; next_example(page, yaml); examples++)
        load_and_check(*state, yaml, read);
    fclose(page);
    assert_true(examples >= EXAMPLES_LEAST);
    snprintf(yaml, sizeof yaml, "%s%s%s", HEAD, BOTH_LIBERAS, TAIL);
    uint32_t const vectors = load_and_check(*state, yaml, read);
    assert_true(vectors >= VECTORS_LEAST);
    for (uint32_t i = 0; i < vectors; i++)
        if (!read[i])
            fail_msg("vector %u is of a format that %s does not have", i + 1, documentation);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s instruments.md layouts.txt\n", argv[0]);
        return 2;
    }
    documentation = argv[1];
    vectors_path = argv[2];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(examples_are_right, make_config_file, remove_config_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
