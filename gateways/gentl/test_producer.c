// SPDX-License-Identifier: Apache-2.0
#include "test_producer.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void *producer_find(void *library, char const *name) {
    void *found = dlsym(library, name);
    if (!found)
        fail_msg("%s", dlerror());
    return found;
}

struct producer producer_load(char const *path) {
    struct producer it = {.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!it.library)
        fail_msg("%s", dlerror());
#define GENTL_LOAD(name) it.name = (__typeof__(it.name))producer_find(it.library, #name)
    GENTL_FUNCTIONS(GENTL_LOAD);
#undef GENTL_LOAD
    return it;
}

void producer_open(struct producer *it) {
    assert_int_equal(setenv("RINGMASTER_CAMERAS", "fake", 1), 0);
    assert_int_equal(it->GCInitLib(), GC_ERR_SUCCESS);
    assert_int_equal(it->TLOpen(&it->system), GC_ERR_SUCCESS);
    assert_int_equal(it->TLOpenInterface(it->system, "cameras", &it->interface), GC_ERR_SUCCESS);
    assert_int_equal(it->IFOpenDevice(it->interface, "cam01", DEVICE_ACCESS_EXCLUSIVE, &it->device), GC_ERR_SUCCESS);
    assert_int_equal(it->DevGetPort(it->device, &it->camera), GC_ERR_SUCCESS);
    assert_int_equal(it->DevOpenDataStream(it->device, "images", &it->stream), GC_ERR_SUCCESS);
    assert_int_equal(it->GCRegisterEvent(it->stream, EVENT_NEW_BUFFER, &it->event), GC_ERR_SUCCESS);
}

void producer_close(struct producer *it) {
    assert_int_equal(it->GCCloseLib(), GC_ERR_SUCCESS);
    assert_int_equal(it->fake_leases(0), 0);
}

char const *producer_error(struct producer const *it) {
    static char text[512];
    size_t size = sizeof text;
    GC_ERROR code;
    assert_int_equal(it->GCGetLastError(&code, text, &size), GC_ERR_SUCCESS);
    return text;
}
