// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"
#include "base/yaml.h"
#include "base/yaml_document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum colour { RED = 1, GREEN, BLUE };

struct item {
    enum colour colour;
    char *name;
    uint16_t id;
    int64_t *offset;
    bool *visible;
};

struct shop {
    double *rate;
    struct item *items;
    uint32_t items_count;
};

static cyaml_strval_t const colours[] = {{"red", RED}, {"green", GREEN}, {"blue", BLUE}};

static cyaml_schema_field_t const item_fields[] = {
    CYAML_FIELD_ENUM(RM_KEY("colour", ""), CYAML_FLAG_STRICT, struct item, colour, colours, CYAML_ARRAY_LEN(colours)),
    CYAML_FIELD_STRING_PTR(RM_KEY("name", ""), CYAML_FLAG_POINTER, struct item, name, 1, 8),
    CYAML_FIELD_UINT(RM_KEY("id", ""), CYAML_FLAG_DEFAULT, struct item, id),
    CYAML_FIELD_INT_PTR(RM_KEY("offset", ""), CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct item, offset),
    CYAML_FIELD_BOOL_PTR(RM_KEY("visible", ""), CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct item, visible),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const item_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct item, item_fields)};

static cyaml_schema_field_t const shop_fields[] = {
    CYAML_FIELD_FLOAT_PTR(RM_KEY("rate", ""), CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct shop, rate),
    CYAML_FIELD_SEQUENCE(RM_KEY("items", ""), CYAML_FLAG_POINTER, struct shop, items, &item_schema, 1, 3),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const shop_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct shop, shop_fields)};

/* A file of its own for every test, gone after it. */
struct file {
    char directory[32];
    char path[48];
};

static int make_file(void **state) {
    struct file *const file = calloc(1, sizeof *file);
    strcpy(file->directory, "/tmp/test_yaml.XXXXXX");
    assert_non_null(mkdtemp(file->directory));
    snprintf(file->path, sizeof file->path, "%s/f.yaml", file->directory);
    *state = file;
    return 0;
}

static int remove_file(void **state) {
    struct file *const file = *state;
    unlink(file->path);
    rmdir(file->directory);
    free(file);
    return 0;
}

static void write_bytes(struct file const *file, char const *text, size_t bytes) {
    FILE *const out = fopen(file->path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, bytes, out), bytes);
    assert_int_equal(fclose(out), 0);
}

static void write_text(struct file const *file, char const *text) { write_bytes(file, text, strlen(text)); }

