import HTTPTransport

extension Request {
  /// Returns the redaction with which the request is shown: that of its backend, with the names of `own`.
  ///
  /// The logger, the recorder, recordings, curl commands and the attributes of events use it, so that a secret that was named
  /// once is hidden everywhere. With ``/HTTPTransport/Redaction/none``, nothing is hidden.
  public func redaction(adding own: Redaction = .inherited) -> Redaction {
    let backend = context[ResponseContext.self]?.redaction ?? options.redaction
    let all = backend.hidesNothing ? backend : backend.hiding(options.redaction)
    if own == .inherited { return all }
    return own.hidesNothing ? own : own.hiding(all)
  }
}
