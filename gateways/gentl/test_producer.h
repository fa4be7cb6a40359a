// SPDX-License-Identifier: Apache-2.0
/** The producer as a program of others has it: loaded by dlopen, every function found by its name. Its cameras are those
 * of fake_frames.h. */
#ifndef GENTL_TEST_PRODUCER_H
#define GENTL_TEST_PRODUCER_H

#include "fake_frames.h"
#include "gentl.h"

/** All functions of GenTL that it has, and those of the fake. */
#define GENTL_FUNCTIONS(X)                                                                                             \
    X(GCInitLib);                                                                                                      \
    X(GCCloseLib);                                                                                                     \
    X(GCGetInfo);                                                                                                      \
    X(GCGetLastError);                                                                                                 \
    X(GCReadPort);                                                                                                     \
    X(GCWritePort);                                                                                                    \
    X(GCReadPortStacked);                                                                                              \
    X(GCWritePortStacked);                                                                                             \
    X(GCGetPortInfo);                                                                                                  \
    X(GCGetPortURL);                                                                                                   \
    X(GCGetNumPortURLs);                                                                                               \
    X(GCGetPortURLInfo);                                                                                               \
    X(GCRegisterEvent);                                                                                                \
    X(GCUnregisterEvent);                                                                                              \
    X(EventGetData);                                                                                                   \
    X(EventGetDataInfo);                                                                                               \
    X(EventGetInfo);                                                                                                   \
    X(EventFlush);                                                                                                     \
    X(EventKill);                                                                                                      \
    X(TLOpen);                                                                                                         \
    X(TLClose);                                                                                                        \
    X(TLGetInfo);                                                                                                      \
    X(TLGetNumInterfaces);                                                                                             \
    X(TLGetInterfaceID);                                                                                               \
    X(TLGetInterfaceInfo);                                                                                             \
    X(TLOpenInterface);                                                                                                \
    X(TLUpdateInterfaceList);                                                                                          \
    X(IFClose);                                                                                                        \
    X(IFGetParentTL);                                                                                                  \
    X(IFGetInfo);                                                                                                      \
    X(IFGetNumDevices);                                                                                                \
    X(IFGetDeviceID);                                                                                                  \
    X(IFGetDeviceInfo);                                                                                                \
    X(IFOpenDevice);                                                                                                   \
    X(IFUpdateDeviceList);                                                                                             \
    X(DevClose);                                                                                                       \
    X(DevGetParentIF);                                                                                                 \
    X(DevGetPort);                                                                                                     \
    X(DevGetInfo);                                                                                                     \
    X(DevGetNumDataStreams);                                                                                           \
    X(DevGetDataStreamID);                                                                                             \
    X(DevOpenDataStream);                                                                                              \
    X(DSClose);                                                                                                        \
    X(DSGetParentDev);                                                                                                 \
    X(DSGetInfo);                                                                                                      \
    X(DSAnnounceBuffer);                                                                                               \
    X(DSAllocAndAnnounceBuffer);                                                                                       \
    X(DSRevokeBuffer);                                                                                                 \
    X(DSQueueBuffer);                                                                                                  \
    X(DSFlushQueue);                                                                                                   \
    X(DSStartAcquisition);                                                                                             \
    X(DSStopAcquisition);                                                                                              \
    X(DSGetBufferID);                                                                                                  \
    X(DSGetBufferInfo);                                                                                                \
    X(DSGetBufferChunkData);                                                                                           \
    X(DSGetNumBufferParts);                                                                                            \
    X(DSGetBufferPartInfo);                                                                                            \
    X(fake_publish);                                                                                                   \
    X(fake_await_reader);                                                                                              \
    X(fake_await_refusal);                                                                                             \
    X(fake_end);                                                                                                       \
    X(fake_leases);                                                                                                    \
    X(fake_bytes)

struct producer {
    void *library;
#define GENTL_MEMBER(name) __typeof__(name) *name
    GENTL_FUNCTIONS(GENTL_MEMBER);
#undef GENTL_MEMBER
    TL_HANDLE system;
    IF_HANDLE interface;
    DEV_HANDLE device;
    PORT_HANDLE camera;
    DS_HANDLE stream;
    EVENT_HANDLE event;
};

/** Loads it; the path is the test's first argument. */
struct producer producer_load(char const *path);

/** Opens everything for cam01: system, interface, device, stream, event; and closes it all. */
void producer_open(struct producer *it);
void producer_close(struct producer *it);

/** The text of the last error. */
char const *producer_error(struct producer const *it);

#endif
