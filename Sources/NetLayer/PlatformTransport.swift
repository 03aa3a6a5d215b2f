extension Network {
  /// The transport of back ends that name none: one for all, since connections are its to keep.
  static let platformTransport: Result<any Transport, NetworkError> = .failure(
    NetworkError(kind: .invalidRequest, reason: "the back end has no transport"))
}
