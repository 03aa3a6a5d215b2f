extension Response {
  /// Returns whether `status` is temporary, so that the same request may succeed later.
  ///
  /// Every user of this set is listed here, with its difference:
  ///
  /// | who | difference | reason |
  /// |---|---|---|
  /// | `RetryInterceptor.defaultStatuses` | of 5xx only 500, 502, 503, 504 | retries within seconds |
  /// | uploads | and 423 | another request holds the upload (tus 1.0); 409 and 460 ask for the offset |
  /// | the outbox | and 409 | the first request with its key may still run |
  /// | edits of live queries | and 409, 412 | another question: has the server perhaps applied the write? |
  /// | token servers (`NetworkError.isOfUnfinishedRefresh`), events, WebSockets | – | |
  /// | `CacheRetention.isOutage` | 500, 502, 503, 504 only | RFC 5861 §4 names them |
  package static func isPassing(_ status: Int) -> Bool {
    switch status {
    // The server waited too long for the request, received it too early, or receives too many (RFC 9110 §15.5.9,
    // RFC 8470 §5.2, RFC 6585 §4).
    case 408, 425, 429: true
    // The server does not know the method or the HTTP version.
    case 501, 505: false
    default: (500...599).contains(status)
    }
  }
}
