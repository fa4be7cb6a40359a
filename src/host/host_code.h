// SPDX-License-Identifier: Apache-2.0
/** The shared object of an application: found, loaded and checked. */
#ifndef RM_HOST_HOST_CODE_H
#define RM_HOST_HOST_CODE_H

#include <ringmaster/application.h>
#include <ringmaster/error.h>

struct rm_host_code {
    void *library;
    struct rm_application_code const *it;
    /** [setting], and [reading], limits, NaN where there is none. */
    struct rm_limits *limit, *reading_limit;
    /** One of the settings is a permission. */
    bool has_permissions;
};

/** Loads the code. A `code` with a slash is a path. A name alone, "ramp", is ramp.so in $RINGMASTER_LIBEXEC, beside
 * this program, or where Ringmaster was installed. RM_E_NOT_FOUND says where it was looked for; RM_E_VERSION: it was
 * built for another ABI; RM_E_CONFIG says what is wrong with it. */
enum rm_code rm_host_code_load(char const *code, struct rm_host_code *loaded, struct rm_error *error);
void rm_host_code_unload(struct rm_host_code *loaded);

#endif
