// SPDX-License-Identifier: Apache-2.0
#include "format/format.h"

#include "base/fail.h"
#include "base/nearest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char const NATIVE[] = "native";
static uint16_t const LIBERA_UDP_PORT = 2048;

enum {
    PERIOD_TURNS_MAX = 65536,
    KEY_BYTES = 96, /**< "formats[14].layout.constants[7].value" with room */
};

static char const *const builtin_names[] = {NATIVE, "libera_grouping", "libera_grouping_counter_first"};
enum { BUILTINS = sizeof builtin_names / sizeof builtin_names[0] };

/** One entry of the list, and where it stands. */
struct format_entry {
    struct rm_file_format const *written;
    char const *path;
    uint32_t index;
};

__attribute__((format(printf, 4, 5))) static enum rm_code
fail_format_entry(struct format_entry const *entry, struct rm_error *error, char const *member, char const *text, ...) {
    char key[KEY_BYTES];
    snprintf(key, sizeof key, "formats[%u]%s%s", entry->index, *member == '\0' ? "" : ".", member);
    va_list arguments;
    va_start(arguments, text);
    enum rm_code const code = rm_yaml_vfail(error, entry->path, key, text, arguments);
    va_end(arguments);
    return code;
}

static bool name_is_good(char const *name) {
    return *name != '\0' && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-")] == '\0';
}

static bool is_builtin(char const *name) {
    for (int i = 0; i < BUILTINS; ++i)
        if (strcmp(builtin_names[i], name) == 0)
            return true;
    return false;
}

static enum rm_code check_format_name(struct format_entry const *entry, struct rm_error *error) {
    char const *const name = entry->written->name;
    if (!name_is_good(name))
        return fail_format_entry(entry, error, "name", "found \"%s\", expected lower-case letters, digits, _ and -",
                                 name);
    if (is_builtin(name))
        return fail_format_entry(entry, error, "name", "\"%s\" needs no description, expected another name", name);
    return RM_OK;
}

static enum rm_code check_lane_names(struct format_entry const *entry, struct rm_error *error) {
    struct rm_file_layout const *const layout = entry->written->layout;
    for (uint32_t i = 0; i < layout->lanes_count; ++i) {
        char member[KEY_BYTES / 2];
        char const *const name = layout->lanes[i].name;
        snprintf(member, sizeof member, "layout.lanes[%u].name", i);
        if (!name_is_good(name))
            return fail_format_entry(entry, error, member, "found \"%s\", expected lower-case letters, digits, _ and -",
                                     name);
        for (uint32_t j = 0; j < i; ++j)
            if (strcmp(layout->lanes[j].name, name) == 0)
                return fail_format_entry(entry, error, member,
                                         "found \"%s\", expected a name that no lane before it has", name);
    }
    return RM_OK;
}

static uint32_t or_else(uint32_t const *written, uint32_t otherwise) { return written == NULL ? otherwise : *written; }

static struct rm_layout_field describe_field(struct rm_file_field const *written) {
    if (written == NULL)
        return (struct rm_layout_field){.present = false};
    return (struct rm_layout_field){
        .present = true,
        .in = *written->in,
        .at = written->at,
        .type = written->type,
        .shift = *written->shift,
        .bits = or_else(written->bits, 0),
    };
}

static void describe_lists(struct rm_file_layout const *written, struct rm_layout_description *description) {
    description->constant_count = written->constants_count;
    for (uint32_t i = 0; i < written->constants_count; ++i) {
        struct rm_file_constant const *const constant = &written->constants[i];
        description->constant[i] =
            (struct rm_layout_constant){.at = constant->at, .type = constant->type, .value = constant->value};
    }
    description->lane_count = written->lanes_count;
    for (uint32_t i = 0; i < written->lanes_count; ++i) {
        struct rm_layout_lane *const lane = &description->lane[i];
        lane->at = written->lanes[i].at;
        lane->type = written->lanes[i].type;
        strcpy(lane->name, written->lanes[i].name);
        strcpy(lane->unit, written->lanes[i].unit);
    }
}

static void describe_file_layout(struct rm_file_layout const *written, struct rm_layout_description *description) {
    *description = (struct rm_layout_description){
        .byte_order = *written->byte_order,
        .bytes = or_else(written->bytes, 0),
        .instrument_count = 1,
        .turn_count = 1,
        .id = describe_field(written->id),
        .counter = describe_field(&written->counter),
        .status = describe_field(written->status),
    };
    if (written->instruments != NULL) {
        description->instrument_count = or_else(written->instruments->count, 0);
        description->instrument_at = written->instruments->at;
        description->instrument_stride = written->instruments->stride;
    }
    if (written->turns != NULL) {
        description->turn_count = or_else(written->turns->count, 0);
        description->turn_at = written->turns->at;
        description->turn_stride = written->turns->stride;
    }
    describe_lists(written, description);
}

