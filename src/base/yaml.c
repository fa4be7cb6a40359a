// SPDX-License-Identifier: Apache-2.0
#include "base/yaml.h"

#include "base/fail.h"
#include "base/yaml_check.h"
#include "base/yaml_document.h"
#include "base/yaml_key.h"

#include <stdio.h>
#include <string.h>

/* What libcyaml logs, joined to one line. */
struct captured {
    char text[RM_ERROR_TEXT_BYTES];
};

static void yaml_capture_log(cyaml_log_t level, void *context, char const *format, va_list arguments) {
    (void)level;
    struct captured *const captured = context;
    size_t used = strlen(captured->text);
    vsnprintf(captured->text + used, sizeof captured->text - used, format, arguments);
    used = strlen(captured->text);
    if (used > 0 && captured->text[used - 1] == '\n')
        captured->text[used - 1] = ';';
}

static enum rm_code yaml_load_data(struct rm_yaml_document const *document, cyaml_schema_value_t const *schema,
                                   void **data, struct rm_error *error) {
    struct captured captured = {.text = ""};
    cyaml_config_t const config = {
        .log_fn = yaml_capture_log,
        .log_ctx = &captured,
        .mem_fn = cyaml_mem,
        .log_level = CYAML_LOG_ERROR,
        .flags = CYAML_CFG_DEFAULT,
    };
    *data = NULL;
    cyaml_err_t const result =
        cyaml_load_data((uint8_t const *)document->text, document->text_bytes, &config, schema, data, NULL);
    if (result == CYAML_OK && rm_yaml_fill(schema, *data, false))
        return RM_OK;
    if (result == CYAML_OK) {
        rm_yaml_free(schema, *data);
        *data = NULL;
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to read it", document->path);
    }
    enum rm_code const code = result == CYAML_ERR_OOM ? RM_E_NO_SPACE : RM_E_CONFIG;
    return rm_fail(error, code, "%s: %s: %s", document->path, cyaml_strerror(result), captured.text);
}

enum rm_code rm_yaml_take(struct rm_yaml_document const *document, cyaml_schema_value_t const *schema, void **data,
                          struct rm_errors *errors) {
    struct rm_error error;
    enum rm_code const checked = rm_yaml_check(document, schema, errors);
    enum rm_code const code = checked == RM_OK ? yaml_load_data(document, schema, data, &error) : checked;
    if (checked == RM_OK && code != RM_OK)
        rm_errors_add(errors, &error);
    return code;
}

enum rm_code rm_yaml_load_all(char const *path, cyaml_schema_value_t const *schema, void **data,
                              struct rm_errors *errors) {
    struct rm_yaml_document document;
    struct rm_error error;
    enum rm_code code = rm_yaml_document_open(path, &document, &error);
    if (code != RM_OK) {
        rm_errors_add(errors, &error);
        return code;
    }
    code = rm_yaml_take(&document, schema, data, errors);
    rm_yaml_document_close(&document);
    return code;
}

enum rm_code rm_yaml_parse(char const *name, char const *text, cyaml_schema_value_t const *schema, void **data,
                           struct rm_error *error) {
    struct rm_yaml_document document;
    struct rm_errors errors = {.count = 0};
    enum rm_code code = rm_yaml_document_parse(name, text, &document, error);
    if (code != RM_OK)
        return code;
    code = rm_yaml_take(&document, schema, data, &errors);
    rm_yaml_document_close(&document);
    if (code != RM_OK && error != NULL)
        *error = errors.first[0];
    return code;
}

enum rm_code rm_yaml_load_nothing(cyaml_schema_value_t const *schema, void **data, struct rm_errors *errors) {
    *data = cyaml_mem(NULL, NULL, schema->data_size);
    if (*data != NULL && rm_yaml_fill(schema, memset(*data, 0, schema->data_size), false))
        return RM_OK;
    rm_yaml_free(schema, *data);
    *data = NULL;
    struct rm_error error;
    enum rm_code const code = rm_fail(&error, RM_E_NO_SPACE, "no memory for what is not configured");
    rm_errors_add(errors, &error);
    return code;
}

enum rm_code rm_yaml_load(char const *path, cyaml_schema_value_t const *schema, void **data, struct rm_error *error) {
    struct rm_errors errors = {.count = 0};
    enum rm_code const code = rm_yaml_load_all(path, schema, data, &errors);
    if (code != RM_OK && error != NULL)
        *error = errors.first[0];
    return code;
}

void rm_yaml_free(cyaml_schema_value_t const *schema, void *data) {
    cyaml_config_t const config = {.mem_fn = cyaml_mem, .flags = CYAML_CFG_DEFAULT};
    cyaml_free(&config, schema, data, 0);
}

enum rm_code rm_yaml_vfail(struct rm_error *error, char const *path, char const *key, char const *format,
                           va_list arguments) {
    struct rm_yaml_document document;
    if (rm_yaml_document_open(path, &document, NULL) != RM_OK) {
        /* The file is gone or has changed since it was loaded: the message still says what was wrong. */
        char text[RM_ERROR_TEXT_BYTES];
        vsnprintf(text, sizeof text, format, arguments);
        return rm_fail(error, RM_E_CONFIG, "%s: %s: %s", path, key, text);
    }
    yaml_mark_t const mark = rm_yaml_document_find(&document, key)->start_mark;
    rm_yaml_document_close(&document);
    return rm_yaml_vfail_at(error, path, mark, key, format, arguments);
}

enum rm_code rm_yaml_fail(struct rm_error *error, char const *path, char const *key, char const *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    enum rm_code const code = rm_yaml_vfail(error, path, key, format, arguments);
    va_end(arguments);
    return code;
}
