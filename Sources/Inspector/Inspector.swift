import LoopbackServer
import NetLayerRecording
import PortableFoundation

/// A page in the browser of this machine that shows the calls of a recorder when they happen.
///
/// ```swift
/// let recorder = Recorder()
/// let app = Network(Backend(baseURL: url, interceptors: [RetryInterceptor(), recorder]))
/// let inspector = try Inspector(recorder)
/// print(inspector.url)  // http://127.0.0.1:51234/7f3a…
/// ```
/// The page shows attempts with the pauses between them, cache hits, shared calls, open streams and sockets, and where the
/// time of each call went. It opens and saves HAR files. It listens only on 127.0.0.1, and only who knows the secret in the
/// URL can read it: do not log the URL in an app that others use, and leave the inspector out of a release build.
public final class Inspector: Sendable {
  /// The URL of the page. Its path is a secret, and it changes with each inspector.
  public let url: URL
  let server: TestServer

  /// The maximum number of open connections. A browser opens six for a page, and some systems allow an app only 256
  /// descriptors, which other users of the machine must not use up. A further connection closes an idle one.
  static let maxConnections = 64

  /// Starts a page with the calls of `recorder`, until `stop()` is called or the inspector is released.
  ///
  /// - Throws: `NetworkError` of kind `other` if the system provides no socket.
  public convenience init(_ recorder: Recorder) throws(NetworkError) { try self.init(.recorder(recorder)) }

  /// Starts a page with the calls of a HAR file, which this package, a browser or a proxy has saved. Secrets are replaced.
  ///
  /// - Throws: `NetworkError` of kind `file` if the file can't be read, or of kind `other` if the system provides no socket.
  public convenience init(showing file: URL) throws(NetworkError) {
    try self.init(
      .file(ArchivedCalls(HARReader.entries(of: file, hiding: .standard)), name: file.lastPathComponent))
  }

  private init(_ source: InspectedCalls) throws(NetworkError) {
    let secret = Self.secret()
    let pages = InspectorPages(source, secret: secret, session: Self.secret())
    do {
      server = try TestServer(
        maxBodySize: { pages.bodyLimit(of: $0) }, closingIdleAbove: Self.maxConnections,
        handler: { pages.respond(to: $0) })
    } catch {
      throw NetworkError(kind: .other, reason: "the inspector can't listen on 127.0.0.1: \(error)", underlying: error)
    }
    pages.port.store(server.port, ordering: .releasing)
    url = server.url("/" + secret)
  }

  /// Closes the page's connections and the port. Later calls have no effect.
  public func stop() { server.stop() }

  /// Returns 128 random bits as hexadecimal digits.
  private static func secret() -> String {
    (0..<2).map { _ in UInt64.random(in: .min ... .max).hex(digits: 16) }.joined()
  }
}
