// SPDX-License-Identifier: Apache-2.0
/** An owner that only asks: its segment lies in the workspace's folder of requesters, for as long as it is open. */
#ifndef RM_FABRIC_REQUESTER_H
#define RM_FABRIC_REQUESTER_H

#include "fabric/owner_parts.h"

/** Opens the segment under a name that no requester had before, and removes what killed ones left. RM_E_BUSY, with the
 * limit's name, when the user already has RM_REQUESTERS_PER_USER places, or all users together have RM_REQUESTERS_MAX.
 */
enum rm_code rm_requester_open(struct rm_owner *owner, struct rm_error *error);

#endif
