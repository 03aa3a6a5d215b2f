import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import Streams
import TestSupport

/// A server whose behavior follows from the number of each call, and that counts the requests.
final class OnceServer: Sendable {
  /// The requests of one call that reached the server.
  struct Count {
    /// The number of processed requests: all except those with a 401 or redirect response.
    var processed: UInt8 = 0
    var redirected: UInt8 = 0
    var refused: UInt8 = 0
  }

  private struct State {
    var counts: [Count]
    var problems: [String] = []
  }

  let seed: UInt64
  private let state: Locked<State>
  private let kept = Locked<TestServer?>(nil)

  init(count: Int, seed: UInt64) throws {
    self.seed = seed
    state = Locked(State(counts: [Count](repeating: Count(), count: count)))
    let server = try TestServer(maxLoggedRequests: 0) { [weak self] in self?.reply($0) ?? .status(500) }
    kept.withLock { $0 = server }
  }

  var url: URL { kept.withLock { $0?.url } ?? URL(filePath: "/") }
  var connectionCount: Int { kept.withLock { $0?.connectionCount } ?? 0 }
  var counts: [Count] { state.withLock { $0.counts } }
  var problems: [String] { state.withLock { $0.problems } }

  func count(of id: Int) -> Count { state.withLock { $0.counts[id] } }

  func stop() { kept.withLock { $0 }?.stop() }

  private func reply(_ request: TestServer.Request) -> TestServer.Response {
    // HTTP/2 makes field names lowercase.
    let fields = request.headers.map { (name: $0.name.lowercased(), value: $0.value) }
    guard let id = fields.first(where: { $0.name == "x-call" }).flatMap({ Int($0.value) }) else { return .status(404) }
    let isBehindProxy = fields.contains { $0.name == "x-proxy" }
    let call = OnceCall(id, seed: seed)
    return state.withLock { state in
      guard state.counts.indices.contains(id) else { return .status(404) }
      if call.script == .expired, state.counts[id].refused == 0 {
        state.counts[id].refused = 1
        return .status(401)
      }
      check(request, call, &state)
      if request.path == "/turn" {
        state.counts[id].redirected &+= 1
        return .redirect(to: "/do", status: call.script == .turned ? 303 : 307)
      }
      state.counts[id].processed &+= 1
      let reply = TestServer.Response.text("\(id)")
      switch call.script {
      case .late: return reply.delayed(by: 0.003)
      case .busy where state.counts[id].processed == 1: return .status(503)
      case .dropped where state.counts[id].processed == 1: return .closeBeforeHead
      case .lost where state.counts[id].processed == 1: return .resetBeforeHead
      // The proxy manages its own connections to this server.
      case .closing where !isBehindProxy, .leaving where !isBehindProxy:
        var last = call.script == .leaving ? reply.header("Connection", "close") : reply
        last.ending = .close
        return last
      default: return reply
      }
    }
  }

  private func check(_ request: TestServer.Request, _ call: OnceCall, _ state: inout State) {
    let isGet = request.method == "GET" && call.script == .turned && request.path == "/do"
    let expected = isGet ? Data() : OnceCall.content(call.id, call.body.count)
    guard request.method == call.method.rawValue || isGet, Data(request.body) == expected else {
      state.problems.append("call \(call.id): \(request.method) with \(request.body.count) bytes, which is not its own")
      return
    }
  }
}
