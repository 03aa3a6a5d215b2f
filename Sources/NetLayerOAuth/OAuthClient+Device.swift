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
  /// ```swift
  /// let grant = try await login.authorizeDevice { print("Enter \($0.code) at \($0.url.absoluteString)") }
  /// ```
  /// The server is asked every 5 s, or at its own interval. It is asked less often if it says so, or while it is down. The
  /// pauses are on the clock of the network.
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
    let answer = try await post(request([:]), to: server.device, "device authorization", of: server)
    let secret = try answer.text("device_code")
    let (shown, start) = (try DeviceCode(answer), now)
    var polling = DevicePolling(answer, from: start)
    do { try await show(shown) } catch { throw NetworkError.wrapping(error) }
    while let pause = polling.pause(at: now) {
      _ = try await network.awaited(Observable<Int>.timer(pause, scheduler: network.backend.clock).asSingle())
      let form = ["grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": secret]
      let response: TokenResponse
      do { response = try await token(form, from: server) } catch {
        try polling.note(error)
        continue
      }
      return try grant(response, from: server, nonce: nil)
    }
    var error = NetworkError(kind: .timeout, reason: "the code expired after \(shown.lifetime.text); start again")
    error.oauthCode = "expired_token"
    throw error
  }
}

extension OAuthClient.DeviceCode {
  fileprivate init(_ answer: TokenResponse) throws(NetworkError) {
    code = try answer.text("user_code")
    // Google's name of the page is older than the RFC.
    let page = try answer.text(answer.fields["verification_url"].exists ? "verification_url" : "verification_uri")
    guard let url = Self.page(page) else { throw answer.invalid("its verification_uri is not an http or https URL") }
    self.url = url
    completeURL = answer.fields["verification_uri_complete"].string.flatMap(Self.page)
    lifetime = .seconds(DevicePolling.lifetime(of: answer))
  }

  /// Returns a page that a browser may open: another scheme could start a program.
  private static func page(_ text: String) -> URL? {
    URL(string: text).flatMap { ["https", "http"].contains($0.scheme?.lowercased()) ? $0 : nil }
  }
}

/// The pauses of a device that waits for its user (RFC 8628 §3.5).
struct DevicePolling {
  private(set) var interval: Double
  private let deadline: Date

  init(_ answer: TokenResponse, from start: Date) {
    interval = max(1, answer.fields["interval"].lifetime ?? 5)
    deadline = start + Self.lifetime(of: answer)
  }

  /// The lifetime of the code in seconds; 15 minutes if the server states none, although it must (§3.2).
  static func lifetime(of answer: TokenResponse) -> Double { answer.fields["expires_in"].lifetime ?? 900 }

  /// Returns the pause before the next request; `nil` when the code has expired.
  func pause(at now: Date) -> Duration? {
    let rest = deadline.timeIntervalSince(now)
    return rest > 0 ? .seconds(min(interval, rest)) : nil
  }

  /// Adapts the interval to an error after which the server is asked again; throws any other one.
  mutating func note(_ error: NetworkError) throws(NetworkError) {
    switch error.oauthCode {
    case "authorization_pending": return
    case "slow_down":
      let stated = error.response.flatMap { try? JSON(parsing: $0.body)["interval"].lifetime }
      interval = max(interval, stated ?? interval + 5)
    case nil where error.isOutage: interval = max(interval, min(2 * interval, 60))
    default: throw error
    }
  }
}
