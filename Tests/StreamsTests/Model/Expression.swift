import Races

/// A chain of operators on integers: it can be evaluated by the model, and built with the real operators.
indirect enum Expression: Sendable {
  case source(Source)
  case unary(Unary, Expression)
  case several(Several, [Expression])
  /// Each element selects one of the inner streams.
  case flat(Flat, Expression, [Expression])

  enum Source: Sendable {
    /// Events at times after the subscription.
    case cold([Timed])
    case of([Int])
    case just(Int)
    case range(Int, Int)
    case empty
    case never
    case error(Int)
    case timer(Int)
    case interval(Int)
    case repeated(Int, take: Int)
  }

  enum Unary: Sendable {
    case map, mapThrowing, filter, compactMap, scan, reduce, toArray, enumerated, pairwise, materialize, ignoreElements
    case distinctUntilChanged, first, asSingle, mapError, catchErrorJustReturn, identity(Identity)
    case take(Int)
    case skip(Int)
    case takeLast(Int)
    case takeWhile(Int)
    case skipWhile(Int)
    case elementAt(Int)
    case startWith(Int)
    case ifEmpty(Int)
    case bufferOfCount(Int)
    case retry(Int)
    case delay(Int)
    case delaySubscription(Int)
    case debounce(Int)
    case throttle(Int, latest: Bool)
    case timeout(Int)
    case buffer(Int, Int)
    case takeFor(Int)
    case skipFor(Int)
    /// Tries again after a pause, at most so many times.
    case retryWhen(pause: Int, times: Int)
  }

  /// Operators that change nothing for one observer.
  enum Identity: CaseIterable {
    case share, shareReplay, refCount, create, deferred, using, doNothing, serialize, subscribeOn, observeOn
  }

  enum Several: Sendable {
    case concat, merge, zip, zipOfArray, combineLatest, combineLatestOfArray, amb, withLatestFrom, takeUntil, skipUntil
    case sample, catchError, ifEmpty
    case timeoutOther(Int)
  }

  enum Flat: CaseIterable {
    case flatMap, concatMap, flatMapLatest, flatMapFirst, mergeOfTwo
  }
}

/// An event at a virtual time.
struct Timed: Equatable, Sendable, CustomStringConvertible {
  var time: Int
  var event: ModelEvent

  init(_ time: Int, _ event: ModelEvent) { (self.time, self.event) = (time, event) }

  var description: String { "\(event)@\(time)" }
}

enum ModelEvent: Equatable, Sendable, CustomStringConvertible {
  case next(Int)
  case failed(Int)
  case completed

  var description: String {
    switch self {
    case .next(let element): "\(element)"
    case .failed(let code): "#\(code)"
    case .completed: "|"
    }
  }
}

/// The closures that the model and the operators use.
enum Closures {
  struct Failure: Error, Equatable {
    let code: Int
  }

  static let timeout = 901
  static let noElements = 902
  static let severalElements = 903

  static func map(_ element: Int) -> Int { (element * 3 + 1) % 100 }

  static func mapThrowing(_ element: Int) throws -> Int {
    if element % 5 == 4 { throw Failure(code: element) }
    return element + 1
  }

  static func filter(_ element: Int) -> Bool { element % 3 != 0 }

  static func join(_ first: Int, _ second: Int) -> Int { (first * 7 + second) % 100 }

  static func fold(_ elements: [Int]) -> Int { elements.count * 100 + elements.reduce(0, join) }
}

// MARK: Random expressions

extension Expression {
  static func random(depth: Int, _ generator: inout SplitMix64) -> Expression {
    guard depth > 0, Int.random(in: 0..<10, using: &generator) > 0 else { return .source(.random(&generator)) }
    let kind = Int.random(in: 0..<10, using: &generator)
    if kind < 5 { return .unary(.random(&generator), random(depth: depth - 1, &generator)) }
    if kind < 8 {
      let several = Several.random(&generator)
      let count = Int.random(in: several.counts, using: &generator)
      return .several(several, (0..<count).map { _ in random(depth: depth - 1, &generator) })
    }
    let inners = (0..<Int.random(in: 1...3, using: &generator)).map { _ in random(depth: depth - 2, &generator) }
    return .flat(.allCases.randomElement(using: &generator) ?? .flatMap, random(depth: depth - 1, &generator), inners)
  }

  var children: [Expression] {
    switch self {
    case .source: []
    case .unary(_, let source): [source]
    case .several(_, let sources): sources
    case .flat(_, let source, let inners): [source] + inners
    }
  }
}

extension Expression.Source {
  static func random(_ generator: inout SplitMix64) -> Expression.Source {
    func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &generator) }
    switch number(0...19) {
    case 0: return .of((0..<number(0...4)).map { _ in number(0...9) })
    case 1: return .just(number(0...9))
    case 2: return .range(number(0...9), number(0...4))
    case 3: return .empty
    case 4: return .never
    case 5: return .error(number(1...9))
    case 6: return .timer(number(1...60))
    case 7: return .interval(number(7...60))
    case 8: return .repeated(number(0...9), take: number(0...3))
    default:
      var time = 0
      var events = (0..<number(0...6)).map { _ -> Timed in
        // Sometimes several elements at the same time.
        time += number(0...9) == 0 && time > 0 ? 0 : number(1...40)
        return Timed(time, .next(number(0...9)))
      }
      switch number(0...5) {
      case 0: break
      case 1: events.append(Timed(time + number(1...40), .failed(number(1...9))))
      default: events.append(Timed(time + number(1...40), .completed))
      }
      return .cold(events)
    }
  }
}

extension Expression.Unary {
  static func random(_ generator: inout SplitMix64) -> Expression.Unary {
    func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &generator) }
    let all: [Expression.Unary] = [
      .map, .mapThrowing, .filter, .compactMap, .scan, .reduce, .toArray, .enumerated, .pairwise, .materialize,
      .ignoreElements, .distinctUntilChanged, .first, .asSingle, .mapError, .catchErrorJustReturn,
      .identity(.allCases.randomElement(using: &generator) ?? .share), .take(number(0...4)), .skip(number(0...4)),
      .takeLast(number(0...3)), .takeWhile(number(2...9)), .skipWhile(number(2...9)), .elementAt(number(-1...3)),
      .startWith(number(0...9)), .ifEmpty(number(0...9)), .bufferOfCount(number(1...3)), .retry(number(0...3)),
      .delay(number(1...50)), .delaySubscription(number(1...50)), .debounce(number(1...30)),
      .throttle(number(1...60), latest: number(0...1) == 0), .timeout(number(1...80)),
      .buffer(number(5...80), number(1...4)), .takeFor(number(1...120)), .skipFor(number(1...60)),
      .retryWhen(pause: number(1...30), times: number(0...2)),
    ]
    return all.randomElement(using: &generator) ?? .map
  }
}

extension Expression.Several {
  /// The numbers of streams that the operator takes here.
  var counts: ClosedRange<Int> {
    switch self {
    case .concat, .merge, .zipOfArray, .combineLatestOfArray, .amb: 1...4
    case .zip, .combineLatest: 2...3
    default: 2...2
    }
  }

  static func random(_ generator: inout SplitMix64) -> Expression.Several {
    let all: [Expression.Several] = [
      .concat, .merge, .zip, .zipOfArray, .combineLatest, .combineLatestOfArray, .amb, .withLatestFrom, .takeUntil,
      .skipUntil, .sample, .catchError, .ifEmpty, .timeoutOther(.random(in: 1...60, using: &generator)),
    ]
    return all.randomElement(using: &generator) ?? .merge
  }
}
