/// What an exchange took: times in seconds, as fractions, and bytes.
///
/// `nil` where the transport does not know: `URLSessionTransport` knows `total`, bytes and `redirects` only, a stub nothing.
/// Over several redirects, what belongs to a connection is that of the last one.
public final class TransferMetrics: Sendable {
  /// How long it waited for a connection to be free.
  public let queued: Double?
  /// How long the host's name took to resolve; 0 on a connection that was kept.
  public let nameLookup: Double?
  /// How long the connection took from then on, TLS aside; 0 on a connection that was kept.
  public let connect: Double?
  /// How long TLS took; 0 without, or on a connection that was kept.
  public let tls: Double?
  /// From the start until the answer's first byte.
  public let firstByte: Double?
  /// From the start to the end, waiting and redirects included.
  public let total: Double
  /// Bytes of the request's body.
  public let bytesSent: Int64
  /// Bytes of the answer's body as they came over the wire, content coding included.
  public let bytesReceived: Int64
  /// `1.0`, `1.1`, `2` or `3`.
  public let httpVersion: String?
  /// The server's or the proxy's address and port.
  public let remoteAddress: String?
  /// Whether the connection had served before.
  public let isReused: Bool?
  /// How many redirects were followed.
  public let redirects: Int

  /// Metrics, as a transport or a test makes them.
  public init(
    queued: Double? = nil, nameLookup: Double? = nil, connect: Double? = nil, tls: Double? = nil,
    firstByte: Double? = nil, total: Double, bytesSent: Int64 = 0, bytesReceived: Int64 = 0,
    httpVersion: String? = nil, remoteAddress: String? = nil, isReused: Bool? = nil, redirects: Int = 0
  ) {
    self.queued = queued
    self.nameLookup = nameLookup
    self.connect = connect
    self.tls = tls
    self.firstByte = firstByte
    self.total = total
    self.bytesSent = bytesSent
    self.bytesReceived = bytesReceived
    self.httpVersion = httpVersion
    self.remoteAddress = remoteAddress
    self.isReused = isReused
    self.redirects = redirects
  }
}

extension TransferMetrics: CustomStringConvertible {
  /// One line for a log.
  public var description: String {
    func milliseconds(_ name: String, _ value: Double?) -> String? {
      value.map { "\(name) \((($0 * 10_000).rounded() / 10)) ms" }
    }
    return [
      milliseconds("total", total), milliseconds("queued", queued), milliseconds("name", nameLookup),
      milliseconds("connect", connect), milliseconds("TLS", tls), milliseconds("first byte", firstByte),
      "\(bytesSent) bytes sent, \(bytesReceived) received", httpVersion.map { "HTTP/\($0)" }, remoteAddress,
      isReused.map { $0 ? "kept connection" : "new connection" }, redirects > 0 ? "\(redirects) redirects" : nil,
    ].compactMap { $0 }.joined(separator: ", ")
  }
}
