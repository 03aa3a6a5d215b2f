#if os(Linux)
  import Foundation
  @_spi(Faults) import LoopbackServer
  import NetLayerOffline
  import Streams

  /// A test with an outbox of four lanes, whose server is down for three seconds of eight. At the end, the server must have applied
  /// each entry once, in the order of its lane, and the directory must be empty.
  struct Outboxes {
    struct AddLine: Endpoint, Codable {
      struct Saved: Decodable, Sendable { var number: Int }
      typealias Output = Saved
      let lane: Int
      let number: Int
      var path: String { "/lines/\(lane)/\(number)" }
      var method: HTTPMethod { .post }
      var task: HTTPTask { .json(["text": "line \(number)"]) }
    }

    /// A count of what the server has applied.
    struct Report: Decodable, Sendable {
      var applied: Int
      var repeated: Int
      var faults: Int
      var wrong: [String]
    }

    let server: URL

    func run(seconds: Int) async throws -> Bool {
      let directory = FileManager.default.temporaryDirectory.appending(path: "soak-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: directory) }
      let network = Network(
        Backend(baseURL: server, transport: try CurlTransport(), timeouts: .init(attempt: .seconds(1))))
      let wrong = Shared<[String]>([])
      let outbox = try Outbox(
        storingIn: directory, on: network,
        retry: RetryPolicy(attempts: 1000, initialDelay: .milliseconds(100), maxDelay: .seconds(1)),
        onProblem: { error in wrong.change { $0.append(error.reason) } })
      let results = Shared([Int: Int]())
      let subscription = outbox.results(of: AddLine.self).subscribe(onNext: { outcome in
        results.change { $0[outcome.endpoint.number, default: 0] += 1 }
        if case .failure(let error) = outcome.result { wrong.change { $0.append("\(outcome.endpoint): \(error)") } }
      })
      defer { subscription.dispose() }
      outbox.start()
      let end = ContinuousClock.now + .seconds(seconds)
      var number = 0
      while ContinuousClock.now < end {
        number += 1
        try outbox.send(AddLine(lane: number % 4, number: number), lane: "\(number % 4)")
        try await Task.sleep(for: .milliseconds(50))
      }
      // The server is back after at most three seconds, and the longest delay is one.
      let limit = ContinuousClock.now + .seconds(60)
      while results.value.count < number, ContinuousClock.now < limit { try await Task.sleep(for: .milliseconds(100)) }
      let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
      let report: Report = try await network.fetch(.get("/report"))
      say(
        "outbox: \(number) entries, \(report.applied) applied, \(report.repeated) repeated, \(report.faults) faults; files left: \(names)"
      )
      if results.value.count != number {
        wrong.change { $0.append("\(results.value.count) of \(number) entries have a result") }
      }
      if results.value.values.contains(where: { $0 != 1 }) { wrong.change { $0.append("an entry has two results") } }
      if report.applied != number { wrong.change { $0.append("\(report.applied) of \(number) entries are applied") } }
      // The lock's file remains.
      if names.count > 1 { wrong.change { $0.append("\(names.count) files are left") } }
      for line in (wrong.value + report.wrong).prefix(10) { say("FAILED: \(line)") }
      return wrong.value.isEmpty && report.wrong.isEmpty && report.faults > 0
    }
  }

  /// The server's side: it applies the content of an `Idempotency-Key` once.
  final class Lines: Sendable {
    private struct State {
      var keys: Set<String> = []
      var last: [Int: Int] = [:]
      var (repeated, faults) = (0, 0)
      var wrong: [String] = []
    }

    private let state = Shared(State())
    private let begin = ContinuousClock.now

    func respond(_ path: [Substring], key: String?) -> TestServer.Response {
      guard path.count == 3, let lane = Int(path[1]), let number = Int(path[2]), let key else { return .status(400) }
      let phase = (ContinuousClock.now - begin).components.seconds % 8
      if phase > 4 { state.change { $0.faults += 1 } }
      if phase == 5 { return number % 3 == 0 ? .neverResponding : .status(503) }
      if phase == 6 { return TestServer.Fault.resetBeforeHead.response(to: "") }
      state.change { state in
        guard state.keys.insert(key).inserted else { return state.repeated += 1 }
        if let last = state.last[lane], last >= number { state.wrong.append("\(number) of lane \(lane) after \(last)") }
        state.last[lane] = number
      }
      // Applied, but the response is lost.
      return phase == 7 ? TestServer.Fault.closeBeforeHead.response(to: "") : .text(#"{"number":\#(number)}"#)
    }

    var report: TestServer.Response {
      let state = state.value
      return .text(
        #"{"applied":\#(state.keys.count),"repeated":\#(state.repeated),"faults":\#(state.faults),"wrong":\#(state.wrong)}"#
      )
    }
  }
#endif
