// SPDX-License-Identifier: Apache-2.0
// Borrowed bytes and texts, and the writer through which a result leaves a plugin.
//
// Ownership, everywhere in this ABI: a pointer is valid only until the call that passes it returns, unless its comment says "static" (valid
// as long as the library is loaded) or "instance" (valid until destroy returns). Nothing allocated on one side is freed on the other. A
// length above 0 never comes with a null pointer.
#ifndef SLUICE_ABI_BYTES_H
#define SLUICE_ABI_BYTES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Borrowed bytes. These two structs never grow.
typedef struct sluice_bytes {
  const uint8_t* ptr;
  uint64_t len;
} sluice_bytes;

// Borrowed UTF-8, not terminated.
typedef struct sluice_text {
  const char* ptr;
  uint64_t len;
} sluice_text;

// What a call answers. Any other value is a broken plugin (class fatal).
typedef int32_t sluice_status;
enum {
  SLUICE_OK = 0,
  SLUICE_FAILED = 1,  // the reason was given to the call's outcome writer; without one the host makes it class fatal
};

// Takes bytes of any number of pieces, in order. Provided by the host, valid for the call that passes it, used on that call's thread only.
typedef struct sluice_bytes_writer {
  uint32_t struct_size;
  uint32_t reserved;
  void* host_data;
  // Copies `len` bytes. SLUICE_FAILED: the host's limit is reached, nothing of this piece was taken, give up.
  sluice_status (*write)(void* host_data, const void* ptr, uint64_t len);
} sluice_bytes_writer;

#ifdef __cplusplus
}
#endif

#endif
