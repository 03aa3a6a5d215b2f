#ifdef __linux__

#include "Libcurl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#ifdef CCURL_LINKED
// An instruction to lld, the linker of the Static Linux SDK. Other linkers need -lcurl.
#pragma comment(lib, "curl")
#endif

struct ccurl_functions ccurl;
ccurl_info ccurl_loaded;

enum { OLDEST_VERSION = 0x074400 };
static const char too_old[] = "libcurl is older than 7.68; update it";
static const char *failure;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool is_forked;

static void note_fork(void) { atomic_store(&is_forked, true); }
bool ccurl_is_forked(void) { return atomic_load_explicit(&is_forked, memory_order_relaxed); }

// Returns libcurl, or NULL with the reason in `failure`.
static void *open_library(void) {
#ifndef CCURL_LINKED
  // Ignored for programs with more privileges than their caller.
  const char *chosen = secure_getenv("NETLAYER_LIBCURL");
  if (chosen != NULL && *chosen != 0) {
    static char reason[512];
    void *library = OPEN(chosen);
    if (library != NULL) return library;
    snprintf(reason, sizeof reason, "the libcurl of NETLAYER_LIBCURL can't be loaded (%s); set another path, or unset the variable", dlerror());
    failure = reason;
    return NULL;
  }
#endif
  static const char *const names[] = {"libcurl.so.4", "libcurl.so", "libcurl-gnutls.so.4"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *library = OPEN(names[i]);
    if (library != NULL) return library;
  }
  failure = "libcurl.so.4, libcurl.so or libcurl-gnutls.so.4 was not found; install libcurl (Debian: libcurl4)";
  return NULL;
}

static void load(void) {
  void *library = open_library();
  if (library == NULL) return;
  const struct {
    void *function;
    void **slot;
  } symbols[] = {
#define LOOK_UP(result, name, parameters) {FIND(library, curl_##name), (void **)&ccurl.name},
    FUNCTIONS(LOOK_UP)
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    *symbols[i].slot = symbols[i].function;
    if (*symbols[i].slot == NULL) {
      failure = ccurl.version_info == NULL ? "the library that was loaded is not libcurl; check NETLAYER_LIBCURL" : too_old;
      return;
    }
  }
  if (ccurl.global_init(CURL_GLOBAL_ALL) != 0) {
    failure = "curl_global_init failed: the TLS library of libcurl could not be initialized";
    return;
  }
  const version_data *data = ccurl.version_info(CURLVERSION_SIXTH);  // libcurl returns the version that it supports
  if (data->version_num < OLDEST_VERSION) {
    failure = too_old;
    return;
  }
  pthread_atfork(NULL, NULL, note_fork);
  ccurl_tls_load(library, data->ssl_version);
  ccurl_loaded.number = data->version_num;
  ccurl_loaded.version = data->version;
  ccurl_loaded.tls = data->ssl_version;
  ccurl_loaded.features = data->features;
  if (data->age >= CURLVERSION_SEVENTH) {
    ccurl_loaded.ca_file = data->cainfo;
    ccurl_loaded.ca_directory = data->capath;
  }
}

const char *ccurl_load(void) {
  pthread_once(&once, load);
  return failure;
}

ccurl_info ccurl_get_info(void) { return ccurl_loaded; }

#endif
