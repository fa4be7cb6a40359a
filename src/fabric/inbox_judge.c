// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/request.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <ringmaster/group.h>

#include "fabric/element.h"
#include "fabric/inbox_parts.h"
#include "fabric/owner_parts.h"
#include "fabric/parameter_parts.h"

/** "…/setpoint: 12.5 A is above …": of a name that is too long for the rest the end is kept, which tells most. */
static void put_reason(char reason[RM_REASON_BYTES], char const *name, char const *what) {
    size_t const length = strnlen(name, RM_NAME_BYTES);
    size_t const room = RM_REASON_BYTES - 1 - 2 - strnlen(what, RM_REASON_BYTES - 3);
    static char const DOTS[] = "…";
    if (length <= room)
        snprintf(reason, RM_REASON_BYTES, "%.*s: %s", (int)length, name, what);
    else if (room > sizeof DOTS - 1)
        snprintf(reason, RM_REASON_BYTES, "%s%s: %s", DOTS, name + length - (room - (sizeof DOTS - 1)), what);
    else
        snprintf(reason, RM_REASON_BYTES, "%s", what);
}

static char const *unit_of(struct rm_owner const *owner, char const *name) {
    for (size_t i = 0; i < owner->plan.count; ++i)
        if (strcmp(owner->plan.planned[i].object.name, name) == 0)
            return owner->plan.planned[i].object.unit;
    return "";
}

/** Judges one element; `what` says what is wrong with it. */
static bool element_good(struct rm_parameter const *parameter, double value, char const *unit, char *what,
                         size_t bytes) {
    struct rm_limits const *limits = &parameter->limits;
    char const *space = unit[0] != '\0' ? " " : "";
    if (!isfinite(value))
        snprintf(what, bytes, "%s is no number to set it to", isnan(value) ? "NaN" : "infinity");
    else if (value < limits->control_low)
        snprintf(what, bytes, "%.10g%s%s is below the control limit of %.10g%s%s", value, space, unit,
                 limits->control_low, space, unit);
    else if (value > limits->control_high)
        snprintf(what, bytes, "%.10g%s%s is above the control limit of %.10g%s%s", value, space, unit,
                 limits->control_high, space, unit);
    else
        return true;
    return false;
}

static bool part_good(struct rm_parameter const *parameter, struct rm_request const *request, char *what,
                      size_t bytes) {
    size_t const each = rm_element_bytes((enum rm_element_type)parameter->element_type);
    uint64_t const count = parameter->count;
    if ((parameter->flags & RM_PARAMETER_WRITABLE) == 0)
        snprintf(what, bytes, "its owner alone sets it");
    else if (each == 0 || request->bytes == 0 || request->bytes % each != 0)
        snprintf(what, bytes, "%llu bytes are not whole elements of %zu", (unsigned long long)request->bytes, each);
    else if (request->bytes > sizeof request->value || request->first > count ||
             request->bytes / each > count - request->first)
        snprintf(what, bytes, "it has %llu elements, and not %llu from %llu on", (unsigned long long)count,
                 (unsigned long long)(request->bytes / each), (unsigned long long)request->first);
    else
        return true;
    return false;
}

bool rm_inbox_judge(struct rm_inbox *inbox, struct rm_request const *request, struct rm_parameter **parameter,
                    char reason[RM_REASON_BYTES]) {
    struct rm_owner const *owner = rm_inbox_owner(inbox);
    char what[RM_REASON_BYTES] = "";
    *parameter = rm_owner_find(owner, request->parameter);
    bool good = false;
    if (*parameter == NULL)
        snprintf(what, sizeof what, "there is no parameter of that name");
    else
        good = part_good(*parameter, request, what, sizeof what);
    enum rm_element_type const type = good ? (enum rm_element_type)(*parameter)->element_type : RM_ELEMENT_U8;
    size_t const each = rm_element_bytes(type);
    for (size_t at = 0; good && at < request->bytes; at += each)
        good = element_good(*parameter, rm_element_value(type, request->value + at), unit_of(owner, request->parameter),
                            what, sizeof what);
    reason[0] = '\0';
    if (!good)
        put_reason(reason, request->parameter, what);
    return good;
}

/** Writes what was judged good; inside of the parameter's group where it has one. */
static void write_part(struct rm_owner const *owner, struct rm_parameter *parameter, struct rm_request const *request,
                       struct rm_stamp stamp) {
    struct rm_group *group =
        parameter->group[0] != '\0' ? rm_owner_object(owner, RM_OBJECT_GROUP, parameter->group) : NULL;
    size_t const from = request->first * rm_element_bytes((enum rm_element_type)parameter->element_type);
    if (group != NULL)
        rm_group_begin(group);
    rm_parameter_write_part(parameter, from, request->value, request->bytes, stamp);
    if (group != NULL)
        rm_group_commit(group, stamp);
}

void rm_inbox_apply(struct rm_inbox *inbox, struct rm_request const *request, struct rm_stamp stamp) {
    struct rm_parameter *parameter;
    char reason[RM_REASON_BYTES];
    bool const good = rm_inbox_judge(inbox, request, &parameter, reason);
    if (good)
        write_part(rm_inbox_owner(inbox), parameter, request, stamp);
    rm_inbox_answer(inbox, request, good ? RM_VERDICT_DONE : RM_VERDICT_REFUSED, reason);
}
