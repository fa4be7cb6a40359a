// SPDX-License-Identifier: Apache-2.0
/** What went wrong, in words a person can act on.
 *
 * Functions of the cold path return an `enum rm_code` (RM_OK is zero) and fill the caller's `struct rm_error`, which
 * may be NULL when nobody will read it. The text says what happened, where, what was expected and what to do. The hot
 * path never makes text: it counts (see counters.h).
 */
#ifndef RINGMASTER_ERROR_H
#define RINGMASTER_ERROR_H

enum rm_code {
    RM_OK = 0,
    /** No such workspace: nothing has been started under that name. */
    RM_E_ABSENT,
    /** The workspace exists but its owner has not finished making it. */
    RM_E_HALF_MADE,
    /** Made by another ABI version or another layout. */
    RM_E_VERSION,
    /** The owner has ended; what it left can be read when asked for. */
    RM_E_DEAD,
    /** Somebody else owns it and is alive. */
    RM_E_BUSY,
    /** No object of that name, or of another kind. */
    RM_E_NOT_FOUND,
    /** The configuration asks for something impossible. */
    RM_E_CONFIG,
    /** A call's argument is out of its range. */
    RM_E_ARGUMENT,
    /** Memory or disk is full. */
    RM_E_NO_SPACE,
    /** The operating system or a driver refused; the text has its words. */
    RM_E_SYSTEM,
};

enum { RM_ERROR_TEXT_BYTES = 512 };

struct rm_error {
    enum rm_code code;
    /** One or two sentences, no trailing newline. */
    char text[RM_ERROR_TEXT_BYTES];
};

#endif
