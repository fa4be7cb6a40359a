// SPDX-License-Identifier: Apache-2.0
/** Every function of the producer, called wrongly: before it is initialised, with handles that are none, with buffers
 * that are too small. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/pixels.h"
#include "test_producer.h"

static struct producer it;

/** Calls each function that takes a handle with this one, and expects the same error of all. */
static void expect_of_all(void *wrong, GC_ERROR expected) {
    uint8_t space[64] = {0};
    size_t size = sizeof space;
    uint32_t count;
    bool8_t changed;
    void *handle;
    struct gentl_register entry = {0, space, 8};
    GC_ERROR const results[] = {
        it.GCReadPort(wrong, 0, space, &size),
        it.GCWritePort(wrong, 0, space, &size),
        it.GCReadPortStacked(wrong, &entry, &(size_t){1}),
        it.GCWritePortStacked(wrong, &entry, &(size_t){1}),
        it.GCGetPortInfo(wrong, PORT_INFO_ID, NULL, space, &size),
        it.GCGetPortURL(wrong, (char *)space, &size),
        it.GCGetNumPortURLs(wrong, &count),
        it.GCGetPortURLInfo(wrong, 0, URL_INFO_URL, NULL, space, &size),
        it.GCRegisterEvent(wrong, EVENT_NEW_BUFFER, &handle),
        it.GCUnregisterEvent(wrong, EVENT_NEW_BUFFER),
        it.EventGetData(wrong, space, &size, 0),
        it.EventGetDataInfo(wrong, space, 16, EVENT_DATA_ID, NULL, space, &size),
        it.EventGetInfo(wrong, EVENT_EVENT_TYPE, NULL, space, &size),
        it.EventFlush(wrong),
        it.EventKill(wrong),
        it.TLClose(wrong),
        it.TLGetInfo(wrong, TL_INFO_ID, NULL, space, &size),
        it.TLGetNumInterfaces(wrong, &count),
        it.TLGetInterfaceID(wrong, 0, (char *)space, &size),
        it.TLGetInterfaceInfo(wrong, "cameras", INTERFACE_INFO_ID, NULL, space, &size),
        it.TLOpenInterface(wrong, "cameras", &handle),
        it.TLUpdateInterfaceList(wrong, &changed, 0),
        it.IFClose(wrong),
        it.IFGetParentTL(wrong, &handle),
        it.IFGetInfo(wrong, INTERFACE_INFO_ID, NULL, space, &size),
        it.IFGetNumDevices(wrong, &count),
        it.IFGetDeviceID(wrong, 0, (char *)space, &size),
        it.IFGetDeviceInfo(wrong, "cam01", DEVICE_INFO_ID, NULL, space, &size),
        it.IFOpenDevice(wrong, "cam01", DEVICE_ACCESS_EXCLUSIVE, &handle),
        it.IFUpdateDeviceList(wrong, &changed, 0),
        it.DevClose(wrong),
        it.DevGetParentIF(wrong, &handle),
        it.DevGetPort(wrong, &handle),
        it.DevGetInfo(wrong, DEVICE_INFO_ID, NULL, space, &size),
        it.DevGetNumDataStreams(wrong, &count),
        it.DevGetDataStreamID(wrong, 0, (char *)space, &size),
        it.DevOpenDataStream(wrong, "images", &handle),
        it.DSClose(wrong),
        it.DSGetParentDev(wrong, &handle),
        it.DSGetInfo(wrong, STREAM_INFO_ID, NULL, space, &size),
        it.DSAnnounceBuffer(wrong, space, sizeof space, NULL, &handle),
        it.DSAllocAndAnnounceBuffer(wrong, 64, NULL, &handle),
        it.DSRevokeBuffer(wrong, wrong, NULL, NULL),
        it.DSQueueBuffer(wrong, wrong),
        it.DSFlushQueue(wrong, ACQ_QUEUE_ALL_DISCARD),
        it.DSStartAcquisition(wrong, ACQ_START_FLAGS_DEFAULT, GENTL_INFINITE),
        it.DSStopAcquisition(wrong, ACQ_STOP_FLAGS_DEFAULT),
        it.DSGetBufferID(wrong, 0, &handle),
        it.DSGetBufferInfo(wrong, wrong, BUFFER_INFO_BASE, NULL, space, &size),
        it.DSGetBufferChunkData(wrong, wrong, space, &size),
        it.DSGetNumBufferParts(wrong, wrong, &count),
        it.DSGetBufferPartInfo(wrong, wrong, 0, 0, NULL, space, &size),
    };
    for (size_t i = 0; i < sizeof results / sizeof results[0]; ++i)
        if (results[i] != expected)
            fail_msg("call %zu with handle %p: %d instead of %d", i, wrong, results[i], expected);
}

