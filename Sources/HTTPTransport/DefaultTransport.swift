import PortableFoundation
import Synchronization

/// Chooses the transport where the caller names none.
public enum DefaultTransport {
  /// A new transport: over libcurl on Linux, where one from 7.68 on is installed; over `URLSession` elsewhere.
  ///
  /// Where libcurl can't be used on Linux, the first call writes one line to standard error that says why, and what is
  /// lost. Pass a `URLSessionTransport` to the backend to choose it without that line. A package built without the trait
  /// `URLSession` has none on Linux: there, each request then fails with `connection`, and the reason names libcurl.
  public static func make() -> any Transport {
    #if canImport(CCurl)
      make(notice: fallbackNotice) { try CurlTransport() }
    #else
      URLSessionTransport()
    #endif
  }

  private static let fallbackNotice = Notice { line in
    StandardError.print(line)
  }

  /// The transport that `preferred` makes; where it throws, the one of `fallback`.
  static func make(notice: Notice, _ preferred: () throws -> any Transport) -> any Transport {
    do {
      return try preferred()
    } catch {
      return fallback(.wrapping(error), notice)
    }
  }

  #if HAS_URLSESSION
    /// A transport over `URLSession`, after a `notice`.
    private static func fallback(_ error: NetworkError, _ notice: Notice) -> any Transport {
      notice.give(
        "NetLayer: \(error.reason). Requests go through URLSession instead, which takes many times the CPU and has no pins, "
          + "client certificates, proxy settings, priorities or backpressure. Install libcurl 7.68 or later (libcurl.so.4), "
          + "or pass a URLSessionTransport to the backend.")
      return URLSessionTransport()
    }
  #else
    /// A transport that fails every request with `error` and its remedy, after a `notice`.
    private static func fallback(_ error: NetworkError, _ notice: Notice) -> any Transport {
      var error = error
      error.reason += "; every request fails, as this program was built without URLSession"
      notice.give("NetLayer: \(error.reason)")
      return UnavailableTransport(error)
    }
  #endif

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
