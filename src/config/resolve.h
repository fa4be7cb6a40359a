// SPDX-License-Identifier: Apache-2.0
/** The steps from the file as written to the resolved configuration. Each fills in its part of `config`, whose arrays
 * have been allocated, and needs the parts before it. Errors have their place: RM_E_CONFIG. */
#ifndef RM_CONFIG_RESOLVE_H
#define RM_CONFIG_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "config/file.h"

/** Needs ports and formats. Says which ports are those of cameras. */
enum rm_code rm_config_resolve_cameras(struct rm_config_file const *file, struct rm_config *config,
                                       struct rm_error *error);
/** Says what cameras' ports take, after those of instruments; none of them may be an instrument's, too. */
enum rm_code rm_config_claim_cameras(struct rm_config *config, struct rm_error *error);
enum rm_code rm_config_resolve_ports(struct rm_config_file const *file, struct rm_config *config,
                                     struct rm_error *error);
enum rm_code rm_config_resolve_formats(struct rm_config_file const *file, struct rm_config *config,
                                       struct rm_error *error);
enum rm_code rm_config_resolve_instruments(struct rm_config_file const *file, struct rm_config *config,
                                           struct rm_error *error);
enum rm_code rm_config_resolve_polling(struct rm_config_file const *file, struct rm_config *config,
                                       struct rm_error *error);
enum rm_code rm_config_resolve_sizes(struct rm_config_file const *file, struct rm_config *config,
                                     struct rm_error *error);
enum rm_code rm_config_resolve_rates(struct rm_config_file const *file, struct rm_config *config,
                                     struct rm_error *error);
enum rm_code rm_config_resolve_roles(struct rm_config_file const *file, struct rm_config *config,
                                     struct rm_error *error);
enum rm_code rm_config_resolve_spare_cores(struct rm_config_file const *file, struct rm_config *config,
                                           struct rm_error *error);
enum rm_code rm_config_resolve_setpoints(struct rm_config_file const *file, struct rm_config *config,
                                         struct rm_error *error);
/** Names, links and times of the two servers of a pair; which of them is loaded is known. Needs the setpoints. */
enum rm_code rm_config_resolve_standby(struct rm_config_file const *file, struct rm_config *config,
                                       struct rm_error *error);
/** What the rest of the machine must be for two servers. Needs it, and the roles. */
enum rm_code rm_config_check_standby(struct rm_config_file const *file, struct rm_config const *config,
                                     struct rm_error *error);
enum rm_code rm_config_resolve_chains(struct rm_config_file const *file, struct rm_config *config,
                                      struct rm_error *error);
enum rm_code rm_config_resolve_applications(struct rm_config_file const *file, struct rm_config *config,
                                            struct rm_error *error);
/** Needs the ports, and looks at the roles as they are written. */
enum rm_code rm_config_resolve_router(struct rm_config_file const *file, struct rm_config *config,
                                      struct rm_error *error);
/** NULL is allowed. */
void rm_config_free_router(struct rm_config_router *router);
enum rm_code rm_config_resolve_calibration(struct rm_config_file const *file, struct rm_config *config,
                                           struct rm_error *error);

/** Number of the format that instrument `instrument` of the file calls `name`; NULL is native. One that needs no
 * description is added when it is first asked for. */
enum rm_code rm_config_find_format(struct rm_config *config, char const *name, uint32_t instrument, uint32_t *format,
                                   struct rm_error *error);

/** Lanes as written, else the format's, else the kind's own. `index` is that of `written` in the file. */
enum rm_code rm_config_resolve_lanes(struct rm_config const *config, struct rm_config_instrument *instrument,
                                     struct rm_file_instrument const *written, uint32_t index, struct rm_error *error);

/** One entry of `chains`, of which there may be several in a configuration, while it is resolved. */
struct rm_config_resolving_chain {
    struct rm_config_file const *file;
    struct rm_config *config;
    struct rm_file_chain const *written;
    /** Index of `written`. */
    uint32_t index;
    /** Number among those that the entry makes: 1 … count. */
    uint32_t number;

    struct rm_error *error;
};

/** Adds the supplies of the chain at config->chain_count, which is not counted yet. */
enum rm_code rm_config_resolve_supplies(struct rm_config_resolving_chain const *resolving);