static void test_nothing_works_before_it_is_initialised(void **state) {
    (void)state;
    expect_of_all((void *)(uintptr_t)0x10100000000, GC_ERR_NOT_INITIALIZED);
    TL_HANDLE system;
    assert_int_equal(it.TLOpen(&system), GC_ERR_NOT_INITIALIZED);
    assert_int_equal(it.GCCloseLib(), GC_ERR_NOT_INITIALIZED);
    size_t size = 0;
    assert_int_equal(it.GCGetInfo(TL_INFO_VENDOR, NULL, NULL, &size), GC_ERR_SUCCESS);
}

static void test_wrong_handles_are_refused(void **state) {
    (void)state;
    producer_open(&it);
    BUFFER_HANDLE buffer;
    assert_int_equal(it.DSAllocAndAnnounceBuffer(it.stream, 64, NULL, &buffer), GC_ERR_SUCCESS);
    int variable;
    void *const wrong[] = {NULL,
                           (void *)1,
                           (void *)UINTPTR_MAX,
                           &variable,
                           (uint8_t *)it.stream + ((uintptr_t)1 << 40),
                           (uint8_t *)it.device + (1 << 17),
                           (uint8_t *)it.stream + 1,
                           buffer};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
        expect_of_all(wrong[i], GC_ERR_INVALID_HANDLE);
    uint8_t value[8];
    assert_int_equal(it.DSGetBufferInfo(it.stream, it.stream, BUFFER_INFO_BASE, NULL, value, &(size_t){8}),
                     GC_ERR_INVALID_HANDLE);
    assert_int_equal(it.DSQueueBuffer(it.stream, buffer), GC_ERR_SUCCESS);
    assert_int_equal(it.DSRevokeBuffer(it.stream, buffer, NULL, NULL), GC_ERR_BUSY);
    assert_int_equal(it.DSFlushQueue(it.stream, ACQ_QUEUE_ALL_DISCARD), GC_ERR_SUCCESS);
    assert_int_equal(it.DSRevokeBuffer(it.stream, buffer, NULL, NULL), GC_ERR_SUCCESS);
    assert_int_equal(it.DSQueueBuffer(it.stream, buffer), GC_ERR_INVALID_HANDLE);
    producer_close(&it);
}

static void test_handles_end_with_their_modules(void **state) {
    (void)state;
    producer_open(&it);
    assert_int_equal(it.TLClose(it.system), GC_ERR_SUCCESS);
    TL_HANDLE again;
    assert_int_equal(it.TLOpen(&again), GC_ERR_SUCCESS);
    void *const old[] = {it.system, it.interface, it.device, it.camera, it.stream, it.event};
    for (size_t i = 0; i < sizeof old / sizeof old[0]; ++i)
        expect_of_all(old[i], GC_ERR_INVALID_HANDLE);
    producer_close(&it);
}

typedef GC_ERROR query(void *handle, int32_t command, int32_t *type, void *buffer, size_t *size);

/** Puts a query with no buffer, one that is too small, and one that is just large enough. */
static void check_query(query *ask, void *handle, int32_t command) {
    size_t needed = 0;
    int32_t type = -1;
    GC_ERROR const result = ask(handle, command, &type, NULL, &needed);
    if (result == GC_ERR_NOT_AVAILABLE || result == GC_ERR_NO_DATA)
        return;
    assert_int_equal(result, GC_ERR_SUCCESS);
    uint8_t space[256];
    assert_in_range(needed, 1, sizeof space - 1);
    memset(space, 0xEE, sizeof space);
    size_t size = needed - 1;
    assert_int_equal(ask(handle, command, &type, space, &size), GC_ERR_BUFFER_TOO_SMALL);
    assert_int_equal(size, needed);
    assert_int_equal(space[0], 0xEE);
    assert_int_equal(ask(handle, command, NULL, space, &size), GC_ERR_SUCCESS);
    assert_int_equal(space[needed], 0xEE);
    if (type == INFO_DATATYPE_STRING)
        assert_int_equal(strlen((char *)space) + 1, needed);
    assert_int_equal(ask(handle, command, NULL, space, NULL), GC_ERR_INVALID_PARAMETER);
}

