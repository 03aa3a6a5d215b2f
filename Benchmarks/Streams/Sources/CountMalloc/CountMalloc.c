#include "CountMalloc.h"
#include <stddef.h>

#ifdef __GLIBC__
#define COUNTED 1
#else
#include <features.h>
#ifdef __GLIBC__
#define COUNTED 1
#endif
#endif

#ifdef COUNTED
// The executable's malloc takes precedence over the C library's, so every allocation passes here.
extern void *__libc_malloc(size_t size);
static long calls;
static long bytes;

void *malloc(size_t size) {
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&bytes, (long)size, __ATOMIC_RELAXED);
  return __libc_malloc(size);
}

long count_malloc(void) { return __atomic_load_n(&calls, __ATOMIC_RELAXED); }
long count_bytes(void) { return __atomic_load_n(&bytes, __ATOMIC_RELAXED); }
#else
long count_malloc(void) { return 0; }
long count_bytes(void) { return 0; }
#endif
