// SPDX-License-Identifier: Apache-2.0
/** The commands of the packet generator: traffic/traffic_words.h, whose actions are those of a running generator. */
#ifndef RM_ENGINE_GENERATE_COMMANDS_H
#define RM_ENGINE_GENERATE_COMMANDS_H

#include <ringmaster/error.h>

#include "commands/command.h"

struct rm_server;
struct rm_generate_commands;

/** Of all ports of the server's generator, which are there. */
enum rm_code rm_generate_commands_new(struct rm_server *server, struct rm_generate_commands **commands,
                                      struct rm_error *error);
/** NULL is allowed. */
void rm_generate_commands_free(struct rm_generate_commands *commands);

struct rm_command_table rm_generate_commands_table(struct rm_generate_commands *commands);

#endif
