#ifndef CCODING_H
#define CCODING_H

// Decoders of content codings, from the libraries that libcurl itself is linked with, found at run time: libcurl's own
// decoding takes a body that is cut short for a whole one, and inflates without a limit on what it hands out at once.

#include <stdbool.h>
#include <stddef.h>

// The content codings (RFC 9110 §8.4.1, RFC 7932, RFC 8878).
enum { CCODING_GZIP = 1, CCODING_DEFLATE = 2, CCODING_BROTLI = 4, CCODING_ZSTD = 8 };

// The codings that can be decoded here. Thread-safe.
int ccoding_available(void);

typedef struct ccoding ccoding;
// A decoder of one coding; NULL without memory or where the coding is not available.
ccoding *ccoding_make(int coding);
void ccoding_free(ccoding *decoder);

// What a step came to: at the end of what is coded, somewhere in it, or at bytes that are not coded so.
enum { CCODING_INSIDE = 0, CCODING_AT_END = 1, CCODING_BROKEN = 2, CCODING_BEHIND_END = 3, CCODING_NO_MEMORY = 4 };
typedef struct {
  size_t consumed, produced;
  int state;
} ccoding_step;
// Decodes what fits into `output`; again with the rest of `input` while it produces something.
ccoding_step ccoding_run(ccoding *decoder, const void *input, size_t input_count, void *output, size_t output_count);

#endif
