import PortableFoundation
import Synchronization

/// A factory of the default transport of the platform.
public enum DefaultTransport {
  /// Creates a transport over libcurl on Linux, if version 7.68 or later is installed, and over `URLSession` elsewhere.
  ///
  /// If libcurl can't be used on Linux, the first call writes one line to standard error with the reason. To choose
  /// `URLSession` without this line, pass a `URLSessionTransport` to the backend. Without libcurl and the trait
  /// `URLSession`, each request fails with `connection` and a reason that names libcurl.
  public static func make() -> any Transport {
    #if canImport(CLibcurl)
      make(notice: fallbackNotice) { try CurlTransport() }
    #else
      URLSessionTransport()
    #endif
  }

  private static let fallbackNotice = Notice { line in
    StandardError.print(line)
  }

  static func make(notice: Notice, _ preferred: () throws -> any Transport) -> any Transport {
    do {
      return try preferred()
    } catch {
      return fallback(.wrapping(error), notice)
    }
  }

  #if HAS_URLSESSION
    private static func fallback(_ error: NetworkError, _ notice: Notice) -> any Transport {
      notice.give(
        "NetLayer: \(error.reason). Requests use URLSession instead, which needs much more CPU and does not support "
          + "pins, client certificates, proxy settings, priorities or backpressure. Install libcurl 7.68 or later "
          + "(libcurl.so.4), or pass a URLSessionTransport to the backend.")
      return URLSessionTransport()
    }
  #else
    /// Creates a transport that fails every request with `error` and its remedy, after a `notice`.
    private static func fallback(_ error: NetworkError, _ notice: Notice) -> any Transport {
      var error = error
      error.reason += "; every request fails, because this program was built without URLSession"
      notice.give("NetLayer: \(error.reason)")
      return UnavailableTransport(error)
    }
  #endif

  final class Notice: Sendable {
    /// Set by the first call to `give`, on any thread.
    private let isGiven = Atomic<Bool>(false)
    private let write: @Sendable (String) -> Void

    init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    func give(_ line: String) {
      if !isGiven.exchange(true, ordering: .relaxed) { write(line) }
    }
  }
}
