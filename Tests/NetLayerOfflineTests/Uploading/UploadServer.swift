import Foundation
import LoopbackServer
import NetLayerOffline
import TestSupport

/// A small server of tus and of the draft, with faults. Endpoints are `/files`, uploads are `/uploads/N`.
final class UploadServer: Sendable {
  struct Upload {
    var bytes: [UInt8] = []
    var length: Int
    var isComplete = false
    var fields: [String: String]
  }

  /// A fault of one request.
  enum Fault: Sendable {
    /// Reads this number of bytes of a body, then resets the connection.
    case cut(Int)
    /// Resets the connection before anything is processed.
    case loseRequest
    /// Processes the request, then resets the connection.
    case loseResponse
    /// Responds without processing.
    case status(Int, [String: String] = [:])
    /// Processes the request, then replaces fields of the response; `nil` removes one.
    case lie([String: String?])
    /// Never responds.
    case hang
    /// Calls a function before the request is processed.
    case before(@Sendable () -> Void)
  }

  struct Habits: Sendable {
    /// Discards the bytes of a request that is cut.
    var discards = false
    /// Removes an upload as soon as it is complete.
    var removesComplete = false
    var deletes = true
    /// Accepts bytes only by POST with `X-HTTP-Method-Override`.
    var refusesPatch = false
    /// The status of the target for a complete upload of the draft.
    var target = 200
    /// The maximum number of bytes of a request to append.
    var maxAppend = Int.max
    var statesMaxAppend = false
    var limits: String?
    /// Cuts each request to append after this number of bytes.
    var cutsAt: Int?
  }

  private struct State {
    var uploads: [String: Upload] = [:]
    var number = 0
    var faults: [(method: String, fault: Fault)] = []
    var log: [String] = []
    var habits: Habits
    var finished: [[UInt8]] = []
    var requests: [TestServer.Request] = []
  }

  private let isTus: Bool
  private let state: Box<State>
  private let server: Box<TestServer?> = Box(nil)

  init(_ method: UploadProtocol, _ habits: Habits = Habits()) throws {
    isTus = method == .tus
    let state = Box(State(habits: habits))
    self.state = state
    let isTus = isTus
    server.value = try TestServer(
      cut: { request in
        guard request.method == "PATCH" else { return nil }
        return state.update { state in
          if let cut = state.habits.cutsAt { return cut }
          guard case .cut(let count)? = state.faults.first(where: { $0.method == "PATCH" })?.fault else { return nil }
          return count
        }
      },
      handler: { request in Self.respond(request, state, isTus) })
  }

  var url: URL { server.value?.url ?? URL(filePath: "/") }
  /// The requests: method, and place or range.
  var log: [String] { state.update { $0.log } }
  var requests: [TestServer.Request] { state.update { $0.requests } }
  /// The complete uploads, also those that were removed.
  var finished: [Data] { state.update { $0.finished.map { Data($0) } } }
  var uploads: [String: Upload] { state.update { $0.uploads } }
  var habits: Habits {
    get { state.update { $0.habits } }
    set { state.update { $0.habits = newValue } }
  }

  /// Adds a fault to the next request of a method without one.
  func fail(_ method: String, _ fault: Fault, times: Int = 1) {
    state.update { for _ in 0..<times { $0.faults.append((method, fault)) } }
  }
  func clearLog() { state.update { ($0.log, $0.requests) = ([], []) } }
  func remove(_ path: String) { state.update { $0.uploads[path] = nil } }
  /// Appends bytes, as a request does that arrives late.
  func append(_ bytes: [UInt8], to path: String) { state.update { $0.uploads[path]?.bytes += bytes } }

  // MARK: The server's thread

