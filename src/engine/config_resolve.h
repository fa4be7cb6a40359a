// SPDX-License-Identifier: Apache-2.0
/** The steps from the file as written to the configuration as meant. Each fills its part of `config`, whose arrays have
 * been allocated, and needs the parts before it. Errors are located: RM_E_CONFIG. */
#ifndef RM_ENGINE_CONFIG_RESOLVE_H
#define RM_ENGINE_CONFIG_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/config_file.h"

enum rm_code rm_config_resolve_ports(struct rm_config_file const *file, struct rm_config *config,
                                     struct rm_error *error);
enum rm_code rm_config_resolve_instruments(struct rm_config_file const *file, struct rm_config *config,
                                           struct rm_error *error);
enum rm_code rm_config_resolve_sizes(struct rm_config_file const *file, struct rm_config *config,
                                     struct rm_error *error);
enum rm_code rm_config_resolve_roles(struct rm_config_file const *file, struct rm_config *config,
                                     struct rm_error *error);

/** The rule for names of workspaces, ports, instruments and lanes, whose lengths the schema has checked. */
bool rm_config_name_is_good(char const *name);
#define RM_CONFIG_NAME_RULE "expected lower-case letters, digits, _ and -"

/** Index of the port of this name; port_count when there is none. */
uint32_t rm_config_find_port(struct rm_config const *config, char const *name, size_t name_bytes);

/** " (did you mean "ring"?)" or "", for a port name that does not exist. */
char const *rm_config_guess_port(struct rm_config const *config, char const *name, char *text, size_t size);

/** Reads decimal digits, nothing else, up to `max`. */
bool rm_config_read_number(char const *text, uint32_t max, uint32_t *number);

/** Reads "10.20.0.1" into host byte order. */
bool rm_config_read_ipv4(char const *text, uint32_t *ipv4);

#endif
