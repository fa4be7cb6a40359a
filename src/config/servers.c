// SPDX-License-Identifier: Apache-2.0
#include "config/servers.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "config/resolve.h"

static char const SERVER[] = "{server}", NUMBER[] = "{number}";

bool rm_config_read_named(char const *path, struct rm_config_named *named) {
    *named = (struct rm_config_named){.server = ""};
    char const *const at = strrchr(path, '@');
    bool const has_name = at != NULL && at != path && at[1] != '\0' && rm_config_name_is_good(at + 1) &&
                          strlen(at + 1) < sizeof named->server;
    if (has_name)
        strcpy(named->server, at + 1);
    int const bytes = has_name ? (int)(at - path) : (int)strlen(path);
    return snprintf(named->file, sizeof named->file, "%.*s", bytes, path) < (int)sizeof named->file;
}

/** A member of a mapping; NULL where it is not there, or there is no mapping. */
static yaml_node_t const *member_of(struct rm_yaml_document const *document, yaml_node_t const *node,
                                    char const *name) {
    return node == NULL ? NULL : rm_yaml_document_member(document, node, name, strlen(name));
}

/** The text at a key, "setpoints.terms"; NULL where no text is there. */
static yaml_node_t const *text_at(struct rm_yaml_document const *document, char const *key) {
    yaml_node_t const *node = document->root;
    for (char const *part = key; node != NULL && *part != '\0';) {
        size_t const bytes = strcspn(part, ".");
        node = rm_yaml_document_member(document, node, part, bytes);
        part += bytes + (part[bytes] == '.');
    }
    return node != NULL && node->type == YAML_SCALAR_NODE ? node : NULL;
}

bool rm_config_server_names(struct rm_yaml_document const *document,
                            char name[RM_CONFIG_SERVERS][RM_CONFIG_NAME_BYTES]) {
    yaml_node_t const *const standby = member_of(document, document->root, "standby");
    yaml_node_t const *const servers = member_of(document, standby, "servers");
    if (servers == NULL || servers->type != YAML_SEQUENCE_NODE ||
        servers->data.sequence.items.top - servers->data.sequence.items.start != RM_CONFIG_SERVERS)
        return false;
    for (uint32_t i = 0; i < RM_CONFIG_SERVERS; i++) {
        yaml_node_t const *const server = rm_yaml_document_node(document, servers->data.sequence.items.start[i]);
        yaml_node_t const *const written = member_of(document, server, "name");
        if (written == NULL || written->type != YAML_SCALAR_NODE || written->data.scalar.length >= RM_CONFIG_NAME_BYTES)
            return false;
        strcpy(name[i], (char const *)written->data.scalar.value);
    }
    return true;
}

__attribute__((format(printf, 4, 5))) static enum rm_code fail_server(struct rm_yaml_document const *document,
                                                                      struct rm_errors *errors, char const *key,
                                                                      char const *format, ...) {
    struct rm_error error;
    va_list arguments;
    va_start(arguments, format);
    yaml_mark_t const mark = rm_yaml_document_find(document, key)->start_mark;
    enum rm_code const code = rm_yaml_vfail_at(&error, document->path, mark, key, format, arguments);
    va_end(arguments);
    rm_errors_add(errors, &error);
    return code;
}

/** What two servers may not share, should they run on one host. */
static enum rm_code check_apart(struct rm_yaml_document const *document, char const *key, struct rm_errors *errors) {
    yaml_node_t const *const node = text_at(document, key);
    if (node == NULL)
        return RM_OK;
    char const *const text = (char const *)node->data.scalar.value;
    if (strstr(text, SERVER) != NULL || strstr(text, NUMBER) != NULL)
        return RM_OK;
    return fail_server(document, errors, key,
                       "both servers would have \"%s\", expected {server} in it, which is the name of each", text);
}

static enum rm_code find_server(struct rm_yaml_document const *document, struct rm_config_named const *named,
                                char name[RM_CONFIG_SERVERS][RM_CONFIG_NAME_BYTES], uint32_t *own,
                                struct rm_errors *errors) {
    if (named->server[0] == '\0')
        return fail_server(document, errors, "standby",
                           "this file is of two servers, expected one of them: %s@%s or %s@%s", named->file, name[0],
                           named->file, name[1]);
    *own = strcmp(named->server, name[0]) == 0 ? 0 : 1;
    if (strcmp(named->server, name[*own]) == 0)
        return RM_OK;
    return fail_server(document, errors, "standby.servers", "found no server \"%s\", expected %s@%s or %s@%s",
                       named->server, named->file, name[0], named->file, name[1]);
}

enum rm_code rm_config_put_server(struct rm_yaml_document *document, char const *name, uint32_t own,
                                  struct rm_errors *errors) {
    struct rm_yaml_word const words[] = {{SERVER, name}, {NUMBER, own == 0 ? "1" : "2"}};
    struct rm_error error;
    enum rm_code const code = rm_yaml_document_replace(document, words, sizeof words / sizeof words[0], &error);
    if (code != RM_OK)
        rm_errors_add(errors, &error);
    return code;
}

enum rm_code rm_config_choose_server(struct rm_yaml_document *document, struct rm_config_named const *named,
                                     uint32_t *own, struct rm_errors *errors) {
    char name[RM_CONFIG_SERVERS][RM_CONFIG_NAME_BYTES];
    *own = 0;
    if (member_of(document, document->root, "standby") == NULL) {
        if (named->server[0] == '\0')
            return RM_OK;
        return fail_server(document, errors, "",
                           "found no server \"%s\": this file is of one server, as it has no key \"standby\"; expected "
                           "%s alone",
                           named->server, named->file);
    }
    if (!rm_config_server_names(document, name))
        return RM_OK; /* the schema says what is wrong */
    enum rm_code code = find_server(document, named, name, own, errors);
    code = rm_code_first(code, check_apart(document, "workspace", errors));
    code = rm_code_first(code, check_apart(document, "setpoints.terms", errors));
    return code == RM_OK ? rm_config_put_server(document, name[*own], *own, errors) : code;
}