static GC_ERROR ask_library(void *handle, int32_t command, int32_t *type, void *buffer, size_t *size) {
    (void)handle;
    return it.GCGetInfo(command, type, buffer, size);
}
static GC_ERROR ask_interface(void *handle, int32_t command, int32_t *type, void *buffer, size_t *size) {
    return it.TLGetInterfaceInfo(handle, "cameras", command, type, buffer, size);
}
static GC_ERROR ask_device(void *handle, int32_t command, int32_t *type, void *buffer, size_t *size) {
    return it.IFGetDeviceInfo(handle, "cam02", command, type, buffer, size);
}
static GC_ERROR ask_url(void *handle, int32_t command, int32_t *type, void *buffer, size_t *size) {
    return it.GCGetPortURLInfo(handle, 0, command, type, buffer, size);
}
static GC_ERROR ask_buffer(void *handle, int32_t command, int32_t *type, void *buffer, size_t *size) {
    return it.DSGetBufferInfo(it.stream, handle, command, type, buffer, size);
}
static GC_ERROR ask_id(void *handle, int32_t command, int32_t *type, void *buffer, size_t *size) {
    if (type)
        *type = INFO_DATATYPE_STRING;
    if (command == 0)
        return it.TLGetInterfaceID(it.system, 0, buffer, size);
    return command == 1 ? it.IFGetDeviceID(it.interface, 1, buffer, size)
                        : it.DevGetDataStreamID(handle, 0, buffer, size);
}
static GC_ERROR ask_event_data(void *handle, int32_t command, int32_t *type, void *buffer, size_t *size) {
    struct gentl_new_buffer const data = {handle, NULL};
    return it.EventGetDataInfo(handle, &data, sizeof data, command, type, buffer, size);
}

static void test_small_buffers_are_refused(void **state) {
    (void)state;
    producer_open(&it);
    BUFFER_HANDLE buffer;
    assert_int_equal(it.DSAllocAndAnnounceBuffer(it.stream, FAKE_BYTES, NULL, &buffer), GC_ERR_SUCCESS);
    enum { COMMANDS = 40 };
    for (int32_t command = 0; command < COMMANDS; ++command) {
        check_query(ask_library, NULL, command);
        check_query(it.TLGetInfo, it.system, command);
        check_query(ask_interface, it.system, command);
        check_query(it.IFGetInfo, it.interface, command);
        check_query(ask_device, it.interface, command);
        check_query(it.DevGetInfo, it.device, command);
        check_query(it.DSGetInfo, it.stream, command);
        check_query(ask_buffer, buffer, command);
        check_query(it.EventGetInfo, it.event, command);
        check_query(ask_event_data, it.event, command);
        void *const ports[] = {it.system, it.interface, it.device, it.camera, it.stream};
        for (size_t i = 0; i < sizeof ports / sizeof ports[0]; ++i) {
            check_query(it.GCGetPortInfo, ports[i], command);
            check_query(ask_url, ports[i], command);
        }
    }
    for (int32_t i = 0; i < 3; ++i)
        check_query(ask_id, it.device, i);
    producer_close(&it);
}

static void test_errors_have_their_text(void **state) {
    (void)state;
    assert_int_equal(it.GCInitLib(), GC_ERR_SUCCESS);
    TL_HANDLE system;
    assert_int_equal(unsetenv("RINGMASTER_CAMERAS"), 0);
    assert_int_equal(it.TLOpen(&system), GC_ERR_NOT_AVAILABLE);
    assert_non_null(strstr(producer_error(&it), "RINGMASTER_CAMERAS is not set"));
    assert_int_equal(setenv("RINGMASTER_CAMERAS", "nowhere", 1), 0);
    assert_int_equal(it.TLOpen(&system), GC_ERR_NOT_AVAILABLE);
    assert_string_equal(producer_error(&it), "RINGMASTER_CAMERAS=nowhere: there is no workspace \"nowhere\"");
    assert_int_equal(setenv("RINGMASTER_CAMERAS", "cameras.yaml", 1), 0);
    assert_int_equal(it.TLOpen(&system), GC_ERR_ERROR);
    assert_non_null(strstr(producer_error(&it), "cameras.yaml:1: not a file of cameras"));
    char text[4];
    size_t size = sizeof text;
    GC_ERROR code = 0;
    assert_int_equal(it.GCGetLastError(&code, text, &size), GC_ERR_BUFFER_TOO_SMALL);
    assert_int_equal(code, GC_ERR_ERROR);
    assert_int_equal(it.GCGetLastError(NULL, text, &size), GC_ERR_INVALID_PARAMETER);
    assert_int_equal(it.GCInitLib(), GC_ERR_RESOURCE_IN_USE);
    assert_int_equal(it.GCCloseLib(), GC_ERR_SUCCESS);
}

