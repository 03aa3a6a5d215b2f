import Foundation

/// The response of the server: an envelope around one user of about 1 KB.
package struct Wrapped: Decodable, Sendable {
  package var code: Int
  package var message: String
  package var data: User
}

package struct User: Decodable, Sendable {
  package struct Address: Decodable, Sendable {
    package var street: String
    package var city: String
    package var latitude: Double
    package var longitude: Double
  }

  package var id: Int
  package var name: String
  package var email: String
  package var isActive: Bool
  package var score: Double
  package var biography: String
  package var tags: [String]
  package var address: Address
  package var followers: [Int]
}

/// The arguments of a client: `URL IN-FLIGHT SECONDS CA [1.1|2]`.
package struct Work: Sendable {
  package let url: URL
  package let inFlight: Int
  package let seconds: Double
  package let certificate: String
  package let isHTTP2: Bool

  /// Reads the arguments; `nil` for wrong ones.
  package init?(_ arguments: [String]) {
    guard arguments.count >= 5, let url = URL(string: arguments[1]), let inFlight = Int(arguments[2]),
      let seconds = Double(arguments[3])
    else { return nil }
    (self.url, self.inFlight, self.seconds, certificate) = (url, inFlight, seconds, arguments[4])
    isHTTP2 = arguments.last == "2"
  }

  /// Fetches with `inFlight` tasks until the time is over. Prints the requests and the seconds, or exits with the error.
  package func run(_ fetch: @escaping @Sendable () async throws -> Wrapped) async {
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