  private static func respond(_ request: TestServer.Request, _ state: Box<State>, _ isTus: Bool) -> TestServer.Response
  {
    let fault = state.update { state -> Fault? in
      state.requests.append(request)
      let range = request.header("Upload-Offset").map { "\($0)+\(request.body.count)" }
      state.log.append("\(request.method) \(range ?? request.path)")
      return state.faults.firstIndex { $0.method == request.method }.map { state.faults.remove(at: $0).fault }
    }
    var response: TestServer.Response
    switch fault {
    case .status(let status, let fields): response = reply(status, fields)
    case .loseRequest: return .resetBeforeHead
    case .hang: return .neverResponding
    case .loseResponse:
      _ = state.update { process(request, &$0, isTus) }
      return .resetBeforeHead
    case .cut:
      state.update { cut(request, &$0, isTus) }
      return .resetBeforeHead
    case .before(let action):
      action()
      response = state.update { process(request, &$0, isTus) }
    case .lie(let fields):
      response = state.update { process(request, &$0, isTus) }
      for (name, value) in fields {
        response.headers.removeAll { $0.name == name }
        if let value { response.headers.append((name, value)) }
      }
    case nil:
      let isCut = state.update { state in
        let isCut =
          request.method == "PATCH" && state.habits.cutsAt.map { $0 <= request.body.count } == true
          && request.header("Content-Length") != "\(request.body.count)"
        if isCut { cut(request, &state, isTus) }
        return isCut
      }
      if isCut { return .resetBeforeHead }
      response = state.update { process(request, &$0, isTus) }
    }
    // Each request has its own connection, so that none is sent again on a reused one.
    response.ending = .close
    return response.header("Connection", "close")
  }

  private static func reply(_ status: Int, _ fields: [String: String] = [:]) -> TestServer.Response {
    TestServer.Response(status: status, headers: fields.map { ($0.key, $0.value) })
  }

  private static func cut(_ request: TestServer.Request, _ state: inout State, _ isTus: Bool) {
    // A request that is shorter than the cut arrives completely.
    if request.header("Content-Length") == "\(request.body.count)" {
      _ = process(request, &state, isTus)
    } else if !state.habits.discards,
      request.header("Upload-Offset") == "\(state.uploads[request.path]?.bytes.count ?? -1)"
    {
      state.uploads[request.path]?.bytes += request.body
    }
  }

  private static func process(_ request: TestServer.Request, _ state: inout State, _ isTus: Bool) -> TestServer.Response
  {
    let common = isTus ? ["Tus-Resumable": "1.0.0"] : [:]
    let method = request.header("X-HTTP-Method-Override") ?? request.method
    if method == "POST" { return create(request, &state, common) }
    guard var upload = state.uploads[request.path] else { return reply(404, common) }
    guard request.method != "PATCH" || !state.habits.refusesPatch else { return reply(405, common) }
    switch method {
    case "HEAD":
      var fields = common.merging(["Upload-Offset": "\(upload.bytes.count)", "Upload-Length": "\(upload.length)"]) {
        $1
      }
      if !isTus { fields["Upload-Complete"] = upload.isComplete ? "?1" : "?0" }
      return reply(isTus ? 200 : 204, fields)
    case "DELETE":
      guard state.habits.deletes else { return reply(405, common) }
      state.uploads[request.path] = nil
      return reply(204, common)
    case "PATCH":
      let type = isTus ? "application/offset+octet-stream" : "application/partial-upload"
      guard request.header("Content-Type") == type else { return reply(415, common) }
      guard !upload.isComplete else { return reply(403, common) }
      guard request.header("Upload-Offset") == "\(upload.bytes.count)" else { return reply(409, common) }
      guard request.body.count <= state.habits.maxAppend else {
        return reply(
          413, state.habits.statesMaxAppend ? ["Upload-Limit": "max-append-size=\(state.habits.maxAppend)"] : [:])
      }
      upload.bytes += request.body
      upload.isComplete = isTus ? upload.bytes.count == upload.length : request.header("Upload-Complete") == "?1"
      state.uploads[request.path] = upload
      if upload.isComplete {
        state.finished.append(upload.bytes)
        if state.habits.removesComplete { state.uploads[request.path] = nil }
        if !isTus { return reply(state.habits.target, ["Upload-Complete": "?1"]) }
      }
      var fields = common.merging(["Upload-Offset": "\(upload.bytes.count)"]) { $1 }
      if !isTus { fields["Upload-Complete"] = "?0" }
      return reply(204, fields)
    default: return reply(405, common)
    }
  }

  private static func create(
    _ request: TestServer.Request, _ state: inout State, _ common: [String: String]
  ) -> TestServer.Response {
    guard request.path == "/files", let length = request.header("Upload-Length").flatMap({ Int($0) }) else {
      return reply(400, common)
    }
    state.number += 1
    let path = "/uploads/\(state.number)"
    let sent = Dictionary(request.headers.map { ($0.name, $0.value) }) { $1 }
    let isComplete = length == 0 && !common.isEmpty
    state.uploads[path] = Upload(length: length, isComplete: isComplete, fields: sent)
    if isComplete { state.finished.append([]) }
    var fields = common.merging(["Location": path]) { $1 }
    fields["Upload-Limit"] = state.habits.limits
    return reply(201, fields)
  }
}