static void test_what_is_open_is_not_opened_again(void **state) {
    (void)state;
    producer_open(&it);
    void *handle;
    assert_int_equal(it.TLOpen(&handle), GC_ERR_RESOURCE_IN_USE);
    assert_int_equal(it.TLOpenInterface(it.system, "cameras", &handle), GC_ERR_RESOURCE_IN_USE);
    assert_int_equal(it.IFOpenDevice(it.interface, "cam01", DEVICE_ACCESS_CONTROL, &handle), GC_ERR_RESOURCE_IN_USE);
    assert_int_equal(it.DevOpenDataStream(it.device, "images", &handle), GC_ERR_RESOURCE_IN_USE);
    assert_int_equal(it.GCRegisterEvent(it.stream, EVENT_NEW_BUFFER, &handle), GC_ERR_RESOURCE_IN_USE);
    assert_int_equal(it.GCRegisterEvent(it.system, EVENT_MODULE, &handle), GC_ERR_NOT_IMPLEMENTED);
    assert_int_equal(it.TLOpenInterface(it.system, "other", &handle), GC_ERR_INVALID_ID);
    assert_int_equal(it.IFOpenDevice(it.interface, "cam03", DEVICE_ACCESS_CONTROL, &handle), GC_ERR_INVALID_ID);
    assert_int_equal(it.IFOpenDevice(it.interface, "cam02", 9, &handle), GC_ERR_INVALID_PARAMETER);
    assert_int_equal(it.DevOpenDataStream(it.device, NULL, &handle), GC_ERR_INVALID_ID);
    char id[16];
    assert_int_equal(it.IFGetDeviceID(it.interface, 2, id, &(size_t){16}), GC_ERR_INVALID_INDEX);
    assert_int_equal(it.DevGetParentIF(it.device, &handle), GC_ERR_SUCCESS);
    assert_ptr_equal(handle, it.interface);
    assert_int_equal(it.IFGetParentTL(it.interface, &handle), GC_ERR_SUCCESS);
    assert_ptr_equal(handle, it.system);
    assert_int_equal(it.DSGetParentDev(it.stream, &handle), GC_ERR_SUCCESS);
    assert_ptr_equal(handle, it.device);
    producer_close(&it);
}

/** Where a handle may be stored, NULL: refused, and nothing is opened that nobody could close. */
static void test_places_for_results_are_needed(void **state) {
    (void)state;
    producer_open(&it);
    assert_int_equal(it.IFOpenDevice(it.interface, "cam02", DEVICE_ACCESS_CONTROL, NULL), GC_ERR_INVALID_PARAMETER);
    void *handle;
    assert_int_equal(it.IFOpenDevice(it.interface, "cam02", DEVICE_ACCESS_CONTROL, &handle), GC_ERR_SUCCESS);
    assert_int_equal(it.DevOpenDataStream(handle, "images", NULL), GC_ERR_INVALID_PARAMETER);
    assert_int_equal(it.DSAllocAndAnnounceBuffer(it.stream, 8, NULL, NULL), GC_ERR_INVALID_PARAMETER);
    assert_int_equal(it.DSAllocAndAnnounceBuffer(it.stream, 0, NULL, &handle), GC_ERR_INVALID_PARAMETER);
    assert_int_equal(it.DSAllocAndAnnounceBuffer(it.stream, SIZE_MAX, NULL, &handle), GC_ERR_OUT_OF_MEMORY);
    assert_int_equal(it.DSAnnounceBuffer(it.stream, NULL, 8, NULL, &handle), GC_ERR_INVALID_PARAMETER);
    assert_int_equal(it.DSGetBufferID(it.stream, 0, &handle), GC_ERR_INVALID_INDEX);
    assert_int_equal(it.DSFlushQueue(it.stream, 5), GC_ERR_INVALID_PARAMETER);
    assert_int_equal(it.DSStartAcquisition(it.stream, ACQ_START_FLAGS_DEFAULT, 0), GC_ERR_INVALID_PARAMETER);
    assert_int_equal(it.DSStopAcquisition(it.stream, ACQ_STOP_FLAGS_KILL), GC_ERR_RESOURCE_IN_USE);
    uint8_t data[16];
    assert_int_equal(it.EventGetData(it.event, data, &(size_t){8}, 0), GC_ERR_BUFFER_TOO_SMALL);
    assert_int_equal(it.EventGetData(it.event, data, NULL, 0), GC_ERR_INVALID_PARAMETER);
    assert_int_equal(it.GCReadPort(it.camera, 0, NULL, &(size_t){8}), GC_ERR_INVALID_PARAMETER);
    producer_close(&it);
}

