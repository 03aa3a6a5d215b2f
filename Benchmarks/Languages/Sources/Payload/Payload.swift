import Foundation

/// The response of the server: an envelope around one user of about 1 KB.
public struct Wrapped: Decodable, Sendable {
  public var code: Int
  public var message: String
  public var data: User
}

public struct User: Decodable, Sendable {
  public struct Address: Decodable, Sendable {
    public var street: String
    public var city: String
    public var latitude: Double
    public var longitude: Double
  }

  public var id: Int
  public var name: String
  public var email: String
  public var isActive: Bool
  public var score: Double
  public var biography: String
  public var tags: [String]
  public var address: Address
  public var followers: [Int]
}

/// The arguments of a client: `URL IN-FLIGHT SECONDS CA [1.1|2]`.
public struct Work: Sendable {
  public let url: URL
  public let inFlight: Int
  public let seconds: Double
  public let certificate: String
  public let isHTTP2: Bool

  /// Reads the arguments; `nil` for wrong ones.
  public init?(_ arguments: [String]) {
    guard arguments.count >= 5, let url = URL(string: arguments[1]), let inFlight = Int(arguments[2]),
      let seconds = Double(arguments[3])
    else { return nil }
    (self.url, self.inFlight, self.seconds, certificate) = (url, inFlight, seconds, arguments[4])
    isHTTP2 = arguments.last == "2"
  }

  /// Fetches with `inFlight` tasks until the time is over. Prints the requests and the seconds, or exits with the error.
  public func run(_ fetch: @escaping @Sendable () async throws -> Wrapped) async {
    let start = ContinuousClock.now
    let end = start + .seconds(seconds)
    do {
      let count = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<inFlight {
          group.addTask {
            var count = 0
            while ContinuousClock.now < end {
              guard try await fetch().code == 200 else { throw CocoaError(.coderInvalidValue) }
              count += 1
            }
            return count
          }
        }
        return try await group.reduce(0, +)
      }
      print(count, (ContinuousClock.now - start) / .seconds(1))
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }
}
