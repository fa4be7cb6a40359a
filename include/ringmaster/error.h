// SPDX-License-Identifier: Apache-2.0
/** What went wrong, in words a person can act on.
 *
 * Functions of the cold path return an `enum rm_code` (RM_OK is zero) and fill the caller's `struct rm_error`, which
 * may be NULL when the text is not wanted. The text says what happened, where, what was expected and what to do. The
 * hot path never makes text: it counts (see counters.h). */
#ifndef RINGMASTER_ERROR_H
#define RINGMASTER_ERROR_H

/** What kind of thing went wrong. A program acts on this; a person reads the text. */
enum rm_code {
    RM_OK = 0,
    /** There is no such workspace: no program has been started under that name. */
    RM_E_ABSENT,
    /** The workspace exists but its owner has not finished making it. */
    RM_E_HALF_MADE,
    /** It was made by a program of another ABI version or another layout. */
    RM_E_VERSION,
    /** The owner has ended; what it left can be read when asked for. */
    RM_E_DEAD,
    /** Another process owns it and is alive; or an answer did not come in time. */
    RM_E_BUSY,
    /** There is no object of that name, or it is of another kind. */
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

/** Private to the caller. A function that returns RM_OK leaves it alone. */
struct rm_error {
    /** The code that the function returned. */
    enum rm_code code;
    /** One or two sentences, UTF-8, zero-terminated, without a newline at the end. */
    char text[RM_ERROR_TEXT_BYTES];
};

#endif