/** The description that the URL of a port points to. */
static char *read_description(PORT_HANDLE port) {
    char url[128];
    size_t size = sizeof url;
    assert_int_equal(it.GCGetPortURL(port, url, &size), GC_ERR_SUCCESS);
    char *end;
    uint64_t const address = strtoull(strchr(url, ';') + 1, &end, 16);
    size_t length = strtoull(end + 1, NULL, 16);
    char *text = calloc(length + 1, 1);
    assert_int_equal(it.GCReadPort(port, address, text, &length), GC_ERR_SUCCESS);
    assert_int_equal(it.GCReadPort(port, address + 1, text, &length), GC_ERR_INVALID_ADDRESS);
    assert_non_null(strstr(text, "</RegisterDescription>"));
    return text;
}

static void test_ports_have_registers_and_descriptions(void **state) {
    (void)state;
    producer_open(&it);
    void *const ports[] = {it.system, it.interface, it.device, it.stream};
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; ++i) {
        free(read_description(ports[i]));
        uint8_t value[8] = {0};
        assert_int_equal(it.GCReadPort(ports[i], 0xFF, value, &(size_t){2}), GC_ERR_INVALID_ADDRESS);
        assert_int_equal(it.GCReadPort(ports[i], UINT64_MAX, value, &(size_t){2}), GC_ERR_INVALID_ADDRESS);
        assert_int_equal(it.GCWritePort(ports[i], 0x130, value, &(size_t){8}), GC_ERR_INVALID_ADDRESS);
    }
    char *camera = read_description(it.camera);
    struct rm_pixel_format const *format;
    for (size_t i = 0; (format = rm_pixel_format_at(i)) != NULL; ++i) {
        char entry[96];
        (void)snprintf(entry, sizeof entry, "<EnumEntry Name=\"%s\"><Value>0x%08X</Value>", format->name,
                       format->number);
        if (!strstr(camera, entry))
            fail_msg("descriptions/camera.xml has no %s", entry);
    }
    free(camera);
    producer_close(&it);
}

static void test_registers_of_a_camera(void **state) {
    (void)state;
    producer_open(&it);
    uint64_t value = 0;
    assert_int_equal(it.GCReadPort(it.camera, 0x100, &value, &(size_t){8}), GC_ERR_NO_DATA);
    assert_non_null(strstr(producer_error(&it), "cam01"));
    it.fake_publish(0, 7, RM_IMAGE_WHOLE, RM_IMAGE_HAS_GEOMETRY);
    uint64_t width, length, locked = 1;
    char name[64];
    struct gentl_register reads[] = {{0x100, &width, 8}, {0x128, &length, 8}, {0x080, name, 64}, {0x148, &value, 8}};
    size_t count = 4;
    assert_int_equal(it.GCReadPortStacked(it.camera, reads, &count), GC_ERR_INVALID_ADDRESS);
    assert_int_equal(count, 3);
    assert_int_equal(width, FAKE_WIDTH);
    assert_int_equal(length, FAKE_BYTES);
    assert_string_equal(name, "cam01");
    struct gentl_register writes[] = {{0x130, &value, 8}, {0x140, &locked, 8}, {0x100, &value, 8}};
    count = 3;
    assert_int_equal(it.GCWritePortStacked(it.camera, writes, &count), GC_ERR_INVALID_ADDRESS);
    assert_int_equal(count, 2);
    assert_int_equal(it.GCReadPort(it.camera, 0x140, &value, &(size_t){8}), GC_ERR_SUCCESS);
    assert_int_equal(value, 1);
    assert_int_equal(it.GCWritePort(it.camera, 0x130, &value, &(size_t){4}), GC_ERR_INVALID_ADDRESS);
    producer_close(&it);
}

static void test_only_functions_of_gentl_are_seen(void **state) {
    (void)state;
    assert_null(dlsym(it.library, "rm_images_next"));
    assert_null(dlsym(it.library, "gentl_find"));
}

int main(int count, char **arguments) {
    if (count < 2)
        return 2;
    it = producer_load(arguments[1]);
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_nothing_works_before_it_is_initialised),
        cmocka_unit_test(test_wrong_handles_are_refused),
        cmocka_unit_test(test_handles_end_with_their_modules),
        cmocka_unit_test(test_small_buffers_are_refused),
        cmocka_unit_test(test_errors_have_their_text),
        cmocka_unit_test(test_what_is_open_is_not_opened_again),
        cmocka_unit_test(test_places_for_results_are_needed),
        cmocka_unit_test(test_ports_have_registers_and_descriptions),
        cmocka_unit_test(test_registers_of_a_camera),
        cmocka_unit_test(test_only_functions_of_gentl_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
