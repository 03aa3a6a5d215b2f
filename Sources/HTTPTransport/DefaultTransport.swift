import Foundation
import Synchronization

/// Chooses the transport where the caller names none.
public enum DefaultTransport {
  /// A new transport: over libcurl on Linux, where one from 7.68 on is installed; over `URLSession` elsewhere.
  ///
  /// Where libcurl can't be used on Linux, the first call writes one line to standard error that says why, and what is
  /// lost. Pass a `URLSessionTransport` to the backend to choose it without that line.
  public static func make() -> any Transport {
    #if canImport(CCurl)
      make(notice: fallbackNotice) { try CurlTransport() }
    #else
      URLSessionTransport()
    #endif
  }

  private static let fallbackNotice = Notice { line in
    try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
  }

  /// The transport that `preferred` makes; where it throws, one over `URLSession`, after a `notice`.
  static func make(notice: Notice, _ preferred: () throws -> any Transport) -> any Transport {
    do {
      return try preferred()
    } catch {
      let reason = (error as? NetworkError)?.reason ?? "\(error)"
      notice.give(
        "NetLayer: \(reason). Requests go through URLSession instead, which takes many times the CPU and has no pins, client "
          + "certificates, proxy settings, priorities or backpressure. Install libcurl 7.68 or later (libcurl.so.4), or pass "
          + "a URLSessionTransport to the backend.")
      return URLSessionTransport()
    }
  }

  /// A line that is written once.
  final class Notice: Sendable {
    /// Set by the first who gives it, on any thread.
    private let isGiven = Atomic<Bool>(false)
    private let write: @Sendable (String) -> Void

    init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    func give(_ line: String) {
      if !isGiven.exchange(true, ordering: .relaxed) { write(line) }
    }
  }
}
