// Measures the cost of a cache hit, from `network.request(endpoint)` to its `Response`: building the URL and the key,
// finding the entry, computing its age, and switching to the mapping scheduler.
// Options: --rounds N (number of rounds for the medians, default 5), --only NAME (rows whose names contain NAME),
// --json FILE
import Dispatch
import Foundation
import NetLayerTesting
import Streams

struct Item: Endpoint {
  let id: Int
  var path: String { "/items/\(id)" }
}

var rounds = 5
var only: String?
var file: String?
var arguments = CommandLine.arguments.dropFirst()
while let option = arguments.popFirst() {
  switch (option, arguments.popFirst()) {
  case ("--rounds", let value?): rounds = max(1, Int(value) ?? rounds)
  case ("--only", let value?): only = value
  case ("--json", let value?): file = value
  default:
    print("options: --rounds N (default 5), --only NAME, --json FILE")
    exit(2)
  }
}
let directory = FileManager.default.temporaryDirectory.appending(path: "cache-benchmark-\(UUID().uuidString)")
defer { try? FileManager.default.removeItem(at: directory) }
let stub = StubTransport { _ in
  .response(
    headers: [
      "Content-Type": "application/json", "Cache-Control": "max-age=86400", "ETag": "\"5f3a\"",
      "Date": "Mon, 01 Jan 2024 00:00:00 GMT",
    ], body: Data(repeating: UInt8(ascii: " "), count: 4096))
}

func network(_ cache: ResponseCache) -> Network {
  Network(
    Backend(
      baseURL: URL(string: "http://127.0.0.1:9"), transport: stub,
      interceptors: [CacheInterceptor(cache, policy: .cacheFirst(maxAge: .seconds(86400)))]))
}

/// Returns the seconds per call of `count` calls, `inFlight` of them concurrent: each response starts the next call.
func measure(_ network: Network, _ count: Int, inFlight: Int, of items: Int) -> Double {
  let done = DispatchSemaphore(value: 0)
  @Sendable func call(_ number: Int) {
    _ = network.request(Item(id: number % items)).subscribe(
      onSuccess: { (response: Response) in
        guard response.body.count == 4096 else { fatalError("the response differs from the stored one") }
        if number + inFlight < count { call(number + inFlight) } else { done.signal() }
      }, onError: { fatalError("\($0)") })
  }
  let start = DispatchTime.now().uptimeNanoseconds
  for lane in 0..<inFlight { call(lane) }
  for _ in 0..<inFlight { done.wait() }
  return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9 / Double(count)
}

/// Returns the seconds per call of `count` consecutive calls on a network whose mapping scheduler runs inline, so
/// without the switch to another thread.
func measureInline(_ network: Network, _ count: Int, of items: Int) -> Double {
  let inline = network.with { $0.mapping = ImmediateScheduler.instance }
  let start = DispatchTime.now().uptimeNanoseconds
  for number in 0..<count {
    _ = inline.request(Item(id: number % items)).subscribe(
      onSuccess: { (response: Response) in
        guard response.body.count == 4096 else { fatalError("the response differs from the stored one") }
      }, onError: { fatalError("\($0)") })
  }
  return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9 / Double(count)
}

/// Returns the seconds per switch to the default mapping scheduler, in sequence: the minimum cost of a call.
func measureSwitches(_ count: Int) -> Double {
  let scheduler = Backend().mapping
  let done = DispatchSemaphore(value: 0)
  @Sendable func switchThread(_ number: Int) {
    _ = scheduler.schedule { if number < count { switchThread(number + 1) } else { done.signal() } }
  }
  let start = DispatchTime.now().uptimeNanoseconds
  switchThread(1)
  done.wait()
  return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9 / Double(count)
}

let items = 200
let inMemory = network(ResponseCache(storingIn: nil))
let onDisk = network(ResponseCache(storingIn: directory, maxMemorySize: 0))
for network in [inMemory, onDisk] { _ = measure(network, items, inFlight: 8, of: items) }
// Waits until all entries are on disk.
for _ in 0..<200 where (try? FileManager.default.contentsOfDirectory(atPath: directory.path).count) ?? 0 < items + 1 {
  usleep(50_000)
}
let rows: [(name: String, target: Double?, count: Int, run: () -> Double)] = [
  ("the thread switch alone", nil, 50_000, { measureSwitches(50_000) }),
  ("memory hit, without the thread switch", nil, 50_000, { measureInline(inMemory, 50_000, of: items) }),
  ("memory hit, 1 in flight", 4, 50_000, { measure(inMemory, 50_000, inFlight: 1, of: items) }),
  ("memory hit, 64 in flight", 4, 50_000, { measure(inMemory, 50_000, inFlight: 64, of: items) }),
  ("disk hit of 4 KB, 1 in flight", 100, 5000, { measure(onDisk, 5000, inFlight: 1, of: items) }),
  ("disk hit of 4 KB, 64 in flight", 100, 5000, { measure(onDisk, 5000, inFlight: 64, of: items) }),
].filter { row in only.map { row.0.contains($0) } ?? true }
/// Returns the seconds of CPU time that this process has used.
func cpu() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

var seen = rows.map { _ in [(wall: Double, cpu: Double)]() }
for _ in 0..<rounds {
  for (index, row) in rows.enumerated() {
    let start = cpu()
    let wall = row.run()
    seen[index].append((wall, (cpu() - start) / Double(row.count)))
  }
}
guard stub.requests.count == 2 * items else {
  fatalError("\(stub.requests.count) requests were sent instead of \(2 * items)")
}
var results: [[String: Any]] = []
for (row, times) in zip(rows, seen) where !times.isEmpty {
  let wall = times.map { $0.wall * 1e6 }.sorted()
  let cpu = times.map { $0.cpu * 1e6 }.sorted()
  let numbers = String(
    format: "%7.2f µs (%.2f to %.2f), %.2f of CPU", wall[wall.count / 2], wall[0], wall[wall.count - 1],
    cpu[cpu.count / 2])
  let middle = wall[wall.count / 2]
  var result: [String: Any] = ["name": row.name, "unit": "µs", "ours": middle, "cpu": cpu[cpu.count / 2]]
  var verdict = ""
  if let target = row.target {
    result["targets"] = [["target": String(format: "≤ %g µs", target), "met": middle <= target]]
    verdict = String(format: "   ≤ %g: ", target) + (middle <= target ? "met" : "MISSED")
  }
  results.append(result)
  print("\(row.name.padding(toLength: 34, withPad: " ", startingAt: 0))\(numbers)\(verdict)")
}
if let file {
  let data = try JSONSerialization.data(withJSONObject: ["rows": results], options: [.prettyPrinted, .sortedKeys])
  try data.write(to: URL(filePath: file))
}
