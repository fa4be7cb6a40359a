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
    RM_E_ABSENT,    /**< no such workspace: nothing has been started under that name */
    RM_E_HALF_MADE, /**< the workspace exists but its owner has not finished making it */
    RM_E_VERSION,   /**< made by another ABI version or another layout */
    RM_E_DEAD,      /**< the owner has ended; what it left can be read when asked for */
    RM_E_BUSY,      /**< somebody else owns it and is alive */
    RM_E_NOT_FOUND, /**< no object of that name, or of another kind */
    RM_E_CONFIG,    /**< the configuration asks for something impossible */
    RM_E_ARGUMENT,  /**< a call's argument is out of its range */
    RM_E_NO_SPACE,  /**< memory or disk is full */
    RM_E_SYSTEM,    /**< the operating system or a driver refused; the text has its words */
};

enum { RM_ERROR_TEXT_BYTES = 512 };

struct rm_error {
    enum rm_code code;
    char text[RM_ERROR_TEXT_BYTES]; /**< one or two sentences, no trailing newline */
};

#endif
