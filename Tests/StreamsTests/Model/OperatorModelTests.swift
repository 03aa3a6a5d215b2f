import Foundation
import Races
import Streams
import StreamsTesting
import XCTest

/// Random chains of operators, compared with a model that shares no code with them.
///
/// `OPERATOR_MODEL_SEEDS` sets the number of chains; `OPERATOR_MODEL_FIRST` sets the seed of the first one, to repeat a
/// failure.
final class OperatorModelTests: StreamsTestCase {
  private static func setting(_ name: String, _ fallback: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? fallback
  }

  func test_randomChainsEmitWhatTheModelEmits() {
    let first = Self.setting("OPERATOR_MODEL_FIRST", 1)
    let count = Self.setting("OPERATOR_MODEL_SEEDS", 2000)
    var compared = 0
    for seed in first..<first + count {
      var generator = SplitMix64(seed: UInt64(seed))
      let expression = Expression.random(depth: 5, &generator)
      let disposal = Int.random(in: 0..<4, using: &generator) == 0 ? Int.random(in: 1...150, using: &generator) : 400
      guard let difference = Self.difference(expression, disposedAt: disposal) else { continue }
      compared += 1
      guard difference != .none else { continue }
      let smallest = Self.smallest(expression, disposal)
      let name = "\(smallest)".replacingOccurrences(
        of: #"StreamsTests\.Expression\.(\w+\.)?"#, with: "", options: .regularExpression)
      XCTFail("seed \(seed): \(name)\n\(Self.difference(smallest, disposedAt: disposal)?.description ?? "")")
      return
    }
    XCTAssertGreaterThan(compared, count / 2, "too many chains in which two streams emit at the same time")
  }

  private enum Difference: Equatable, CustomStringConvertible {
    case none
    case events(model: [Timed], operators: [Timed])
    case leak(Int)

    var description: String {
      switch self {
      case .none: "no difference"
      case .events(let model, let operators): "model     \(model)\noperators \(operators)"
      case .leak(let count): "\(count) subscriptions are left"
      }
    }
  }

  /// Returns `nil` if the model has a tie.
  private static func difference(_ expression: Expression, disposedAt disposal: Int) -> Difference? {
    guard let model = try? expression.events(from: 0, disposal) else { return nil }
    if model.contains(where: { $0.time == disposal }) { return nil }
    let live = Hooks.liveSubscriptionCount
    let events = record(expression, disposedAt: disposal)
    if events != model { return .events(model: model, operators: events) }
    let left = Hooks.liveSubscriptionCount - live
    return left == 0 ? Difference.none : .leak(left)
  }

  /// Returns the events of the operators; nothing of them is left when it returns.
  private static func record(_ expression: Expression, disposedAt disposal: Int) -> [Timed] {
    let time = TestScheduler()
    return time.record(disposed: disposal, expression.observable(time)).map { Timed($0.time, ModelEvent($0.value)) }
  }

  /// Returns the innermost part of the expression that differs.
  private static func smallest(_ expression: Expression, _ disposal: Int) -> Expression {
    for child in expression.children {
      if let difference = difference(child, disposedAt: disposal), difference != .none {
        return smallest(child, disposal)
      }
    }
    return expression
  }
}
