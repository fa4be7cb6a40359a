// SPDX-License-Identifier: Apache-2.0
#include "fault.h"

#include <math.h>

#include "noise.h"

struct rm_armed_fault rm_fault_arm(struct rm_fault const *fault, uint64_t span_turns) {
    bool const always = fault->kind == RM_FAULT_DELAY || fault->probability >= 1;
    return (struct rm_armed_fault){
        .fault = *fault,
        .threshold = always ? UINT64_MAX : (uint64_t)ldexp(fault->probability, 64),
        .span_turns = span_turns,
    };
}

bool rm_fault_strikes(struct rm_armed_fault const *armed, rm_turn turn) {
    if (armed->fault.at_turn != RM_TURN_NONE)
        return armed->fault.at_turn - turn < armed->span_turns;
    return rm_noise_u64(turn ^ armed->fault.key) < armed->threshold;
}
