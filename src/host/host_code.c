// SPDX-License-Identifier: Apache-2.0
#include "host/host_code.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

enum {
    NUMBERS_MAX = 256, /**< settings, and readings */
    STREAMS_MAX = 64,
    STATE_BYTES_MAX = 1 << 30 /**< more than that is a mistake */
};

/** Folder of this program, with no slash at its end. */
static bool program_folder(char folder[PATH_MAX]) {
    ssize_t const length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length <= 0)
        return false;
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    return true;
}

static bool is_there(char path[PATH_MAX], char const *folder, char const *below, char const *name) {
    int const length = snprintf(path, PATH_MAX, "%s%s/%s.so", folder, below, name);
    return length > 0 && length < PATH_MAX && access(path, R_OK) == 0;
}

/** Path of the shared object of that name. */
static enum rm_code host_code_find_path(char const *name, char path[PATH_MAX], struct rm_error *error) {
    char const *libexec = getenv("RINGMASTER_LIBEXEC");
    if (libexec != NULL && is_there(path, libexec, "", name))
        return RM_OK;
    char folder[PATH_MAX];
    bool const known = program_folder(folder);
    if (known && (is_there(path, folder, "", name) || is_there(path, folder, "/../libexec/ringmaster", name)))
        return RM_OK;
    return rm_fail(error, RM_E_NOT_FOUND,
                   "no %s.so in %s, nor beside this program (%s), nor in ../libexec/ringmaster from there: build it, "
                   "or give the path of a shared object, with a slash in it",
                   name, libexec != NULL ? libexec : "$RINGMASTER_LIBEXEC (which is not set)", known ? folder : "?");
}

