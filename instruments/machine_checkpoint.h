// SPDX-License-Identifier: Apache-2.0
/** A machine as it is after a turn, in a file: a run that goes on from it makes the same readings, to the bit, as one
 * that was not interrupted. Its supplies are not in it: they have the setpoints that they are sent.
 *
 * The file is of this build and this machine, and is refused by others: a number made of all that does not change while a
 * machine runs, and then each area of memory with its length before it.
 */
#ifndef RM_INSTRUMENTS_MACHINE_CHECKPOINT_H
#define RM_INSTRUMENTS_MACHINE_CHECKPOINT_H

#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "machine.h"

/** When the machine's time began, and what turn was its last. */
struct rm_machine_moment {
    rm_turn origin, turn;
};

/** Writes the file, while no background runs. RM_E_SYSTEM. */
enum rm_code rm_machine_save(struct rm_machine const *machine, struct rm_machine_moment const *moment, char const *path,
                             struct rm_error *error);

/** Makes the machine what it was. RM_E_NOT_FOUND: there is no such file. RM_E_CONFIG: it is of another machine; this one
 * must then not be used. */
enum rm_code rm_machine_load(struct rm_machine *machine, char const *path, struct rm_machine_moment *moment,
                             struct rm_error *error);

#endif
