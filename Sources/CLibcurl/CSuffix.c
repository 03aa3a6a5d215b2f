#ifdef __linux__

#include "CSuffix.h"

#include <pthread.h>
#include <stddef.h>

#include "Linking.h"

static const void *list;
static int (*is_suffix)(const void *, const char *);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
#ifndef CCURL_LINKED
  // The Static Linux SDK does not contain it.
  void *library = OPEN("libpsl.so.5");
  if (library == NULL) return;
  const void *(*builtin)(void) = (const void *(*)(void))FIND(library, psl_builtin);
  is_suffix = (int (*)(const void *, const char *))FIND(library, psl_is_public_suffix);
  // A build without a list returns NULL.
  if (builtin != NULL && is_suffix != NULL) list = builtin();
#endif
}

bool csuffix_available(void) {
  pthread_once(&once, load);
  return list != NULL;
}

bool csuffix_contains(const char *domain) { return csuffix_available() && is_suffix(list, domain) != 0; }

#endif
