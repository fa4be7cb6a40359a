// SPDX-License-Identifier: Apache-2.0
/** From what an owner asks of a row ring to the ring's head: how many rows, and where they lie. */
#ifndef RM_FABRIC_ROWS_PLAN_H
#define RM_FABRIC_ROWS_PLAN_H

#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/owner.h>
#include <ringmaster/rows.h>

/** Margin of a row ring, in rows: each is published when it is put. */
enum { RM_ROWS_MARGIN = 1 };

/** Fills in the constant members. RM_E_ARGUMENT where that is no ring. */
enum rm_code rm_rows_describe(struct rm_rows_plan const *wanted, struct rm_rows *rows, struct rm_error *error);

/** Bytes of the whole object. */
uint64_t rm_rows_bytes(struct rm_rows const *rows);

#endif
