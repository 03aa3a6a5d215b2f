import Streams
import StreamsTesting
import XCTest

/// Each marble diagram in the doc comments of operators is compared with the events of the operator in virtual time.
final class MarbleDiagramsTests: XCTestCase {
  typealias Source = Observable<String>
  typealias Operation = @Sendable (_ sources: [Source], _ time: TestScheduler) -> Source

  func test_everyDiagram_matchesTheOperator() throws {
    let diagrams = try MarbleDiagram.all()
    var unused = Set(Self.operations.keys)
    for diagram in diagrams {
      let sources = diagram.lines.filter { Self.operations[$0.label] == nil }
      let results = diagram.lines.filter { Self.operations[$0.label] != nil }
      XCTAssertFalse(results.isEmpty, "\(diagram.file): no operation for \(diagram.lines.map(\.label))")
      for result in results {
        guard let operation = Self.operations[result.label] else { continue }
        unused.remove(result.label)
        let time = TestScheduler()
        let colds = sources.map { time.cold($0.marbles).asObservable() }
        let expected = Marbles.parse(result.marbles)
        // A stream that does not end is observed for the length of its diagram.
        let ends = expected.last?.value.isStopEvent == true
        let events = time.record(
          disposed: ends ? TestScheduler.disposed : result.marbles.count, operation(colds, time))
        XCTAssertEqual(events, expected, "\(diagram.file): \(result.label)")
      }
    }
    XCTAssertEqual(unused, [], "operations without a diagram")
  }

  /// Returns the number that a marble represents.
  private static func number(_ marble: String) throws -> Int {
    guard let number = Int(marble) else { throw TestError("no number: \(marble)") }
    return number
  }

  /// Returns the capital letter of a value, as explained in the notes of the diagrams.
  private static func capital<Value: Equatable>(_ value: Value, of values: [Value]) -> String {
    values.firstIndex(of: value).map { ["A", "B", "C", "D"][$0] } ?? "?"
  }

  private static func pair(_ pair: (String, String), _ known: [String]) -> String {
    capital(pair.0 + pair.1, of: known)
  }