/** Adds the instruments that represent its answers, if it answers. */
enum rm_code rm_config_resolve_readbacks(struct rm_config_resolving_chain const *resolving);

/** Makes the supplies that `names` (names or patterns) match the application's. In the file they are
 * applications[written].supplies. */
enum rm_code rm_config_take_supplies(struct rm_config *config, uint32_t application, uint32_t written,
                                     struct rm_file_application const *file, struct rm_error *error);

/** Finds the streams that an application takes as inputs; its period is known. */
enum rm_code rm_config_take_inputs(struct rm_config *config, uint32_t application, uint32_t written,
                                   struct rm_file_application const *file, struct rm_error *error);

/** Resolves one of the roles that setpoints need, transmit or application, at roles[role]. */
enum rm_code rm_config_resolve_setpoint_role(struct rm_config *config, uint32_t role,
                                             struct rm_file_role const *written, struct rm_error *error);

/** Checks that all roles are there that chains and hosted applications need. */
enum rm_code rm_config_check_setpoint_roles(struct rm_config const *config, struct rm_error *error);

/** Tells each port which UDP ports its instruments send to. Checks that no two formats come to the same UDP port. */
enum rm_code rm_config_resolve_claims(struct rm_config_file const *file, struct rm_config *config,
                                      struct rm_error *error);

/** False: no instrument tells the first receive role of turns, so that cycles go by TAI. Needs the roles. */
bool rm_config_tells_turn(struct rm_config const *config);

/** One name, "ring" or "ring/3", in a list of a role: roles[role].list[entry]. */
struct rm_config_queue_name {
    uint32_t role;
    /** "ports" or "first". */
    char const *list;

    uint32_t entry;
    char const *text;
};

enum rm_code rm_config_fail_queue(struct rm_config const *config, struct rm_error *error,
                                  struct rm_config_queue_name const *name, char const *problem);

/** Finds the queues that a name means: those of one port from `queue` on and below `end`; "ring" means all queues. */
enum rm_code rm_config_read_queues(struct rm_config const *config, struct rm_error *error,
                                   struct rm_config_queue_name const *name, struct rm_config_queue *queue,
                                   uint16_t *end);

/** Moves the queues of a receive role that are served first to the beginning of its list, and counts them. */
enum rm_code rm_config_put_first(struct rm_config *config, struct rm_error *error, uint32_t role,
                                 struct rm_file_role const *written);

/** Index in the file of the entry that made this instrument: entries with a `count` make several. Not for readbacks of
 * chains. */
uint32_t rm_config_written_instrument(struct rm_config_file const *file, uint32_t instrument);

/** Index in the file of the entry that made this chain. */
uint32_t rm_config_written_chain(struct rm_config_file const *file, uint32_t chain);

/** The chain that an instrument is a readback of; chain_count where it is none. */
uint32_t rm_config_chain_of(struct rm_config const *config, uint32_t instrument);

/** Checks the characters of a name of a workspace, port, instrument or lane; the schema has checked the length. */
bool rm_config_name_is_good(char const *name);
#define RM_CONFIG_NAME_RULE "expected lower-case letters, digits, _ and -"

/** Digits of the numbers that a `count` appends to a name: as many as it has itself, two at least. */
int rm_config_count_digits(uint32_t count);

/** Writes the path of a file that the configuration names: relative names are in the configuration's folder. False
 * when it is too long. */
bool rm_config_locate(struct rm_config const *config, char const *named, char path[RM_CONFIG_PATH_BYTES]);

/** Writes " (did you mean "NAME"?)", or "". */
struct rm_nearest;
char const *rm_config_guess(struct rm_nearest const *nearest, char *text, size_t size);

/** Index of the port of this name; port_count when there is none. */
uint32_t rm_config_find_port(struct rm_config const *config, char const *name, size_t name_bytes);

/** Writes " (did you mean "ring"?)", or "", for a port name that does not exist. */
char const *rm_config_guess_port(struct rm_config const *config, char const *name, char *text, size_t size);

/** Reads a number of decimal digits alone, up to `max`. */
bool rm_config_read_number(char const *text, uint32_t max, uint32_t *number);

#endif
