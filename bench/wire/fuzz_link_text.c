// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a link's text. Refused in words, or within what link_endpoint.h promises. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "link_endpoint.h"
#include "probe.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void require(bool held) {
    if (!held)
        abort();
}

static void check(struct rm_link_config const *config, char const *text) {
    require(strcmp(config->text, text) == 0);
    require((unsigned)config->kind <= RM_LINK_UDP);
    require(config->where[0] != '\0' && memchr(config->where, '\0', sizeof config->where) != NULL);
    require(config->batch >= 1 && config->batch <= RM_BURST);
    require(config->mtu <= RM_LINK_MTU_MAX && rm_link_largest_payload(config) >= RM_PROBE_BYTES);
    require(config->udp_port != 0 && config->peer_port != 0);
    require(config->spin || config->kind == RM_LINK_RAW || config->kind == RM_LINK_UDP);
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    char *const text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct rm_link_config config;
    struct rm_error error = {0};
    enum rm_code const code = rm_link_parse(text, &config, &error);
    if (code == RM_OK)
        check(&config, text);
    else
        require(code == RM_E_ARGUMENT && error.code == code && error.text[0] != '\0');
    free(text);
    return 0;
}
