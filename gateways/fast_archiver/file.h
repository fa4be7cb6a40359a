// SPDX-License-Identifier: Apache-2.0
/** The file of the fast-archiver gateway; docs/fast-archiver.md has all keys.
 *
 *     workspace: elettra
 *     rate: turn
 *     decimated: fast
 *     archive: /data/archive
 *     ids:
 *       - {id: 1, instrument: bpm, count: 96, x: x, y: y}
 */
#ifndef FA_FILE_H
#define FA_FILE_H

#include <ringmaster/abi.h>
#include <ringmaster/configuration.h>

/** One or more ids that follow each other. */
struct fa_file_ids {
    uint32_t id, count;
    /** An instrument's name; with `count` numbered as in the server's own file: bpm01, bpm02, … */
    char *instrument;
    char *x, *y;
    char *description;
};

struct fa_file {
    char *workspace, *address, *rate, *decimated, *archive, *name;
    uint32_t port, clients, id_count, first_decimation, second_decimation;
    /** −1: none. */
    double event;
    struct fa_file_ids *ids;
    uint32_t ids_count;
};

/** All keys of the file. */
extern struct rm_key const fa_file_keys[];

/** Reads the file into `*file`, which is zeroed. Adds all that is wrong to `errors`. */
enum rm_code fa_file_load(char const *path, struct fa_file *file, struct rm_errors *errors);
void fa_file_free(struct fa_file *file);

/** The instrument's name of the entry's id number `number`, from 0. False: it is too long. */
bool fa_file_instrument(struct fa_file_ids const *ids, uint32_t number, char name[RM_NAME_BYTES]);

/** Finds the entry of an id, and which of its instruments it is. NULL: there is none. */
struct fa_file_ids const *fa_file_find(struct fa_file const *file, uint32_t id, uint32_t *number);

#endif
