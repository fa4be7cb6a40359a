// SPDX-License-Identifier: Apache-2.0
#include "permit.h"

double premortem_permit_step(struct premortem_permit *permit, double sent, bool gives, bool must_go) {
    bool const is_sent = sent >= 0.5;
    if (permit->state == PREMORTEM_GIVEN && !is_sent) {
        permit->state = PREMORTEM_WITHDRAWN;
        ++permit->lost;
    }
    if (permit->state == PREMORTEM_RISING && is_sent)
        permit->state = PREMORTEM_GIVEN;
    if (permit->state == PREMORTEM_RISING && ++permit->waited >= PREMORTEM_RISE_STEPS)
        permit->state = PREMORTEM_WITHDRAWN;
    if (permit->state == PREMORTEM_WITHDRAWN && gives) {
        permit->state = PREMORTEM_RISING;
        permit->waited = 0;
    }
    if (must_go)
        permit->state = PREMORTEM_WITHDRAWN;
    return permit->state == PREMORTEM_WITHDRAWN ? 0.0 : 1.0;
}
