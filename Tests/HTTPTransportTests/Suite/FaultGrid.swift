import Foundation
import HTTPTransport
import NetLayer
import XCTest

/// One fault, encountered by concurrent requests of every kind: {data, stream, file} × {GET, POST with a body}.
struct FaultGrid {
  /// The expected outcome of a fault.
  enum Expected {
    /// Status 200 and this text.
    case reply(String)
    /// An error of this kind, or of kind `or` if versions differ, whose reason contains `saying`: for a timeout, the
    /// limit that was reached. Alternative texts for different versions are separated by `|`.
    case failure(NetworkError.Kind, or: NetworkError.Kind? = nil, saying: String = "")
  }

  enum Mode: CaseIterable { case data, stream, file }

  /// Not only zeros, so that truncated or swapped bytes are detected.
  static let body = Data(TestRoutes.pattern(100_000))

  let test: XCTestCase
  let transport: any Transport
  /// The URL of a route that responds to every request with "ok".
  let next: URL
  /// The folder for downloads. The owner removes it.
  let folder: URL
  /// Header fields of the requests that must succeed.
  var nextHeaders = HTTPHeaders()

  init(_ test: XCTestCase, _ transport: any Transport, next: URL) throws {
    self.test = test
    self.transport = transport
    self.next = next
    folder = FileManager.default.temporaryDirectory.appending(path: "faults-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// A fault, its outcome, and the URL and the limits of its requests.
  struct Row {
    let name: String
    let expected: Expected
    let url: URL
    let limits: Request.Timeouts
  }

  /// Runs one row.
  func run(
    _ name: String, _ expected: Expected, at url: URL, _ limits: Request.Timeouts, headers: HTTPHeaders = [:],
    options: Request.Options = Request.Options()
  ) throws {
    try run([Row(name: name, expected: expected, url: url, limits: limits)], headers: headers, options: options)
  }

  /// Sends all six requests of each row concurrently and checks their outcomes, then sends six more that must succeed.
  func run(_ rows: [Row], headers: HTTPHeaders = [:], options: Request.Options = .init()) throws {
    let started = rows.map { row in
      let cells = Self.cells { Cell($0, $1, in: self) }
      for cell in cells { cell.start(row.url, row.limits, headers, options) }
      return (row, cells)
    }
    for (row, cells) in started {
      for cell in cells { try cell.check(row.expected, "\(row.name) \(cell.mode) \(cell.method)") }
    }
    let name = rows.map(\.name).joined(separator: ", ")
    let later = Self.cells { Cell($0, $1, in: self) }
    for cell in later { cell.start(next, Request.Timeouts(), nextHeaders) }
    for cell in later { try cell.check(.reply("ok"), "after \(name): \(cell.mode) \(cell.method)") }
    // Checked only now, because a second completion may arrive late.
    for (row, cells) in started {
      for cell in cells { XCTAssertEqual(cell.ends, 1, "\(row.name) \(cell.mode) \(cell.method)") }
    }
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), [], name)
  }

  private static func cells(_ make: (Mode, HTTPMethod) -> Cell) -> [Cell] {
    Mode.allCases.flatMap { mode in [HTTPMethod.get, .post].map { make(mode, $0) } }
  }

  /// One request.
  final class Cell {
    let mode: Mode
    let method: HTTPMethod
    private let transport: any Transport
    private let folder: URL
    /// One of these two is set, depending on the mode.
    private let pending: PendingCall?
    private let stream: PendingStream?
    private var begin = ContinuousClock.now
    /// The time in seconds within which the request must end.
    private var patience = 0.0

    init(_ mode: Mode, _ method: HTTPMethod, in grid: FaultGrid) {
      self.mode = mode
      self.method = method
      transport = grid.transport
      folder = grid.folder.appending(path: UUID().uuidString)
      pending = mode == .stream ? nil : PendingCall(grid.test)
      stream = mode == .stream ? PendingStream(grid.test) : nil
    }

    func start(
      _ url: URL, _ limits: Request.Timeouts, _ headers: HTTPHeaders = [:],
      _ options: Request.Options = Request.Options()
    ) {
      // A session that does not report when it is connected adds both limits. The margin is for loaded machines.
      let all = [limits.connect, limits.idle, limits.attempt].map { ($0 ?? .seconds(1000)) / .seconds(1) }
      patience = Swift.min(all[0] + all[1], all[2]) + 10
      begin = .now
      var request = Request(method: method, url: url, headers: headers, timeouts: limits)
      request.headers["X-Cell"] = "\(mode)"
      if method == .post { request.body = .data(FaultGrid.body) }
      request.options = options
      request.options.maxBodySize = 1 << 20
      switch mode {
      case .data: _ = pending?.send(request, on: transport)
      case .stream: stream?.start(request, on: transport)
      case .file:
        XCTAssertNoThrow(try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true))
        request.destination = folder.appending(path: "body")
        _ = pending?.send(request, on: transport)
      }
    }

    /// Waits for the end and asserts that the outcome is the expected one, and that only a successful download leaves a
    /// file.
    func check(_ expected: Expected, _ what: String) throws {
      let outcome = try XCTUnwrap(try stream?.outcome() ?? pending?.outcome())
      let end = try XCTUnwrap(stream?.endedAt ?? pending?.endedAt)
      XCTAssertLessThan((end - begin) / Duration.seconds(1), patience, what)
      var files: [String] = []
      switch (expected, outcome) {
      case (.reply(let text), .success(let response)):
        XCTAssertEqual(response.status, 200, what)
        XCTAssertEqual(String(decoding: try body(of: response), as: UTF8.self), text, what)
        if mode == .stream { XCTAssertEqual(stream?.heads.map(\.status), [200], what) }
        if mode == .file { files = ["body"] }
      case (.failure(let kind, let other, let words), .failure(let error)):
        if error.kind != other { XCTAssertEqual(error.kind, kind, "\(what): \(error.reason)") }
        let isSaid = words.isEmpty || words.split(separator: "|").contains { error.reason.contains($0) }
        XCTAssert(isSaid, "\(what): \(error.reason)")
      case (.reply, .failure(let error)): XCTFail("\(what): \(error.reason)")
      case (.failure(let kind, _, _), .success(let response)): XCTFail("\(what): no \(kind), but \(response.status)")
      }
      guard mode == .file else { return }
      XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), files, what)
      try FileManager.default.removeItem(at: folder)
    }

    /// The number of completions.
    var ends: Int { pending?.ends ?? stream?.order.count { $0 == "completion" } ?? 0 }

    private func body(of response: Response) throws -> Data {
      switch mode {
      case .data: return response.body
      case .stream: return stream?.body ?? Data()
      case .file:
        XCTAssertEqual(response.body, Data())
        return try Data(contentsOf: try XCTUnwrap(response.file))
      }
    }
  }
}
