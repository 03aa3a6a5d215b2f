/// The measurements of a transfer: times in seconds, with fractions, and sizes in bytes.
///
/// A value is `nil` if the transport does not measure it. `URLSessionTransport` measures only `total`, bytes and
/// `redirects`, and a stub nothing. After redirects, the values of the connection are those of the last request.
public final class TransferMetrics: Sendable {
  /// The time spent waiting for a free connection.
  public let queued: Double?
  /// The time of the name lookup; 0 for a reused connection.
  public let nameLookup: Double?
  /// The time of the connection after the name lookup, without TLS; 0 for a reused connection.
  public let connect: Double?
  /// The time of the TLS handshake; 0 without TLS or for a reused connection.
  public let tls: Double?
  /// The time from the start to the first byte of the response.
  public let firstByte: Double?
  /// The time from the start to the end, including waits and redirects.
  public let total: Double
  /// The number of bytes of the request's body.
  public let bytesSent: Int64
  /// The number of bytes of the response's body on the wire, before its content coding is removed.
  public let bytesReceived: Int64
  /// The HTTP version: `1.0`, `1.1`, `2` or `3`.
  public let httpVersion: String?
  /// The address and port of the server or the proxy.
  public let remoteAddress: String?
  /// Whether the connection was reused.
  public let isReused: Bool?
  /// The number of redirects that were followed.
  public let redirects: Int

  /// Creates metrics, for transports and tests.
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
  /// The metrics on one line, for logs.
  public var description: String {
    func milliseconds(_ name: String, _ value: Double?) -> String? {
      value.map { "\(name) \((($0 * 10_000).rounded() / 10)) ms" }
    }
    return [
      milliseconds("total", total), milliseconds("queued", queued), milliseconds("name", nameLookup),
      milliseconds("connect", connect), milliseconds("TLS", tls), milliseconds("first byte", firstByte),
      "\(bytesSent) bytes sent, \(bytesReceived) received", httpVersion.map { "HTTP/\($0)" }, remoteAddress,
      isReused.map { $0 ? "reused connection" : "new connection" }, redirects > 0 ? "\(redirects) redirects" : nil,
    ].compactMap { $0 }.joined(separator: ", ")
  }
}