/** What a description's numbers cannot say: where 0 means "absent" it may not have been written. */
static enum rm_code check_written(struct format_entry const *entry, struct rm_error *error) {
    struct rm_file_layout const *const layout = entry->written->layout;
    if (layout->instruments != NULL && layout->instruments->count != NULL && *layout->instruments->count == 0)
        return fail_format_entry(entry, error, "layout.instruments.count",
                                 "found 0, expected 1 to %d, or no count for as many as the datagram holds",
                                 RM_LAYOUT_RECORDS_MAX);
    if (layout->turns != NULL && layout->turns->count == NULL)
        return fail_format_entry(entry, error, "layout.turns",
                                 "the key \"count\" is missing, expected the turns of a datagram");
    if (layout->bytes != NULL && *layout->bytes == 0)
        return fail_format_entry(entry, error, "layout.bytes", "found 0, expected the length of the payload");
    return check_lane_names(entry, error);
}

static enum rm_code compile_format_layout(struct format_entry const *entry, struct rm_layout **layout,
                                          struct rm_error *error) {
    enum rm_code code = check_written(entry, error);
    if (code != RM_OK)
        return code;
    struct rm_layout_description description;
    struct rm_error problem;
    describe_file_layout(entry->written->layout, &description);
    code = rm_layout_compile(&description, layout, &problem);
    if (code != RM_E_CONFIG)
        return code == RM_OK ? code : rm_fail(error, code, "%s: %s", entry->path, problem.text);
    char member[KEY_BYTES / 2];
    char const *const colon = strstr(problem.text, ": ");
    snprintf(member, sizeof member, "layout.%.*s", (int)(colon - problem.text), problem.text);
    return fail_format_entry(entry, error, member, "%s", colon + 2);
}

static enum rm_code take_preset(struct format_entry const *entry, struct rm_format *format, struct rm_error *error) {
    char const *const preset = entry->written->preset;
    if (rm_format_builtin(preset, format))
        return RM_OK;
    struct rm_nearest nearest = {.wanted = preset};
    for (int i = 0; i < BUILTINS; ++i)
        rm_nearest_offer(&nearest, builtin_names[i]);
    return fail_format_entry(entry, error, "preset",
                             "found \"%s\", expected one of: native, libera_grouping, "
                             "libera_grouping_counter_first%s%s%s",
                             preset, nearest.name == NULL ? "" : " (did you mean \"",
                             nearest.name == NULL ? "" : nearest.name, nearest.name == NULL ? "" : "\"?)");
}

static enum rm_code check_format_numbers(struct format_entry const *entry, struct rm_error *error) {
    struct rm_file_format const *const written = entry->written;
    if (written->udp_port != NULL && *written->udp_port == 0)
        return fail_format_entry(entry, error, "udp_port", "found 0, expected 1 to 65535");
    if (written->period_turns != NULL && (*written->period_turns == 0 || *written->period_turns > PERIOD_TURNS_MAX))
        return fail_format_entry(entry, error, "period_turns", "found %u, expected 1 to %d", *written->period_turns,
                                 PERIOD_TURNS_MAX);
    return RM_OK;
}

enum rm_code rm_format_resolve(struct rm_file_format const *written, char const *path, uint32_t index,
                               struct rm_format *format, struct rm_error *error) {
    struct format_entry const entry = {.written = written, .path = path, .index = index};
    *format = (struct rm_format){.period_turns = 1};
    enum rm_code code = check_format_name(&entry, error);
    if (code == RM_OK)
        code = check_format_numbers(&entry, error);
    if (code != RM_OK)
        return code;
    if ((written->preset == NULL) == (written->layout == NULL))
        return fail_format_entry(&entry, error, "", "expected either a preset or a layout");
    code = written->preset != NULL ? take_preset(&entry, format, error)
                                   : compile_format_layout(&entry, &format->layout, error);
    if (code != RM_OK)
        return code;
    strcpy(format->name, written->name);
    if (written->udp_port != NULL)
        format->udp_port = *written->udp_port;
    if (written->period_turns != NULL)
        format->period_turns = *written->period_turns;
    return RM_OK;
}

bool rm_format_builtin(char const *name, struct rm_format *format) {
    if (!is_builtin(name))
        return false;
    *format = (struct rm_format){.period_turns = 1};
    strcpy(format->name, name);
    if (strcmp(name, NATIVE) == 0)
        return true;
    format->udp_port = LIBERA_UDP_PORT;
    format->libera = true;
    return rm_layout_compile(rm_layout_preset(name), &format->layout, NULL) == RM_OK;
}

void rm_format_free(struct rm_format *format) { rm_layout_free(format->layout); }
