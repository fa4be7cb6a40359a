// SPDX-License-Identifier: Apache-2.0
/** Which core runs which role: as a configuration has it, and as another file would have it for the same server.
 *
 * A running server takes another placement from a file that is its own in all but `roles[…].core` and the order of
 * `roles`. All else would need other ports, other memory or another start of the server.
 */
#ifndef RM_CONFIG_PLACEMENT_H
#define RM_CONFIG_PLACEMENT_H

#include "config/config.h"

/** Of the roles of one configuration, by their index there. */
struct rm_config_placement {
    /** [role]: number of its core. */
    uint32_t core[RM_CONFIG_ROLES_MADE_MAX];
    /** The roles in the order in which those of one core take turns. */
    uint32_t order[RM_CONFIG_ROLES_MADE_MAX];
};

/** That of the configuration itself. */
void rm_config_place(struct rm_config const *config, struct rm_config_placement *placement);

/** That which `wanted` gives the roles of `running`. RM_E_CONFIG, and the place in the file of `wanted`: it differs in
 * more; a role goes to a core that neither roles nor spare_cores of `running` name. */
enum rm_code rm_config_replace(struct rm_config const *running, struct rm_config const *wanted,
                               struct rm_config_placement *placement, struct rm_error *error);

/** True when the server has memory for the counters of that core: a role or `spare_cores` names it. */
bool rm_config_has_core(struct rm_config const *config, uint32_t core);

#endif
