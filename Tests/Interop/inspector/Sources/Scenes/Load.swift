import Foundation
import NetLayer
import NetLayerInspector
import NetLayerTesting

/// Many calls, through a stub.
enum Load {
  private static func network(_ recorder: Recorder) throws -> Network {
    let stub = StubTransport { request in
      let number = Int(request.url.lastPathComponent) ?? 0
      return .json(
        #"{"id":\#(number),"text":"\#(String(repeating: "x", count: number % 700))"}"#,
        status: number % 37 == 5 ? 500 : 200)
    }
    guard let url = URL(string: "https://api.example.com/v2") else {
      throw NetworkError(kind: .other, reason: "no URL")
    }
    return Network(Backend(baseURL: url, transport: stub, interceptors: [recorder]))
  }

  static func many(_ count: Int) async throws {
    let recorder = Recorder(maxCalls: count, maxSize: 1 << 30)
    let network = try network(recorder)
    for number in 0..<count {
      _ = try? await network.fetch(.get("/\(["photos", "users", "feed"][number % 3])/\(number)?page=\(number % 9)"))
      // Waits for the recorder, which would skip calls that are too fast for it.
      if number % 500 == 0 { _ = recorder.dropped }
    }
    let inspector = try Inspector(recorder)
    tell(inspector.url.absoluteString)
    await waitForEnd()
  }

  /// 1,000 calls a second for 10 s, into a recorder with the default limits.
  static func rate() async throws {
    let recorder = Recorder()
    let inspector = try Inspector(recorder)
    let network = try network(recorder)
    tell(inspector.url.absoluteString)
    _ = readLine()
    let start = ContinuousClock.now
    for number in 0..<10_000 {
      _ = try? await network.fetch(.get("/photos/\(number)"))
      if number % 10 == 9 { try await Task.sleep(until: start + .milliseconds(number + 1)) }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let size = recorder.har().count
    tell("calls \(recorder.entries.count) dropped \(recorder.dropped) bytes \(size) seconds \(seconds)")
    await waitForEnd()
    withExtendedLifetime(inspector) {}
  }
}
