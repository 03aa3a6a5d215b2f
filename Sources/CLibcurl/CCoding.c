#ifdef __linux__

#include "CCoding.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "Linking.h"
#include "ZStream.h"

enum { BROTLI_ERROR = 0, BROTLI_SUCCESS = 1 };

// zstd's buffers (zstd.h).
typedef struct {
  const void *src;
  size_t size, pos;
} zstd_input;
typedef struct {
  void *dst;
  size_t size, pos;
} zstd_output;
// ZSTD_d_windowLogMax, and the window of 8 MB that RFC 9659 permits.
enum { ZSTD_WINDOW_LOG_MAX = 100, ZSTD_WINDOW_LOG = 23 };

static struct {
  const zlib_functions *zlib;
  void *(*brotli_make)(void *, void *, void *);
  void (*brotli_free)(void *);
  int (*brotli_run)(void *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
  void *(*zstd_make)(void);
  size_t (*zstd_free)(void *);
  size_t (*zstd_run)(void *, zstd_output *, zstd_input *);
  unsigned (*zstd_is_error)(size_t);
  size_t (*zstd_set)(void *, int, int);
} library;

static int available;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  library.zlib = zlib_load();
  if (library.zlib != NULL) available |= CCODING_GZIP | CCODING_DEFLATE;
#ifndef CCURL_LINKED
  // The Static Linux SDK contains neither of them.
  void *brotli = dlopen("libbrotlidec.so.1", RTLD_NOW | RTLD_LOCAL);
  if (brotli != NULL) {
    library.brotli_make = dlsym(brotli, "BrotliDecoderCreateInstance");
    library.brotli_free = dlsym(brotli, "BrotliDecoderDestroyInstance");
    library.brotli_run = dlsym(brotli, "BrotliDecoderDecompressStream");
    if (library.brotli_make && library.brotli_free && library.brotli_run) available |= CCODING_BROTLI;
  }
  void *zstd = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  if (zstd != NULL) {
    library.zstd_make = dlsym(zstd, "ZSTD_createDStream");
    library.zstd_free = dlsym(zstd, "ZSTD_freeDStream");
    library.zstd_run = dlsym(zstd, "ZSTD_decompressStream");
    library.zstd_is_error = dlsym(zstd, "ZSTD_isError");
    library.zstd_set = dlsym(zstd, "ZSTD_DCtx_setParameter");
    if (library.zstd_make && library.zstd_free && library.zstd_run && library.zstd_is_error && library.zstd_set) {
      available |= CCODING_ZSTD;
    }
  }
#endif
}

int ccoding_available(void) {
  pthread_once(&once, load);
  return available;
}

struct ccoding {
  int coding;
  // Whether the last step reached the end.
  bool is_at_end;
  bool has_begun;
  // Whether zeros follow the end.
  bool is_padded;
  z_stream zlib;
  void *other;
};

ccoding *ccoding_make(int coding) {
  if ((ccoding_available() & coding) == 0) return NULL;
  ccoding *decoder = calloc(1, sizeof *decoder);
  if (decoder == NULL) return NULL;
  decoder->coding = coding;
  if (coding == CCODING_BROTLI) decoder->other = library.brotli_make(NULL, NULL, NULL);
  if (coding == CCODING_ZSTD) {
    decoder->other = library.zstd_make();
    if (decoder->other != NULL) library.zstd_set(decoder->other, ZSTD_WINDOW_LOG_MAX, ZSTD_WINDOW_LOG);
  }
  if (coding >= CCODING_BROTLI && decoder->other == NULL) {
    free(decoder);
    return NULL;
  }
  return decoder;
}

void ccoding_free(ccoding *decoder) {
  if (decoder->coding < CCODING_BROTLI) {
    if (decoder->has_begun) library.zlib->inflateEnd(&decoder->zlib);
  } else if (decoder->coding == CCODING_BROTLI) {
    library.brotli_free(decoder->other);
  } else {
    library.zstd_free(decoder->other);
  }
  free(decoder);
}

// Returns the window bits of inflateInit2 for data that begins with `first`: those of gzip, zlib or raw deflate, which
// many servers send as "deflate" (RFC 9110 §8.4.1.2). No encoder starts a raw stream with bytes like zlib's header.
static int window_bits(int coding, uint8_t first) {
  if (coding == CCODING_GZIP) return 15 + 16;
  return (first & 0x0f) == 8 && first >> 4 <= 7 ? 15 : -15;
}