static void loads_what_is_right(void **state) {
    struct file const *const file = *state;
    write_text(file, "rate: 1.157e6\n"
                     "items:\n"
                     "  - {colour: green, name: \"µ b\", id: 65535, offset: -9223372036854775808}\n"
                     "  - &again\n"
                     "    colour: blue\n"
                     "    name: 12\n"
                     "    id: 0x1F\n"
                     "    visible: false\n"
                     "  - *again\n");
    void *data = NULL;
    struct rm_error error = {.text = ""};
    enum rm_code const code = rm_yaml_load(file->path, &shop_schema, &data, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(code, RM_OK);
    struct shop const *const shop = data;
    assert_true(*shop->rate == 1157000.0);
    assert_int_equal(shop->items_count, 3);
    assert_int_equal(shop->items[0].colour, GREEN);
    assert_string_equal(shop->items[0].name, "µ b");
    assert_int_equal(shop->items[0].id, 65535);
    assert_true(*shop->items[0].offset == INT64_MIN);
    assert_null(shop->items[0].visible);
    assert_null(shop->items[1].offset);
    assert_string_equal(shop->items[2].name, "12");
    assert_int_equal(shop->items[2].id, 31);
    assert_false(*shop->items[2].visible);
    rm_yaml_free(&shop_schema, data);
    rm_yaml_free(&shop_schema, NULL);
}

static void expect_error(struct file const *file, enum rm_code expected_code, char const *expected_text) {
    void *data = NULL;
    struct rm_error error = {.text = ""};
    enum rm_code const code = rm_yaml_load(file->path, &shop_schema, &data, &error);
    char expected[RM_ERROR_TEXT_BYTES];
    snprintf(expected, sizeof expected, "%s:%s", file->path, expected_text);
    assert_string_equal(error.text, expected);
    assert_int_equal(code, expected_code);
    assert_int_equal(error.code, expected_code);
    assert_null(data);
    assert_int_equal(rm_yaml_load(file->path, &shop_schema, &data, NULL), expected_code);
}

static void names_place_and_expectation(void **state) {
    struct file const *const file = *state;
    static struct {
        char const *yaml;
        char const *error;
    } const bad[] = {
        /* keys */
        {"items:\n  - colour: red\n    nme: b\n    id: 1\n",
         "3:5: items[0]: unknown key \"nme\", expected one of: colour, name, id, offset, visible (did you mean "
         "\"name\"?)"},
        {"shelves: 3\n", "1:1: unknown key \"shelves\", expected one of: rate, items"},
        {"{[a]: 3}\n", "1:2: unknown key a list, expected one of: rate, items"},
        {"items:\n  - {colour: red, name: b, id: 1, name: c}\n",
         "2:35: items[0]: the key \"name\" is given twice, first in line 2"},
        {"rate: 3\n", "1:1: the key \"items\" is missing, expected a list of 1 to 3 entries"},
        {"items:\n  - {colour: red, name: b, id: 1}\n  - colour: red\n    name: b\n",
         "3:5: items[1]: the key \"id\" is missing, expected a whole number from 0 to 65535"},
        /* enumerations */
        {"items:\n  - colour: gren\n",
         "2:13: items[0].colour: found \"gren\", expected one of: red, green, blue (did you mean \"green\"?)"},
        {"items:\n  - colour: 1\n", "2:13: items[0].colour: found \"1\", expected one of: red, green, blue"},
        {"items:\n  - colour: [red]\n", "2:13: items[0].colour: found a list, expected one of: red, green, blue"},
        /* whole numbers */
        {"items: [{id: 65536}]\n", "1:14: items[0].id: found \"65536\", expected a whole number from 0 to 65535"},
        {"items: [{id: -1}]\n", "1:14: items[0].id: found \"-1\", expected a whole number from 0 to 65535"},
        {"items: [{id: 0x1g}]\n", "1:14: items[0].id: found \"0x1g\", expected a whole number from 0 to 65535"},
        {"items: [{id: 010}]\n", "1:14: items[0].id: found \"010\", expected a whole number from 0 to 65535: 010 has a "
                                 "leading zero, which YAML "
                                 "readers take for octal; write 10"},
        {"items: [{id: 08}]\n", "1:14: items[0].id: found \"08\", expected a whole number from 0 to 65535: 08 has a "
                                "leading zero, which YAML readers take for octal; write 8"},
        {"items: [{id: 00}]\n", "1:14: items[0].id: found \"00\", expected a whole number from 0 to 65535: 00 has a "
                                "leading zero, which YAML readers take for octal; write 0"},
        {"items: [{id: 1_000}]\n", "1:14: items[0].id: found \"1_000\", expected a whole number from 0 to 65535"},
        {"items: [{id: }]\n", "1:14: items[0].id: found nothing, expected a whole number from 0 to 65535"},
        {"items: [{id: {a: 1}}]\n", "1:14: items[0].id: found a mapping, expected a whole number from 0 to 65535"},
        {"items: [{id: 99999999999999999999}]\n",
         "1:14: items[0].id: found \"99999999999999999999\", expected a whole number from 0 to 65535"},
        {"items: [{offset: 9223372036854775808}]\n",
         "1:18: items[0].offset: found \"9223372036854775808\", expected a whole number from -9223372036854775808 to "
         "9223372036854775807"},
        /* numbers */
        {"rate: 3x\n", "1:7: rate: found \"3x\", expected a number"},
        {"rate: nan\n", "1:7: rate: found \"nan\", expected a number"},
        {"rate: 1e999\n", "1:7: rate: found \"1e999\", expected a number"},
        {"rate:\nitems: []\n", "1:6: rate: found nothing, expected a number"},
        /* truth */
        {"items: [{visible: maybe}]\n", "1:19: items[0].visible: found \"maybe\", expected true or false"},
        {"items: [{visible: yes}]\n", "1:19: items[0].visible: found \"yes\", expected true or false"},
        /* texts */
        {"items: [{name: }]\n", "1:16: items[0].name: found nothing, expected text of 1 to 8 bytes"},
        {"items: [{name: \"\"}]\n", "1:16: items[0].name: found \"\", expected text of 1 to 8 bytes"},
        {"items: [{name: ninebytes}]\n", "1:16: items[0].name: found \"ninebytes\", expected text of 1 to 8 bytes"},
        {"items: [{name: \"a\\0b\"}]\n", "1:16: items[0].name: found \"a?b\", expected text of 1 to 8 bytes"},
        {"items: [{name: \"a\\nb and a great deal more that nobody wants to read in a message\"}]\n",
         "1:16: items[0].name: found \"a?b and a great deal more that nobody wants to read in a m…\", expected text "
         "of 1 to 8 bytes"},
        /* lists and mappings */
        {"items: 3\n", "1:8: items: found \"3\", expected a list of 1 to 3 entries"},
        {"items: []\n", "1:8: items: found a list of 0, expected a list of 1 to 3 entries"},
        {"items: [{}, {}, {}, {}]\n", "1:8: items: found a list of 4, expected a list of 1 to 3 entries"},
        {"items:\n  - red\n",
         "2:5: items[0]: found \"red\", expected a mapping with the keys colour, name, id, offset, visible"},
        {"- a\n", "1:1: found a list, expected a mapping with the keys rate, items"},
        {"items: &a [*a]\n",
         "1:8: items[0]: found a list, expected a mapping with the keys colour, name, id, offset, visible"},
        /* no YAML */
        {"", "1:1: the file is empty, expected a YAML document"},
        {"# only a comment\n", "1:1: the file is empty, expected a YAML document"},
        {"rate: 3\n---\nrate: 4\n", "2:1: a second document begins here, expected only one per file"},
        {"rate: 3\nitems: [\n",
         "3:1: not YAML: did not find expected node content while parsing a flow node that began in line 3"},
        {"rate: 3\n\titems: 3\n",
         "2:1: not YAML: found a tab character that violates indentation while scanning a plain scalar that began in "
         "line 1"},
        {"rate: 3\n items: 3\n", "2:7: not YAML: mapping values are not allowed in this context"},
        {"rate: *fast\n", "1:7: not YAML: found undefined alias"},
        {"rate: 3\nit\xC3\xA4m\xFF: 3\n",
         "2:5: not YAML: invalid leading UTF-8 octet (byte 0xFF); expected UTF-8 text"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_text(file, bad[i].yaml);
        expect_error(file, RM_E_CONFIG, bad[i].error);
    }
}

static void a_file_that_cannot_be_read(void **state) {
    struct file const *const file = *state;
    expect_error(file, RM_E_SYSTEM, " cannot be opened: No such file or directory");
    assert_int_equal(mkdir(file->path, 0700), 0);
    expect_error(file, RM_E_SYSTEM, " cannot be read: Is a directory");
    assert_int_equal(rmdir(file->path), 0);
}

static void a_file_that_is_too_large(void **state) {
    struct file const *const file = *state;
    size_t const bytes = (1 << 20) + 1;
    char *const text = malloc(bytes);
    memset(text, '#', bytes);
    write_bytes(file, text, bytes);
    free(text);
    expect_error(file, RM_E_CONFIG, " is larger than a configuration may be (1048576 bytes)");
}

struct flags {
    enum colour set;
};

static cyaml_schema_field_t const flags_fields[] = {
    CYAML_FIELD_FLAGS(RM_KEY("set", ""), CYAML_FLAG_STRICT, struct flags, set, colours, CYAML_ARRAY_LEN(colours)),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const flags_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct flags, flags_fields)};

/* What the walk over the document does not know, libcyaml still refuses, and its own words arrive. */
static void passes_on_what_libcyaml_says(void **state) {
    struct file const *const file = *state;
    write_text(file, "set: [red, pink]\n");
    void *data = NULL;
    struct rm_error error = {.text = ""};
    assert_int_equal(rm_yaml_load(file->path, &flags_schema, &data, &error), RM_E_CONFIG);
    assert_null(data);
    assert_non_null(strstr(error.text, "f.yaml: Invalid value: Load: Unknown flag: pink"));
    assert_null(strchr(error.text, '\n'));
}

/** A text in no file is held against the schema as a file is. */
static void a_text_is_loaded_as_a_file_is(void **state) {
    (void)state;
    void *data = NULL;
    struct rm_error error;
    assert_int_equal(
        rm_yaml_parse("shop", "{items: [{colour: red, name: a, id: 3}], rate: 2}", &shop_schema, &data, &error), RM_OK);
    assert_int_equal(((struct shop *)data)->items[0].id, 3);
    rm_yaml_free(&shop_schema, data);
    assert_int_equal(rm_yaml_parse("shop", "{items: [{colour: pink, name: a, id: 3}]}", &shop_schema, &data, &error),
                     RM_E_CONFIG);
    assert_non_null(strstr(error.text, "shop:1:19: items[0].colour: found \"pink\", expected one of: red"));
    assert_int_equal(rm_yaml_parse("shop", "{items: [", &shop_schema, &data, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "shop:"));
    assert_non_null(strstr(error.text, "not YAML"));
}

/** Words are replaced in what is loaded and in the text, and places stay those of the file. */
static void words_of_a_document_are_replaced(void **state) {
    (void)state;
    struct rm_yaml_document document;
    struct rm_errors errors = {.count = 0};
    struct rm_error error;
    void *data = NULL;
    struct rm_yaml_word const words[] = {{"{name}", "ab"}, {"{n}", "7"}};
    assert_int_equal(rm_yaml_document_parse("shop",
                                            "{items: [{colour: red, name: \"{name}-{n}{\", id: \"{n}\"}], rate: 2}",
                                            &document, &error),
                     RM_OK);
    assert_int_equal(rm_yaml_document_replace(&document, words, 2, &error), RM_OK);
    assert_string_equal(document.text, "{items: [{colour: red, name: \"ab-7{\", id: \"7\"}], rate: 2}");
    assert_int_equal(rm_yaml_document_find(&document, "items[0].id")->start_mark.column, 48);
    assert_int_equal(rm_yaml_take(&document, &shop_schema, &data, &errors), RM_OK);
    assert_string_equal(((struct shop *)data)->items[0].name, "ab-7{");
    assert_int_equal(((struct shop *)data)->items[0].id, 7);
    rm_yaml_free(&shop_schema, data);
    rm_yaml_document_close(&document);
}

static void later_checks_find_their_place(void **state) {
    struct file const *const file = *state;
    write_text(file, "rate: 5\n"
                     "items:\n"
                     "  - {colour: red, name: b, id: 1}\n"
                     "  - colour: blue\n"
                     "    name: c\n"
                     "    id: 2\n");
    static struct {
        char const *key;
        char const *place;
    } const keys[] = {
        {"rate", "1:7"},           {"items", "3:3"},
        {"items[0].id", "3:32"},   {"items[1]", "4:5"},
        {"items[1].name", "5:11"}, {"items[1].offset", "4:5"},
        {"items[7].id", "3:3"},    {"rate.more", "1:7"},
        {"nowhere", "1:1"},        {"", "1:1"},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct rm_error error = {.text = ""};
        assert_int_equal(rm_yaml_fail(&error, file->path, keys[i].key, "is %d too many", 3), RM_E_CONFIG);
        char expected[RM_ERROR_TEXT_BYTES];
        snprintf(expected, sizeof expected, "%s:%s: %s%sis 3 too many", file->path, keys[i].place, keys[i].key,
                 *keys[i].key == '\0' ? "" : ": ");
        assert_string_equal(error.text, expected);
        assert_int_equal(error.code, RM_E_CONFIG);
    }
}

static void a_later_check_survives_its_file(void **state) {
    struct file const *const file = *state;
    struct rm_error error;
    assert_int_equal(rm_yaml_fail(&error, file->path, "rate", "is %s", "odd"), RM_E_CONFIG);
    char expected[RM_ERROR_TEXT_BYTES];
    snprintf(expected, sizeof expected, "%s: rate: is odd", file->path);
    assert_string_equal(error.text, expected);
}

static void measures_slips_of_the_hand(void **state) {
    (void)state;
    assert_int_equal(rm_edit_distance("socket", "socket"), 0);
    assert_int_equal(rm_edit_distance("socket", "sokcet"), 1);
    assert_int_equal(rm_edit_distance("socket", "scket"), 1);
    assert_int_equal(rm_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(rm_edit_distance("", "abc"), 3);
    struct rm_nearest nearest = {.wanted = "prot"};
    rm_nearest_offer(&nearest, "socket");
    assert_null(nearest.name);
    rm_nearest_offer(&nearest, "part");
    rm_nearest_offer(&nearest, "port");
    rm_nearest_offer(&nearest, "boot");
    assert_string_equal(nearest.name, "port");
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(loads_what_is_right, make_file, remove_file),
        cmocka_unit_test_setup_teardown(names_place_and_expectation, make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_read, make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_file_that_is_too_large, make_file, remove_file),
        cmocka_unit_test_setup_teardown(passes_on_what_libcyaml_says, make_file, remove_file),
        cmocka_unit_test_setup_teardown(later_checks_find_their_place, make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_later_check_survives_its_file, make_file, remove_file),
        cmocka_unit_test(measures_slips_of_the_hand),
        cmocka_unit_test(a_text_is_loaded_as_a_file_is),
        cmocka_unit_test(words_of_a_document_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
