import LoopbackServer

/// A room with one other guest, who echoes each line and can simulate a lost connection.
final class Room {
  private let server: TestServer

  init() throws {
    let guest = TestServer.WebSocketScript(onMessage: { message in
      guard case .text(let line) = message else { return [] }
      switch line {
      case "/drop": return [.reset]
      case "/close": return [.close(1000, "good night")]
      case _ where line.hasPrefix("/join "): return [.text("Welcome, \(line.dropFirst(6)). Try /drop and /close.")]
      default: return [.wait(0.2), .text("\(line)?")]
      }
    })
    server = try TestServer { _ in .socket(guest) }
  }

  var url: String { "ws://127.0.0.1:\(server.port)/" }
}
