// SPDX-License-Identifier: Apache-2.0
#include "base/mailbox_ask.h"

#include <time.h>

enum { NAP_NS = 20000, NAPS_PER_S = 1000000000 / NAP_NS };

bool rm_mailbox_ask(struct rm_mailbox *mailbox) {
    rm_mailbox_post(mailbox);
    for (uint32_t nap = 0; !rm_mailbox_is_answered(mailbox); ++nap) {
        if (nap >= RM_MAILBOX_ANSWER_S * NAPS_PER_S && rm_mailbox_withdraw(mailbox))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    return true;
}
