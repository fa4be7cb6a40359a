// SPDX-License-Identifier: Apache-2.0
/** What a file was compiled to, as JSON: for people's programs, which need no second reader of it.
 *
 *     {"file": "degauss.yaml", "errors": ["FILE:LINE:COLUMN: …"], "error_count": 0, "remarks": ["FILE:LINE:COLUMN: …"],
 *      "inputs": [{"name", "lane" or "supply"}], "parameters": [{"name", "parameter"}],
 *      "variables": [{"name", "value", "low", "high", "unit", "description"}],
 *      "counters": [{"name", "value", "low", "high"}],
 *      "supplies": [{"name", "supplies": ["sr/ps/qf*"], "low", "high"}], "tables": [{"name", "points": []}],
 *      "beam_lost", "missing_steps", "follow_steps",
 *      "sequences": [{"number": 1, "name", "description", "begin", "abort", "enable", "timeout_s", "depth", "cost",
 *          "states": [{"number": 7, "name", "end": "none", "timeout_s", "on_timeout", "call", "cost_step", "cost_enter",
 *              "do": [{"kind": "ramp", "supplies": "qf", "to": "base + 4", "in_s": "0.5", "shape": "s_curve", …}],
 *              "then": [{"when": "done", "to": "down"}]}]}]}
 *
 * Numbers of sequences and states are those of NAME/sequence, NAME/state and NAME/trace. What there is none of is null.
 * Names of states and sequences are texts. Where there are errors, only `file`, `errors`, `error_count` and `remarks`
 * are there. Costs are operations; a group counts as one supply. */
#ifndef SEQUENCE_DESCRIBE_H
#define SEQUENCE_DESCRIBE_H

#include <stdio.h>

#include <ringmaster/errors.h>

#include "program.h"

void sequence_describe(FILE *out, char const *path, struct sequence_program const *program,
                       struct rm_errors const *errors, struct rm_errors const *remarks);

#endif
