// SPDX-License-Identifier: Apache-2.0
/** What a thread that may wait does with a mailbox of a polling core. */
#ifndef RM_BASE_MAILBOX_ASK_H
#define RM_BASE_MAILBOX_ASK_H

#include "base/mailbox.h"

/** How long an answer is waited for. */
#define RM_MAILBOX_ANSWER_S 5

/** Posts the message, and waits for the answer, which the sender may read until rm_mailbox_close. False: nobody has
 * taken it in time; it is withdrawn, and will never be done. */
bool rm_mailbox_ask(struct rm_mailbox *mailbox);

#endif
