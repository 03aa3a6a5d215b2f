import LoopbackServer
import PortableFoundation

/// A server of tus that has one upload, and cuts its first request to append.
final class TourUploads: Sendable {
  private static let cut = 100_000

  /// Guards the ranges of the upload that have arrived, which the server's thread changes.
  private let ranges = Locked<[Range<Int>]>([])

  /// Returns the number of bytes after which the connection of a request ends.
  func cut(_ request: TestServer.Request) -> Int? {
    request.method == "PATCH" && ranges.withLock(\.isEmpty) ? Self.cut : nil
  }

  func add(to routes: inout TestServer.Routes) {
    routes.on("POST", "/api/films") { [self] _ in
      ranges.withLock { $0 = [] }
      return .status(201).header("Location", "/api/films/1")
    }
    routes.on("HEAD", "/api/films/1") { [self] _ in .status(200).header("Upload-Offset", "\(count)") }
    routes.on("PATCH", "/api/films/1") { [self] request in
      let isCut = cut(request) != nil
      ranges.withLock { ranges in
        let start = ranges.last?.upperBound ?? 0
        ranges.append(start..<(start + request.body.count))
      }
      return isCut ? .resetBeforeHead : .status(204).header("Upload-Offset", "\(count)")
    }
    routes.on("GET", "/api/films/1") { [self] _ in
      let texts = ranges.withLock { $0.map { "\"\($0.lowerBound)-\($0.upperBound - 1)\"" } }
      return .json("[\(texts.joined(separator: ","))]")
    }
  }

  private var count: Int { ranges.withLock { $0.last?.upperBound ?? 0 } }
}