static bool good_name(char const *name) {
    static char const COMMANDS[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    return name != NULL && name[0] != '\0' && name[strspn(name, COMMANDS)] == '\0';
}

/** The i-th name over settings and readings, which share one folder of parameters. */
static char const *setting_name_of(struct rm_application_code const *code, uint32_t i) {
    return i < code->setting_count ? code->settings[i].name : code->readings[i - code->setting_count].name;
}

static enum rm_code check_names(struct rm_application_code const *code, struct rm_error *error) {
    uint32_t const count = code->setting_count + code->reading_count;
    for (uint32_t i = 0; i < count; ++i) {
        char const *name = setting_name_of(code, i);
        if (!good_name(name))
            return rm_fail(error, RM_E_CONFIG,
                           "the name \"%s\" of a setting or reading is not made of a-z, 0-9, _ and - alone",
                           name != NULL ? name : "");
        if (strcmp(name, "settings") == 0 || strcmp(name, "replies") == 0 || strcmp(name, "requests") == 0 ||
            strcmp(name, "withdrawn") == 0)
            return rm_fail(error, RM_E_CONFIG, "\"%s\" cannot be the name of a setting or reading: the host uses it",
                           name);
        for (uint32_t k = 0; k < i; ++k)
            if (strcmp(name, setting_name_of(code, k)) == 0)
                return rm_fail(error, RM_E_CONFIG, "two settings or readings are called \"%s\"", name);
    }
    return RM_OK;
}

static uint32_t lane_count(struct rm_application_stream const *stream) {
    uint32_t count = 0;
    while (count < RM_LANES && stream->lane[count].name != NULL)
        ++count;
    return count;
}

static enum rm_code check_streams(struct rm_application_code const *code, struct rm_error *error) {
    for (uint32_t i = 0; i < code->stream_count; ++i) {
        struct rm_application_stream const *stream = &code->streams[i];
        if (!good_name(stream->name))
            return rm_fail(error, RM_E_CONFIG, "the name \"%s\" of a stream is not made of a-z, 0-9, _ and - alone",
                           stream->name != NULL ? stream->name : "");
        if (lane_count(stream) == 0)
            return rm_fail(error, RM_E_CONFIG, "stream \"%s\" has no lane", stream->name);
        for (uint32_t k = 0; k < i; ++k)
            if (strcmp(stream->name, code->streams[k].name) == 0)
                return rm_fail(error, RM_E_CONFIG, "two streams are called \"%s\"", stream->name);
    }
    return RM_OK;
}

static enum rm_code check_rows(struct rm_application_code const *code, struct rm_error *error) {
    if (code->row_count > STREAMS_MAX || (code->row_count > 0 && (code->rows == NULL || code->shape == NULL)))
        return rm_fail(error, RM_E_CONFIG, "counts %u rows; there can be %d, in a list, with a `shape`",
                       code->row_count, STREAMS_MAX);
    for (uint32_t i = 0; i < code->row_count; ++i) {
        char const *const name = code->rows[i].name;
        if (!good_name(name))
            return rm_fail(error, RM_E_CONFIG, "the name \"%s\" of rows is not made of a-z, 0-9, _ and - alone",
                           name != NULL ? name : "");
        for (uint32_t k = 0; k < code->stream_count; ++k)
            if (strcmp(name, code->streams[k].name) == 0)
                return rm_fail(error, RM_E_CONFIG, "a stream and rows are called \"%s\"", name);
        for (uint32_t k = 0; k < i; ++k)
            if (strcmp(name, code->rows[k].name) == 0)
                return rm_fail(error, RM_E_CONFIG, "two rows are called \"%s\"", name);
    }
    return RM_OK;
}

/** The code must say how long they are. */
static enum rm_code check_arrays(struct rm_application_code const *code, struct rm_error *error) {
    for (uint32_t i = 0; code->length == NULL && i < code->setting_count + code->reading_count; ++i) {
        bool const is_array =
            i < code->setting_count ? code->settings[i].is_array : code->readings[i - code->setting_count].is_array;
        if (is_array)
            return rm_fail(error, RM_E_CONFIG, "\"%s\" is an array, and there is no `length` that says of how many",
                           setting_name_of(code, i));
    }
    return RM_OK;
}

/** Two zeros are what C leaves where no limits were written. */
static void leave_out(double *low, double *high) {
    if (*low != 0.0 || *high != 0.0)
        return;
    *low = NAN;
    *high = NAN;
}

static struct rm_limits limits_written(struct rm_limits limit) {
    leave_out(&limit.display_low, &limit.display_high);
    leave_out(&limit.control_low, &limit.control_high);
    leave_out(&limit.minor_low, &limit.minor_high);
    leave_out(&limit.major_low, &limit.major_high);
    return limit;
}

static enum rm_code take_limits(struct rm_host_code *loaded, struct rm_error *error) {
    struct rm_application_code const *code = loaded->it;
    loaded->limit = calloc(code->setting_count + 1ul, sizeof *loaded->limit);
    loaded->reading_limit = calloc(code->reading_count + 1ul, sizeof *loaded->reading_limit);
    if (loaded->limit == NULL || loaded->reading_limit == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u settings and %u readings", code->setting_count,
                       code->reading_count);
    for (uint32_t i = 0; i < code->setting_count; ++i)
        loaded->limit[i] = limits_written(code->settings[i].limits);
    for (uint32_t i = 0; i < code->reading_count; ++i)
        loaded->reading_limit[i] = limits_written(code->readings[i].limits);
    return RM_OK;
}

static enum rm_code check_settings(struct rm_host_code *loaded, struct rm_error *error) {
    struct rm_application_code const *code = loaded->it;
    enum rm_code const taken = take_limits(loaded, error);
    if (taken != RM_OK)
        return taken;
    for (uint32_t i = 0; i < code->setting_count; ++i) {
        struct rm_setting const *setting = &code->settings[i];
        struct rm_limits const *limit = &loaded->limit[i];
        if (!isfinite(setting->value) || setting->value < limit->control_low || setting->value > limit->control_high)
            return rm_fail(error, RM_E_CONFIG, "setting \"%s\": its first value %g is not within its limits %g … %g",
                           setting->name, setting->value, limit->control_low, limit->control_high);
        if (!setting->is_permission)
            continue;
        loaded->has_permissions = true;
        if (setting->is_array || setting->value != 0.0)
            return rm_fail(error, RM_E_CONFIG,
                           "setting \"%s\" is a permission: expected one number whose first value is 0, off",
                           setting->name);
    }
    return RM_OK;
}

static enum rm_code host_code_check_loaded(struct rm_host_code *loaded, struct rm_error *error) {
    struct rm_application_code const *code = loaded->it;
    if (code->abi_version != RM_ABI_VERSION)
        return rm_fail(error, RM_E_VERSION, "built for ABI version %u, this is %u: build it again", code->abi_version,
                       RM_ABI_VERSION);
    if (code->step == NULL)
        return rm_fail(error, RM_E_CONFIG, "has no step");
    if (code->takes_runs != 0 && code->arrive != NULL)
        return rm_fail(error, RM_E_CONFIG, "has `takes_runs` and `arrive`: there can be one of them");
    if (code->setting_count > NUMBERS_MAX || code->reading_count > NUMBERS_MAX)
        return rm_fail(error, RM_E_CONFIG, "has %u settings and %u readings; there can be %d of each",
                       code->setting_count, code->reading_count, NUMBERS_MAX);
    if ((code->setting_count > 0 && code->settings == NULL) || (code->reading_count > 0 && code->readings == NULL))
        return rm_fail(error, RM_E_CONFIG, "counts settings or readings that it has no list of");
    if (code->stream_count > STREAMS_MAX || (code->stream_count > 0 && code->streams == NULL))
        return rm_fail(error, RM_E_CONFIG, "counts %u streams; there can be %d, in a list", code->stream_count,
                       STREAMS_MAX);
    if (code->state_bytes > STATE_BYTES_MAX)
        return rm_fail(error, RM_E_CONFIG, "asks for a state of %zu bytes; there can be %d", code->state_bytes,
                       STATE_BYTES_MAX);
    enum rm_code checked = check_names(code, error);
    if (checked == RM_OK)
        checked = check_streams(code, error);
    if (checked == RM_OK)
        checked = check_rows(code, error);
    if (checked == RM_OK)
        checked = check_arrays(code, error);
    return checked == RM_OK ? check_settings(loaded, error) : checked;
}

enum rm_code rm_host_code_load(char const *code, struct rm_host_code *loaded, struct rm_error *error) {
    char path[PATH_MAX];
    *loaded = (struct rm_host_code){0};
    if (strchr(code, '/') != NULL) {
        snprintf(path, sizeof path, "%s", code);
    } else {
        enum rm_code const found = host_code_find_path(code, path, error);
        if (found != RM_OK)
            return found;
    }
    loaded->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (loaded->library == NULL)
        return rm_fail(error, RM_E_NOT_FOUND, "%s", dlerror());
    loaded->it = dlsym(loaded->library, RM_APPLICATION_SYMBOL);
    struct rm_error reason;
    enum rm_code const checked = loaded->it == NULL
                                     ? rm_fail(&reason, RM_E_CONFIG, "exports no \"%s\"", RM_APPLICATION_SYMBOL)
                                     : host_code_check_loaded(loaded, &reason);
    if (checked == RM_OK)
        return RM_OK;
    rm_host_code_unload(loaded);
    return rm_fail(error, checked, "%s: %s", path, reason.text);
}

void rm_host_code_unload(struct rm_host_code *loaded) {
    free(loaded->limit);
    free(loaded->reading_limit);
    if (loaded->library != NULL)
        dlclose(loaded->library);
    *loaded = (struct rm_host_code){0};
}
