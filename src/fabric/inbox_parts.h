// SPDX-License-Identifier: Apache-2.0
/** Access to the inside of an inbox, for judging requests. */
#ifndef RM_FABRIC_INBOX_PARTS_H
#define RM_FABRIC_INBOX_PARTS_H

#include <ringmaster/request.h>

struct rm_owner *rm_inbox_owner(struct rm_inbox const *inbox);

#endif