  private static let operations: [String: Operation] = [
    "amb": { sources, _ in sources[0].amb(sources[1]) },
    "buffer(4, count 2)": { sources, time in
      sources[0].buffer(timeSpan: .seconds(4), count: 2, scheduler: time)
        .map { capital($0, of: [["a", "b"], ["c"], ["d"], []]) }
    },
    "catchError": { sources, time in sources[0].catchError { _ in time.cold("-b-|").asObservable() } },
    "catchErrorJustReturn(x)": { sources, _ in sources[0].catchErrorJustReturn("x") },
    "combineLatest": { sources, _ in
      Observable.combineLatest(sources[0], sources[1]).map { pair($0, ["a1", "a2", "b2"]) }
    },
    "compactMap(Int)": { sources, _ in sources[0].compactMap { Int($0) }.map { "\($0)" } },
    "concat": { sources, _ in sources[0].concat(sources[1]) },
    "concatMap": { sources, time in sources[0].concatMap { name in time.cold("x-x|").map { _ in name } } },
    "debounce(2)": { sources, time in sources[0].debounce(.seconds(2), scheduler: time) },
    "delay(2)": { sources, time in sources[0].delay(.seconds(2), scheduler: time) },
    "delaySubscription(2)": { sources, time in sources[0].delaySubscription(.seconds(2), scheduler: time) },
    "distinctUntilChanged": { sources, _ in sources[0].distinctUntilChanged() },
    "elementAt(1)": { sources, _ in sources[0].elementAt(1) },
    "empty": { _, _ in .empty() },
    "enumerated": { sources, _ in sources[0].enumerated().map { pair(("\($0.index)", $0.element), ["0a", "1b"]) } },
    "error": { _, _ in .error(TestError()) },
    "filter(even)": { sources, _ in sources[0].filter { try number($0).isMultiple(of: 2) } },
    "first()": { sources, _ in sources[0].first().asObservable().map { $0 ?? "?" } },
    "flatMap": { sources, time in sources[0].flatMap { name in time.cold("x-x|").map { _ in name } } },
    "flatMapFirst": { sources, time in sources[0].flatMapFirst { name in time.cold("x-x|").map { _ in name } } },
    "flatMapLatest": { sources, time in sources[0].flatMapLatest { name in time.cold("x-x-x|").map { _ in name } } },
    "from([a, b, c])": { _, _ in .from(["a", "b", "c"]) },
    "ifEmpty(default)": { sources, _ in sources[0].ifEmpty(default: "a") },
    "ifEmpty(switchTo)": { sources, time in sources[0].ifEmpty(switchTo: time.cold("-a-|").asObservable()) },
    "ignoreElements": { sources, _ in sources[0].ignoreElements().andThen(Source.empty()) },
    "interval(2)": { _, time in Observable<Int>.interval(.seconds(2), scheduler: time).map { "\($0)" } },
    "just(a)": { _, _ in .just("a") },
    "map(×10)": { sources, _ in sources[0].map { capital(try number($0) * 10, of: [10, 20, 30]) } },
    "mapError": { sources, _ in sources[0].mapError { _ in TestError() } },
    "materialize": { sources, _ in sources[0].materialize().map { capital($0, of: [.next("a"), .error(TestError())]) }
    },
    "merge": { sources, _ in .merge(sources) },
    "never": { _, _ in .never() },
    "of(a, b, c)": { _, _ in .of("a", "b", "c") },
    "pairwise": { sources, _ in sources[0].pairwise().map { pair($0, ["ab", "bc"]) } },
    "range(1, count 3)": { _, _ in Observable.range(start: 1, count: 3).map { "\($0)" } },
    "reduce(0, +)": { sources, _ in sources[0].reduce(0) { $0 + (try number($1)) }.map { "\($0)" } },
    "repeatElement(a), take(4)": { _, _ in Observable.repeatElement("a").take(4) },
    "retry": { sources, _ in sources[0].retry() },
    "retry(2)": { sources, _ in sources[0].retry(2) },
    "retryWhen": { sources, time in
      sources[0].retryWhen { $0.delay(.seconds(2), scheduler: time).take(2) }
    },
    "sample": { sources, _ in sources[0].sample(sources[1]) },
    "scan(0, +)": { sources, _ in sources[0].scan(0) { $0 + (try number($1)) }.map { "\($0)" } },
    "skip(2)": { sources, _ in sources[0].skip(2) },
    "skip(for 5)": { sources, time in sources[0].skip(for: .seconds(5), scheduler: time) },
    "skipUntil": { sources, _ in sources[0].skipUntil(sources[1]) },
    "skipWhile(<2)": { sources, _ in sources[0].skipWhile { try number($0) < 2 } },
    "startWith(a)": { sources, _ in sources[0].startWith("a") },
    "take(2)": { sources, _ in sources[0].take(2) },
    "take(for 6)": { sources, time in sources[0].take(for: .seconds(6), scheduler: time) },
    "takeLast(2)": { sources, _ in sources[0].takeLast(2) },
    "takeUntil": { sources, _ in sources[0].takeUntil(sources[1]) },
    "takeWhile(<2)": { sources, _ in sources[0].takeWhile { try number($0) < 2 } },
    "takeWhile(inclusive, <2)": { sources, _ in sources[0].takeWhile(.inclusive) { try number($0) < 2 } },
    "throttle(3)": { sources, time in sources[0].throttle(.seconds(3), scheduler: time) },
    "throttle(3, not latest)": { sources, time in
      sources[0].throttle(.seconds(3), latest: false, scheduler: time)
    },
    "timeout(4)": { sources, time in
      sources[0].timeout(.seconds(4), scheduler: time).mapError { _ in TestError() }
    },
    "timeout(4, other)": { sources, time in
      sources[0].timeout(.seconds(4), other: time.cold("-x-|").asObservable(), scheduler: time)
    },
    "timer(3, period 2)": { _, time in
      Observable<Int>.timer(.seconds(3), period: .seconds(2), scheduler: time).map { "\($0)" }
    },
    "toArray": { sources, _ in sources[0].toArray().map { capital($0, of: [["1", "2", "3"]]) }.asObservable() },
    "withLatestFrom": { sources, _ in sources[0].withLatestFrom(sources[1]) { pair(($0, $1), ["b1", "c2"]) } },
    "zip": { sources, _ in Observable.zip(sources[0], sources[1]).map { pair($0, ["a1", "b2"]) } },
  ]
}
