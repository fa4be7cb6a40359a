// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include "base/fail.h"
#include "base/yaml.h"
#include "config/file.h"
#include "config/resolve.h"
#include "config/servers.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static double const LARGEST_TURN_RATE_HZ = 100e6;

static enum rm_code resolve_head(struct rm_config_file const *file, struct rm_config *config, struct rm_error *error) {
    if (!rm_config_name_is_good(file->workspace))
        return rm_config_fail(config, error, "workspace", "found \"%s\", " RM_CONFIG_NAME_RULE, file->workspace);
    strcpy(config->workspace, file->workspace);
    config->turn_rate_hz = *file->turn_rate_hz;
    if (config->turn_rate_hz <= 0 || config->turn_rate_hz > LARGEST_TURN_RATE_HZ)
        return rm_config_fail(config, error, "turn_rate_hz", "found %g Hz, expected more than 0, up to %g Hz",
                              config->turn_rate_hz, LARGEST_TURN_RATE_HZ);
    config->simulated_time = *file->simulated_time;
    config->keep_after_stop = *file->keep_after_stop;
    config->dpdk_telemetry = *file->dpdk_telemetry;
    return RM_OK;
}

static enum rm_code config_allocate(struct rm_config_file const *file, struct rm_config *config,
                                    struct rm_error *error) {
    config->port = calloc(file->ports_count, sizeof *config->port);
    config->role = calloc(file->roles_count + 2, sizeof *config->role); /* and perhaps housekeeping, exception path */
    if (config->port == NULL || config->role == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    return RM_OK;
}

/* A generator or a router needs no instruments. */
static bool has_traffic(struct rm_config_file const *file) {
    for (uint32_t i = 0; i < file->roles_count; i++)
        if (file->roles[i].role == RM_ROLE_GENERATE || file->roles[i].role == RM_ROLE_FORWARD)
            return true;
    return false;
}

/* A server without any may have chains that answer. */
static enum rm_code check_instruments(struct rm_config_file const *file, struct rm_config const *config,
                                      struct rm_error *error) {
    if (config->instrument_count != 0 || config->camera_count != 0 || has_traffic(file))
        return RM_OK;
    return rm_config_fail(config, error, "",
                          "the key \"instruments\" is missing, expected a list of those that send, \"chains\" of "
                          "supplies that answer, or a role that generates or forwards");
}

/** In simulated time cycles go out with the leader's setpoints, and at no other time. */
static enum rm_code check_simulated_time(struct rm_config const *config, struct rm_error *error) {
    if (!config->simulated_time || config->chain_count == 0 || config->setpoints.lead != 0)
        return RM_OK;
    return rm_config_fail(config, error, "simulated_time",
                          "found true without setpoints.lead, expected the application whose setpoints the virtual "
                          "ring waits for: setpoints: {lead: NAME}");
}

/* Setpoints, and the chains that they go to. */
static enum rm_code resolve_supplies(struct rm_config_file const *file, struct rm_config *config,
                                     bool senders_are_right, struct rm_error *error) {
    enum rm_code const code = rm_config_resolve_setpoints(file, config, error);
    return code == RM_OK && senders_are_right ? rm_config_resolve_chains(file, config, error) : code;
}

static enum rm_code resolve_senders(struct rm_config_file const *file, struct rm_config *config,
                                    struct rm_error *error) {
    enum rm_code code = rm_config_resolve_ports(file, config, error);
    enum rm_code const formats = rm_config_resolve_formats(file, config, error);
    code = rm_code_first(code, formats);
    if (formats != RM_OK)
        return code;
    code = rm_code_first(code, rm_config_resolve_cameras(file, config, error));
    return rm_code_first(code, rm_config_resolve_instruments(file, config, error));
}

/* What stands on parts that are wrong themselves is not judged: it would be refused for their sake. */
static enum rm_code resolve_machine(struct rm_config_file const *file, struct rm_config *config,
                                    struct rm_error *error) {
    enum rm_code code = config_allocate(file, config, error);
    if (code != RM_OK)
        return code;
    code = resolve_head(file, config, error);
    enum rm_code const senders = rm_code_first(code, resolve_senders(file, config, error));
    enum rm_code const sizes = rm_config_resolve_sizes(file, config, error);
    enum rm_code const rates = sizes == RM_OK ? rm_config_resolve_rates(file, config, error) : sizes;
    code = rm_code_first(rm_code_first(code, senders), rates);
    code = rm_code_first(code, rm_config_resolve_polling(file, config, error));
    code = rm_code_first(code, resolve_supplies(file, config, senders == RM_OK, error));
    code = rm_code_first(code, rm_config_resolve_standby(file, config, error));
    if (code == RM_OK)
        code = check_instruments(file, config, error);
    if (code == RM_OK)
        code = rm_config_resolve_claims(file, config, error);
    return code == RM_OK ? rm_config_claim_cameras(config, error) : code;
}

static enum rm_code resolve_server(struct rm_config_file const *file, struct rm_config *config,
                                   struct rm_error *error) {
    enum rm_code code = resolve_machine(file, config, error);
    if (code == RM_OK && file->roles_count == 0)
        code = rm_config_fail(
            config, error, "",
            "the key \"roles\" is missing, expected a list of what the server's cores do (a file for cameras "
            "alone is for `ringmaster cameras run`)");
    if (code == RM_OK)
        code = rm_config_resolve_applications(file, config, error);
    if (code == RM_OK)
        code = check_simulated_time(config, error);
    if (code == RM_OK)
        code = rm_config_resolve_roles(file, config, error);
    if (code == RM_OK)
        code = rm_config_resolve_spare_cores(file, config, error);
    if (code == RM_OK)
        code = rm_config_check_standby(file, config, error);
    if (code == RM_OK)
        code = rm_config_resolve_router(file, config, error);
    return rm_code_first(code, rm_config_resolve_calibration(file, config, error));
}

typedef enum rm_code resolver(struct rm_config_file const *file, struct rm_config *config, struct rm_error *error);

/** A file while it is read for one server. */
struct config_reading {
    struct rm_config_named named;
    struct rm_yaml_document document;
    resolver *resolve;
    struct rm_errors *errors;
};

static enum rm_code fail_reading(struct config_reading const *reading, enum rm_code code, char const *text) {
    struct rm_error error;
    rm_fail(&error, code, "%s%s", reading->named.file, text);
    rm_errors_add(reading->errors, &error);
    return code;
}

static enum rm_code resolve_file(struct config_reading const *reading, struct rm_config_file const *file, uint32_t own,
                                 struct rm_config **config) {
    struct rm_config *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return fail_reading(reading, RM_E_NO_SPACE, ": no memory to hold it");
    struct rm_error error;
    strcpy(made->source_path, reading->named.file);
    made->standby.own = own;
    made->text = rm_yaml_document_copy(&reading->document);
    made->errors = reading->errors;
    enum rm_code const code = made->text == NULL
                                  ? rm_fail(&error, RM_E_NO_SPACE, "%s: no memory to hold it", reading->named.file)
                                  : reading->resolve(file, made, &error);
    made->errors = NULL;
    if (code != RM_OK && reading->errors->count == 0)
        rm_errors_add(reading->errors, &error); /* what is not the file's fault */
    if (code == RM_OK)
        *config = made;
    else
        rm_config_free(made);
    return code;
}

static enum rm_code read_document(struct config_reading *reading, struct rm_config **config) {
    uint32_t own;
    void *file = NULL;
    enum rm_code code = rm_config_choose_server(&reading->document, &reading->named, &own, reading->errors);
    if (code == RM_OK)
        code = rm_yaml_take(&reading->document, &rm_config_schema, &file, reading->errors);
    if (code == RM_OK)
        code = resolve_file(reading, file, own, config);
    rm_yaml_free(&rm_config_schema, file);
    return code;
}

static enum rm_code load_named(struct rm_config_named const *named, resolver *resolve, struct rm_config **config,
                               struct rm_errors *errors) {
    struct config_reading reading = {.named = *named, .resolve = resolve, .errors = errors};
    struct rm_error error;
    enum rm_code code = rm_yaml_document_open(reading.named.file, &reading.document, &error);
    if (code != RM_OK) {
        rm_errors_add(errors, &error);
        return code;
    }
    code = read_document(&reading, config);
    rm_yaml_document_close(&reading.document);
    return code;
}

static enum rm_code read_named(char const *path, struct rm_config_named *named, struct rm_errors *errors) {
    struct rm_error error;
    if (rm_config_read_named(path, named))
        return RM_OK;
    enum rm_code const code =
        rm_fail(&error, RM_E_ARGUMENT, "the configuration's path is longer than %d bytes", RM_CONFIG_PATH_BYTES - 1);
    rm_errors_add(errors, &error);
    return code;
}

static enum rm_code config_load(char const *path, resolver *resolve, struct rm_config **config,
                                struct rm_errors *errors) {
    struct rm_config_named named;
    enum rm_code const code = read_named(path, &named, errors);
    return code == RM_OK ? load_named(&named, resolve, config, errors) : code;
}

/** True where the file is of two servers, none of which is named. A file that is wrong is told so when it is loaded. */
static bool is_pair(struct rm_config_named const *named, char name[RM_CONFIG_SERVERS][RM_CONFIG_NAME_BYTES]) {
    struct rm_yaml_document document;
    if (named->server[0] != '\0' || rm_yaml_document_open(named->file, &document, NULL) != RM_OK)
        return false;
    bool const both = rm_config_server_names(&document, name);
    rm_yaml_document_close(&document);
    return both;
}

static enum rm_code load_each(char const *path, resolver *resolve, struct rm_config *config[RM_CONFIG_SERVERS],
                              uint32_t *count, struct rm_errors *errors) {
    struct rm_config_named named;
    char name[RM_CONFIG_SERVERS][RM_CONFIG_NAME_BYTES];
    enum rm_code code = read_named(path, &named, errors);
    if (code != RM_OK)
        return code;
    bool const both = is_pair(&named, name);
    *count = both ? RM_CONFIG_SERVERS : 1;
    for (uint32_t s = 0; s < *count && code == RM_OK; s++) {
        if (both)
            strcpy(named.server, name[s]);
        code = load_named(&named, resolve, &config[s], errors);
        if (code != RM_OK && s != 0)
            rm_config_free(config[0]);
    }
    return code;
}

enum rm_code rm_config_load_all(char const *path, struct rm_config **config, struct rm_errors *errors) {
    return config_load(path, resolve_server, config, errors);
}

enum rm_code rm_config_load_machine(char const *path, struct rm_config **config, struct rm_errors *errors) {
    return config_load(path, resolve_machine, config, errors);
}

enum rm_code rm_config_load_each(char const *path, struct rm_config *config[RM_CONFIG_SERVERS], uint32_t *count,
                                 struct rm_errors *errors) {
    return load_each(path, resolve_server, config, count, errors);
}

enum rm_code rm_config_load_machines(char const *path, struct rm_config *config[RM_CONFIG_SERVERS], uint32_t *count,
                                     struct rm_errors *errors) {
    return load_each(path, resolve_machine, config, count, errors);
}

enum rm_code rm_config_load(char const *path, struct rm_config **config, struct rm_error *error) {
    struct rm_errors errors = {.count = 0};
    enum rm_code const code = rm_config_load_all(path, config, &errors);
    if (code != RM_OK && error != NULL)
        *error = errors.first[0];
    return code;
}

void rm_config_free(struct rm_config *config) {
    if (config == NULL)
        return;
    for (uint32_t i = 0; i < config->role_count; i++)
        free(config->role[i].queue);
    free(config->role);
    rm_config_free_router(config->router);
    for (uint32_t i = 0; i < config->format_count; i++)
        rm_format_free(&config->format[i]);
    free(config->format);
    for (uint32_t i = 0; i < config->application_count; i++) {
        free(config->application[i].input);
        free(config->application[i].supply);
        free(config->application[i].setting);
    }
    free(config->application);
    for (uint32_t i = 0; i < config->camera_count; i++)
        free(config->camera[i].feature);
    free(config->camera);
    free(config->supply);
    free(config->chain);
    free(config->instrument);
    free(config->port);
    free(config->text);
    free(config);
}

/* While the file is read its errors are collected; later the caller alone hears. */
__attribute__((format(printf, 4, 0))) static enum rm_code config_note_remark(struct rm_config const *config,
                                                                             struct rm_error *error, char const *key,
                                                                             char const *format, va_list arguments) {
    struct rm_error own;
    enum rm_code const code = rm_yaml_vfail(&own, config->source_path, key, format, arguments);
    if (config->errors != NULL)
        rm_errors_add(config->errors, &own);
    if (error != NULL)
        *error = own;
    return code;
}

enum rm_code rm_config_fail(struct rm_config const *config, struct rm_error *error, char const *key, char const *format,
                            ...) {
    va_list arguments;
    va_start(arguments, format);
    enum rm_code const code = config_note_remark(config, error, key, format, arguments);
    va_end(arguments);
    return code;
}

enum rm_code rm_config_fail_entry(struct rm_config const *config, struct rm_error *error, char const *list,
                                  uint32_t index, char const *member, char const *format, ...) {
    char key[96];
    snprintf(key, sizeof key, "%s[%u]%s%s", list, index, member == NULL ? "" : ".", member == NULL ? "" : member);
    va_list arguments;
    va_start(arguments, format);
    enum rm_code const code = config_note_remark(config, error, key, format, arguments);
    va_end(arguments);
    return code;
}
