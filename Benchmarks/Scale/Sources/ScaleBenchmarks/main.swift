import Foundation
import NetLayer
import NetLayerTesting

// Simulates many instances of one service, whose backend stops for ten seconds, in virtual time.
// Usage: ScaleBenchmarks [--instances N] [--rate CALLS] [--seconds N] [--only TEXT] [--outage STOP,RESTART,WARM] [--runs N]

struct Setting: Sendable {
  var name: String
  var sheds = true
  var shared = false
  var spare = 2.0
  var retryAfter: (@Sendable (Int) -> Int)? = nil
  var interceptors: @Sendable () -> [any Interceptor]
}

@Sendable func retry(
  delay: Duration = .milliseconds(500), jitter: Bool = true, budget: RetryBudget = RetryBudget()
) -> RetryInterceptor {
  let policy =
    jitter
    ? RetryPolicy(initialDelay: delay) : RetryPolicy(initialDelay: delay, jitter: { $0.upperBound })
  return RetryInterceptor(policy: policy, budget: budget)
}
@Sendable func unlimited() -> RetryBudget { RetryBudget(capacity: 1e9, ratio: 1) }

let retries: [Setting] = [
  Setting(name: "no retries", interceptors: { [] }),
  Setting(name: "3 attempts immediately, no budget", interceptors: { [retry(delay: .zero, budget: unlimited())] }),
  Setting(name: "delays without jitter, no budget", interceptors: { [retry(jitter: false, budget: unlimited())] }),
  Setting(name: "delays with jitter, no budget", interceptors: { [retry(budget: unlimited())] }),
  Setting(name: "RetryInterceptor()", interceptors: { [retry()] }),
  Setting(name: "budget of 1 retry and 10 %", interceptors: { [retry(budget: RetryBudget(capacity: 1))] }),
  Setting(name: "and a circuit breaker", interceptors: { [retry(), CircuitBreakerInterceptor()] }),
  Setting(name: "and a circuit breaker of 50 %", interceptors: { [retry(), CircuitBreakerInterceptor(ratio: 0.5)] }),
  Setting(
    name: "and a limit of 40 with 0.5 s",
    interceptors: { [retry(), LimitInterceptor(maxPerHost: 40, maxWait: .milliseconds(500))] }),
  Setting(
    name: "and both",
    interceptors: {
      [retry(), CircuitBreakerInterceptor(), LimitInterceptor(maxPerHost: 40, maxWait: .milliseconds(500))]
    }),
]
var settings: [Setting] = []
for (server, sheds, shared, spare) in [
  ("twice the load, queues", false, false, 2.0), ("1.2 times the load, 503 beyond 0.5 s", true, false, 1.2),
  ("1.2 times the load, queues", false, false, 1.2), ("1.2 times the load, slows down", false, true, 1.2),
] {
  settings += retries.map { setting in
    var setting = setting
    (setting.name, setting.sheds, setting.spare) = ("\(server): \(setting.name)", sheds, spare)
    setting.shared = shared
    return setting
  }
}
let tight = "1.2 times the load, 503 beyond 0.5 s"
settings += [
  Setting(name: "\(tight), Retry-After: 5", spare: 1.2, retryAfter: { _ in 5 }, interceptors: { [retry()] }),
  Setting(name: "\(tight), Retry-After: 5 to 14", spare: 1.2, retryAfter: { 5 + $0 % 10 }, interceptors: { [retry()] }),
  Setting(
    name: "1.2 times the load, queues: a cache of 15 s", sheds: false, spare: 1.2,
    interceptors: {
      [CacheInterceptor(ResponseCache(storingIn: nil), policy: .cacheFirst(maxAge: .seconds(15))), retry()]
    }),
]

var (instances, rate, seconds, runs, only, outage) = (10_000, 1, 140, 1, "", [20.0, 30, 40])
var arguments = CommandLine.arguments.dropFirst()
if arguments.first == "instances" {
  try Instances.run(Array(arguments.dropFirst()), settings)
  exit(0)
}
while let name = arguments.popFirst() {
  guard let value = arguments.popFirst() else { fatalError("\(name) needs a value") }
  switch name {
  case "--instances": instances = Int(value) ?? instances
  case "--rate": rate = Int(value) ?? rate
  case "--runs": runs = Int(value) ?? runs
  case "--seconds": seconds = Int(value) ?? seconds
  case "--only": only = value
  case "--outage": outage = value.split(separator: ",").compactMap { Double($0) }
  default: fatalError("unknown option \(name): use --instances, --rate, --seconds, --runs, --only or --outage")
  }
}

print(
  "| \(instances) instances, calls of each in a second: \(rate) | peak | peak after the restart | requests for each call "
    + "| failed calls | of these rejected here | recovery |")
print("|---|---|---|---|---|---|---|")
for setting in settings where only.isEmpty || setting.name.contains(only) {
  var model = Server.Model(capacity: setting.spare * Double(instances * rate))
  if !setting.sheds { model.sheds = nil }
  if setting.shared { model.shared = 1.5 }
  model.retryAfter = setting.retryAfter
  if outage.count == 3 { (model.stop, model.restart, model.warm) = (outage[0], outage[1], outage[2]) }
  for _ in 0..<runs {
    let result = Fleet(
      instances: instances, rate: rate, seconds: seconds, model: model, interceptors: setting.interceptors
    ).run()
    func number(_ value: Double) -> String { String(format: "%.1f", value) }
    let cells = [
      setting.name, number(result.peak), number(result.peakAfterRestart), String(format: "%.2f", result.amplification),
      "\(number(result.failed)) %", "\(number(result.rejected)) %",
      result.recovery.map { "\(Int($0)) s" } ?? "never",
    ]
    print("| \(cells.joined(separator: " | ")) |")
  }
}
