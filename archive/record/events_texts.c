// SPDX-License-Identifier: Apache-2.0
/** Texts, each once in a session. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "events.h"

static void text_write(struct rm_events_watch *watch, struct rm_watched_text *watched) {
    char *const text = strndup(watched->text, watched->object->bytes);
    if (text == NULL)
        return;
    FILE *out = rm_events_line(watch, "text", watch->moment->tai_ns);
    fputs(",\"name\":", out);
    rm_json_text(out, watched->object->name);
    fputs(",\"value\":", out);
    rm_json_text(out, text);
    rm_events_line_end(watch);
    watched->written = true;
    free(text);
}

void rm_events_look_texts(struct rm_events_watch *watch) {
    for (uint32_t i = 0; i < watch->text_count; ++i)
        if (!watch->text[i].written)
            text_write(watch, &watch->text[i]);
}
