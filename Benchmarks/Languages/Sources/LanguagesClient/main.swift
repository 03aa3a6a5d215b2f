import Foundation
import NetLayer
import Synchronization

// NetLayer with a number of requests in flight, each decoded.
// Usage: LanguagesClient URL IN-FLIGHT SECONDS CA [1.1|2]. Prints the requests and the seconds.

struct User: Decodable, Sendable {
  struct Address: Decodable, Sendable {
    var street: String
    var city: String
    var latitude: Double
    var longitude: Double
  }

  var id: Int
  var name: String
  var email: String
  var isActive: Bool
  var score: Double
  var biography: String
  var tags: [String]
  var address: Address
  var followers: [Int]
}

struct Wrapped: Decodable, Sendable {
  var code: Int
  var message: String
  var data: User
}

let arguments = CommandLine.arguments
guard arguments.count >= 5, let url = URL(string: arguments[1]), let inFlight = Int(arguments[2]),
  let seconds = Double(arguments[3])
else { fatalError("usage: LanguagesClient URL IN-FLIGHT SECONDS CA [1.1|2]") }
#if os(Linux)
  let transport = try CurlTransport(
    .init(tls: .init(trust: .file(URL(filePath: arguments[4]))), maxConnectionsPerHost: 256))
#else
  let transport: (any Transport)? = nil
#endif
var backend = Backend(baseURL: url, transport: transport)
if arguments.last == "2" { backend.options.httpVersion = .http2 }
let network = Network(backend)
let start = ContinuousClock.now
let end = start + .seconds(seconds)
do {
  let count = try await withThrowingTaskGroup(of: Int.self) { group in
    for _ in 0..<inFlight {
      group.addTask {
        var count = 0
        while ContinuousClock.now < end {
          let found: Wrapped = try await network.fetch(.get(url))
          precondition(found.code == 200)
          count += 1
        }
        return count
      }
    }
    var sum = 0
    for try await count in group { sum += count }
    return sum
  }
  print(count, (ContinuousClock.now - start) / .seconds(1))
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
