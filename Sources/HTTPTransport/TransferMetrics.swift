import PortableFoundation

/// The measurements of a transfer: times, and sizes in bytes.
///
/// A value is `nil` if the transport does not measure it. On Linux, `URLSessionTransport` measures only `total`, bytes
/// and `redirects`. A stub measures nothing. After redirects, the connection's values describe the last request.
///
/// On Apple platforms, the phases of `URLSessionTransport` are differences of the system's clock. A phase is `nil` if the
/// clock was set back meanwhile. They are not available for a request that the transport ends itself, for example at a
/// limit.
public struct TransferMetrics: Sendable, Hashable {
  /// The time spent waiting for a free connection.
  public let queued: Duration?
  /// The time of the name lookup; zero for a reused connection.
  public let nameLookup: Duration?
  /// The time of the connection after the name lookup, without TLS; zero for a reused connection.
  public let connect: Duration?
  /// The time of the TLS handshake; zero without TLS or for a reused connection.
  public let tls: Duration?
  /// The time of sending the request on its connection; with HTTP/2, without the bytes that are still buffered. `nil` before
  /// libcurl 8.10.
  public let send: Duration?
  /// The time from the start to the first byte of the response.
  public let firstByte: Duration?
  /// The time from the start to the end, including waits and redirects.
  public let total: Duration
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
    queued: Duration? = nil, nameLookup: Duration? = nil, connect: Duration? = nil, tls: Duration? = nil,
    send: Duration? = nil, firstByte: Duration? = nil, total: Duration, bytesSent: Int64 = 0, bytesReceived: Int64 = 0,
    httpVersion: String? = nil, remoteAddress: String? = nil, isReused: Bool? = nil, redirects: Int = 0
  ) {
    self.queued = queued
    self.nameLookup = nameLookup
    self.connect = connect
    self.tls = tls
    self.send = send
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

extension TransferMetrics {
  /// Returns the measurements of a transfer whose redirects, with `earlier` as their measurements, the caller has followed.
  package func following(_ earlier: TransferMetrics) -> TransferMetrics {
    TransferMetrics(
      queued: queued.map { $0 + (earlier.queued ?? .zero) }, nameLookup: nameLookup, connect: connect, tls: tls,
      send: send, firstByte: firstByte.map { $0 + earlier.total }, total: total + earlier.total, bytesSent: bytesSent,
      bytesReceived: bytesReceived, httpVersion: httpVersion, remoteAddress: remoteAddress, isReused: isReused,
      redirects: redirects + earlier.redirects + 1)
  }
}

extension TransferMetrics: CustomStringConvertible {
  /// The metrics on one line, for logs.
  public var description: String {
    func milliseconds(_ name: String, _ value: Duration?) -> String? {
      value.map { "\(name) \((($0.inSeconds * 10_000).rounded() / 10)) ms" }
    }
    return [
      milliseconds("total", total), milliseconds("queued", queued), milliseconds("name", nameLookup),
      milliseconds("connect", connect), milliseconds("TLS", tls), milliseconds("send", send),
      milliseconds("first byte", firstByte),
      "\(bytesSent) bytes sent, \(bytesReceived) received", httpVersion.map { "HTTP/\($0)" }, remoteAddress,
      isReused.map { $0 ? "reused connection" : "new connection" }, redirects > 0 ? "\(redirects) redirects" : nil,
    ].compactMap { $0 }.joined(separator: ", ")
  }
}