static int begin_zlib(ccoding *decoder, uint8_t first) {
  if (!decoder->has_begun) {
    decoder->has_begun = true;
    // zlib checks the first character of the version and the size of the structure.
    int bits = window_bits(decoder->coding, first);
    int code = library.zlib->inflateInit2(&decoder->zlib, bits, "1.2.0", (int)sizeof decoder->zlib);
    if (code != Z_OK) decoder->has_begun = false;
    return code == Z_OK ? CCODING_INSIDE : CCODING_NO_MEMORY;
  }
  if (!decoder->is_at_end) return CCODING_INSIDE;
  // A gzip body may have several members (RFC 1952 §2.2).
  if (decoder->coding != CCODING_GZIP || decoder->is_padded || first != 0x1f) return CCODING_BEHIND_END;
  decoder->is_at_end = false;
  return library.zlib->inflateReset(&decoder->zlib) == Z_OK ? CCODING_INSIDE : CCODING_BROKEN;
}

static ccoding_step run_zlib(ccoding *decoder, const uint8_t *input, size_t input_count, void *output, size_t count) {
  ccoding_step step = {0, 0, CCODING_INSIDE};
  if (decoder->is_at_end && decoder->coding == CCODING_GZIP && input_count > 0 && input[0] == 0) {
    // Zeros pad a gzip body to a block size, as on tapes; gunzip, Node and Python's requests ignore them.
    while (step.consumed < input_count && input[step.consumed] == 0) step.consumed++;
    decoder->is_padded = true;
    step.state = CCODING_AT_END;
    return step;
  }
  if (input_count > 0 && (!decoder->has_begun || decoder->is_at_end)) {
    step.state = begin_zlib(decoder, input[0]);
    if (step.state != CCODING_INSIDE) return step;
  }
  if (!decoder->has_begun || decoder->is_at_end) {
    step.state = decoder->is_at_end ? CCODING_AT_END : CCODING_INSIDE;
    return step;
  }
  zlib_step ran = zlib_run(&decoder->zlib, library.zlib->inflate, 0, input, input_count, output, count);
  step.consumed = ran.consumed;
  step.produced = ran.produced;
  if (ran.code == Z_STREAM_END) {
    decoder->is_at_end = true;
    step.state = CCODING_AT_END;
  } else if (ran.code == Z_MEM_ERROR) {
    step.state = CCODING_NO_MEMORY;
  } else if (ran.code != Z_OK && ran.code != Z_BUF_ERROR) {
    step.state = CCODING_BROKEN;
  }
  return step;
}

static ccoding_step run_brotli(ccoding *decoder, const uint8_t *input, size_t input_count, void *output, size_t count) {
  ccoding_step step = {0, 0, CCODING_AT_END};
  if (decoder->is_at_end) {
    if (input_count > 0) step.state = CCODING_BEHIND_END;
    return step;
  }
  size_t in = input_count, out = count;
  uint8_t *next = output;
  int result = library.brotli_run(decoder->other, &in, &input, &out, &next, NULL);
  step.consumed = input_count - in;
  step.produced = count - out;
  decoder->is_at_end = result == BROTLI_SUCCESS;
  step.state = result == BROTLI_ERROR ? CCODING_BROKEN : decoder->is_at_end ? CCODING_AT_END : CCODING_INSIDE;
  return step;
}

static ccoding_step run_zstd(ccoding *decoder, const void *input, size_t input_count, void *output, size_t count) {
  ccoding_step step = {0, 0, CCODING_AT_END};
  // Another frame may follow a frame (RFC 8878 §3.1).
  if (decoder->is_at_end && input_count == 0) return step;
  zstd_input in = {input, input_count, 0};
  zstd_output out = {output, count, 0};
  size_t result = library.zstd_run(decoder->other, &out, &in);
  step.consumed = in.pos;
  step.produced = out.pos;
  decoder->is_at_end = result == 0;
  step.state = library.zstd_is_error(result) ? CCODING_BROKEN : decoder->is_at_end ? CCODING_AT_END : CCODING_INSIDE;
  return step;
}

ccoding_step ccoding_run(ccoding *decoder, const void *input, size_t input_count, void *output, size_t output_count) {
  switch (decoder->coding) {
    case CCODING_BROTLI: return run_brotli(decoder, input, input_count, output, output_count);
    case CCODING_ZSTD: return run_zstd(decoder, input, input_count, output, output_count);
    default: return run_zlib(decoder, input, input_count, output, output_count);
  }
}

#endif
