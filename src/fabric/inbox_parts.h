// SPDX-License-Identifier: Apache-2.0
/** What judging needs of an inbox. */
#ifndef RM_FABRIC_INBOX_PARTS_H
#define RM_FABRIC_INBOX_PARTS_H

#include <ringmaster/request.h>

struct rm_owner *rm_inbox_owner(struct rm_inbox const *inbox);

#endif
