// SPDX-License-Identifier: Apache-2.0
/** rm_fail, which is public: ringmaster/errors.h. */
#ifndef RM_BASE_FAIL_H
#define RM_BASE_FAIL_H

#include <ringmaster/errors.h>

#endif
