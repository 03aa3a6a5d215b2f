#ifdef __linux__

#include "Libcurl.h"

#include <string.h>

// OpenSSL's constants: the event of a received alert, and the warning close_notify.
enum { SSL_CB_READ_ALERT = 0x4004, CLOSE_NOTIFY = 0x100 };

struct ccurl_openssl ccurl_tls;
_Thread_local ccurl_multi *ccurl_current;

void ccurl_tls_load(void *library, const char *version) {
#ifdef CCURL_LINKED
  // Not with a library that may be BoringSSL. There, libcurl alone decides about the end of a connection.
  (void)library;
  (void)version;
#else
  // If the process has several OpenSSL libraries, use libcurl's: another one's functions would misread its structures.
  // The lookup covers libcurl and its dependencies. It finds nothing if libcurl contains an OpenSSL that it hides.
  if (version == NULL || strncmp(version, "OpenSSL/", 8) != 0) return;
  *(void **)&ccurl_tls.set_info_callback = dlsym(library, "SSL_set_info_callback");
  *(void **)&ccurl_tls.has_pending = dlsym(library, "SSL_has_pending");
#endif
}

static void note_alert(const void *ssl, int where, int alert) {
  if (where != SSL_CB_READ_ALERT || alert != CLOSE_NOTIFY || ccurl_current == NULL) return;
  for (int socket = 0; socket < ccurl_current->count; socket++) {
    if (ccurl_current->sockets[socket].tls != ssl) continue;
    ccurl_current->sockets[socket].is_notified = true;
  }
}

void *ccurl_tls_connection(void *easy) {
  struct {
    int backend;
    void *internals;
  } *session = NULL;
  if (ccurl_tls.set_info_callback == NULL || ccurl_tls.has_pending == NULL) return NULL;
  if (ccurl.easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) return NULL;
  return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

void ccurl_multi_watch_tls(ccurl_multi *multi, void *easy, ccurl_transfer *transfer) {
  void *connection = is_open(multi, transfer) ? ccurl_tls_connection(easy) : NULL;
  transfer->is_watched = connection != NULL;
  if (connection == NULL || multi->sockets[transfer->socket].tls == connection) return;
  multi->sockets[transfer->socket].tls = connection;
  ccurl_tls.set_info_callback(connection, note_alert);
}

bool ccurl_multi_is_notified(const ccurl_multi *multi, const ccurl_transfer *transfer) {
  if (is_open(multi, transfer)) return multi->sockets[transfer->socket].is_notified;
  for (unsigned i = 0; i < CLOSED; i++) {
    if (multi->closed[i].connection == transfer->connection) return multi->closed[i].is_notified;
  }
  return false;
}

#endif
