import CCurl
import NetLayer

/// The requests of the app.
public struct UserRequests: Sendable {
  private let network: Network

  /// Creates the requests of one backend.
  public init(_ network: Network) { self.network = network }

  /// Returns the body for a user.
  public func user(_ id: Int) async throws(NetworkError) -> Response {
    try await network.fetch(.get("/users/\(id)", headers: ["X-Version": "\(ccurl_version() == CURLE_OK)"]))
  }
}
