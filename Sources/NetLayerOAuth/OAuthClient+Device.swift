import PortableFoundation

extension OAuthClient {
  /// A code that a user enters on another device.
  public struct DeviceCode: Sendable, Hashable {
    /// The code to enter, such as `WDJB-MJHT`.
    public let code: String
    /// The page on which the user enters the code.
    public let url: URL
    /// The same page with the code, for example for a QR code; `nil` if the server has none.
    public let completeURL: URL?
    /// The time until the code expires.
    public let lifetime: Duration
  }

  /// Signs a user in on another device, for tools and devices without a browser (RFC 8628).
  ///
  /// The server is asked every 5 s, or at its own interval, on the clock of the network; less often if it says so or is down.
  ///
  /// - Parameters:
  ///   - isolation: The actor of the caller, on which `show` runs.
  ///   - show: A closure that shows the code, and returns without waiting for the user.
  /// - Throws: `NetworkError`, of kind `rejected` if the user or the server refuses, `timeout` when the code has expired,
  ///   `cancelled` if the task is cancelled. An error of `show` is the `underlying` of one of kind `other`.
  public func authorizeDevice(
    isolation: isolated (any Actor)? = #isolation, show: (DeviceCode) async throws -> Void
  ) async throws(NetworkError) -> OAuthGrant {
    let server = try await server()
    let response = try await post(request([:]), to: server.device, "device authorization", of: server)
    let form = [
      "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": try response.text("device_code"),
    ]
    var polling = DevicePolling(response, from: now)
    let code = try DeviceCode(response, .seconds(polling.lifetime))
    do { try await show(code) } catch { throw NetworkError.wrapping(error) }
    while let pause = polling.pause(at: now) {
      _ = try await network.awaited(Observable<Int>.timer(pause, scheduler: network.backend.clock).asSingle())
      do { return try grant(try await token(form, from: server), from: server, nonce: nil) } catch {
        try polling.note(error)
      }
    }
    var error = NetworkError(kind: .timeout, reason: "the code expired after \(code.lifetime.text); start again")
    error.oauthCode = "expired_token"
    throw error
  }
}

extension OAuthClient.DeviceCode {
  fileprivate init(_ response: TokenResponse, _ lifetime: Duration) throws(NetworkError) {
    // Google's name of the page is older than the RFC.
    let page = try response.text(response.fields["verification_url"].exists ? "verification_url" : "verification_uri")
    guard let url = Self.page(page) else { throw response.invalid("its verification_uri is not an http or https URL") }
    (code, self.url, self.lifetime) = (try response.text("user_code"), url, lifetime)
    completeURL = response.fields["verification_uri_complete"].string.flatMap(Self.page)
  }

  /// Returns a page that a browser may open: another scheme could start a program.
  private static func page(_ text: String) -> URL? {
    URL(text: text).flatMap { ["https", "http"].contains($0.scheme?.lowercased()) ? $0 : nil }
  }
}

/// The pauses of a device that waits for its user (RFC 8628 §3.5).
struct DevicePolling {
  /// The lifetime of the code in seconds; 15 minutes if the server states none, although it must (§3.2).
  let lifetime: Double
  private var interval: Double
  /// The pause that the last response asked for (RFC 9110 §10.2.3).
  private var asked = 0.0
  private let start: Date

  init(_ response: TokenResponse, from start: Date) {
    (lifetime, self.start) = (response.fields["expires_in"].lifetime ?? 900, start)
    interval = max(1, response.fields["interval"].lifetime ?? 5)
  }

  /// Returns the pause before the next request; `nil` when the code has expired.
  func pause(at now: Date) -> Duration? {
    let rest = lifetime - now.timeIntervalSince(start)
    return rest > 0 ? .seconds(min(max(interval, asked), rest)) : nil
  }

  /// Adapts the interval to an error after which the server is asked again; throws any other one.
  mutating func note(_ error: NetworkError) throws(NetworkError) {
    asked = error.retryAfter.map { $0 / .seconds(1) } ?? 0
    switch error.oauthCode {
    case "authorization_pending": return
    case "slow_down":
      let stated = error.response.flatMap { try? JSON(parsing: $0.body)["interval"].lifetime }
      interval = max(interval + 5, stated ?? 0)
    case nil where error.isOutage: interval = max(interval, min(2 * interval, 60))
    default: throw error
    }
  }
}
