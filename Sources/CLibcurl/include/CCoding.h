#ifndef CCODING_H
#define CCODING_H

// Decoders of content codings, from the libraries that libcurl is linked with, loaded at run time. The decoding of
// libcurl itself accepts a truncated body as complete, and does not limit the output of one call.

#include <stdbool.h>
#include <stddef.h>

// The content codings (RFC 9110 §8.4.1, RFC 7932, RFC 8878).
enum { CCODING_GZIP = 1, CCODING_DEFLATE = 2, CCODING_BROTLI = 4, CCODING_ZSTD = 8 };

// Returns the available codings. Thread-safe.
int ccoding_available(void);

typedef struct ccoding ccoding;
// Creates a decoder of one coding. Returns NULL if memory is low or the coding is not available.
ccoding *ccoding_make(int coding);
void ccoding_free(ccoding *decoder);

// The state after a step: inside the coded data, at its end, or at invalid bytes.
enum { CCODING_INSIDE = 0, CCODING_AT_END = 1, CCODING_BROKEN = 2, CCODING_BEHIND_END = 3, CCODING_NO_MEMORY = 4 };
typedef struct {
  size_t consumed, produced;
  int state;
} ccoding_step;
// Decodes as much as fits into `output`. Call it again with the rest of `input` as long as it produces output.
ccoding_step ccoding_run(ccoding *decoder, const void *input, size_t input_count, void *output, size_t output_count);

#endif
