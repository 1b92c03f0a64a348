// SPDX-License-Identifier: Apache-2.0
// Versions of the plugin ABI.
//
// The major is part of the exported symbol's name (`sluice_entry_v1`), so a plugin of another major is "symbol not found" and never
// misread. The minor is in the entry: a host loads a plugin whose minor is not above its own. Minor 0 is a draft that may change with every
// build: host and plugin must then carry the same build id, byte for byte. From minor 1 on released structs only grow at their end.
#ifndef SLUICE_ABI_VERSION_H
#define SLUICE_ABI_VERSION_H

#define SLUICE_ABI_MAJOR 1
#define SLUICE_ABI_MINOR 0

// Changes with every change of these headers while the minor is 0.
#define SLUICE_ABI_DRAFT_BUILD_ID "sluice-abi-1.0-draft.1"

// A library built with one sanitizer kills a process that was built without it or with another, already while it is loaded. The tag lets a
// loader name the reason: the build id is a plain string in the file, found by its "sluice-abi-" prefix without running anything.
#if defined(__SANITIZE_ADDRESS__)
#define SLUICE_ABI_SANITIZER_TAG "+asan"
#elif defined(__SANITIZE_THREAD__)
#define SLUICE_ABI_SANITIZER_TAG "+tsan"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLUICE_ABI_SANITIZER_TAG "+asan"
#elif __has_feature(thread_sanitizer)
#define SLUICE_ABI_SANITIZER_TAG "+tsan"
#elif __has_feature(memory_sanitizer)
#define SLUICE_ABI_SANITIZER_TAG "+msan"
#endif
#endif
#ifndef SLUICE_ABI_SANITIZER_TAG
#define SLUICE_ABI_SANITIZER_TAG ""
#endif

// What both sides compare: the draft and the sanitizer, for example "sluice-abi-1.0-draft.1+asan".
#define SLUICE_ABI_BUILD_ID SLUICE_ABI_DRAFT_BUILD_ID SLUICE_ABI_SANITIZER_TAG

#endif
