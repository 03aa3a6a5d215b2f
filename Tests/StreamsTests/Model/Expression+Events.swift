/// The model: the events of an expression as a function of the time of its subscription.
///
/// It is written from the definitions of ReactiveX and the contract, not from the operators, and it has no subscriptions,
/// threads or schedulers.
extension Expression {
  /// Returns the events from the time `start` to the time `limit`.
  func events(from start: Int, _ limit: Int) throws -> [Timed] {
    guard start <= limit else { return [] }
    let events =
      switch self {
      case .source(let source): source.events(start, limit)
      case .unary(let unary, let source): try unary.events(source, start, limit)
      case .several(let several, let sources): try several.events(sources, start, limit)
      case .flat(let flat, let source, let inners): try flat.events(source, inners, start, limit)
      }
    return Array(events.prefix { $0.time <= limit })
  }
}

extension Expression.Source {
  func events(_ start: Int, _ limit: Int) -> [Timed] {
    func burst(_ elements: some Sequence<Int>) -> [Timed] {
      elements.map { Timed(start, .next($0)) } + [Timed(start, .completed)]
    }
    switch self {
    case .cold(let events): return events.map { Timed(start + $0.time, $0.event) }
    case .of(let elements): return burst(elements)
    case .just(let element): return burst([element])
    case .range(let first, let count): return burst(first..<first + count)
    case .empty: return burst([])
    case .never: return []
    case .error(let code): return [Timed(start, .failed(code))]
    case .timer(let wait): return [Timed(start + wait, .next(0)), Timed(start + wait, .completed)]
    case .interval(let period):
      return stride(from: start + period, through: limit, by: period).enumerated().map { Timed($1, .next($0)) }
    case .repeated(let element, let count): return burst(Array(repeating: element, count: count))
    }
  }
}

extension Expression.Unary {
  func events(_ source: Expression, _ start: Int, _ limit: Int) throws -> [Timed] {
    switch self {
    case .take(let count) where count <= 0: return [Timed(start, .completed)]
    case .elementAt(let index) where index < 0: return [Timed(start, .failed(Closures.noElements))]
    case .startWith(let element): return [Timed(start, .next(element))] + (try source.events(from: start, limit))
    case .delaySubscription(let wait): return try source.events(from: start + wait, limit)
    case .retry(let count): return try Self.retried(source, count, start, limit)
    case .retryWhen(let pause, let times): return try Self.retried(source, pause: pause, times: times, start, limit)
    case .debounce, .throttle, .timeout, .buffer, .takeFor, .skipFor:
      return try timed(source, start, limit)
    case .delay(let wait): return try Self.delayed(try source.events(from: start, limit), wait)
    default: return transformed(try source.events(from: start, limit))
    }
  }

  // MARK: Without time

  private func transformed(_ events: [Timed]) -> [Timed] {
    var result: [Timed] = []
    var elements: [Int] = []
    for timed in events {
      let replacement = reaction(to: timed.event, after: elements)
      if case .next(let element) = timed.event { elements.append(element) }
      for event in replacement {
        result.append(Timed(timed.time, event))
        if case .next = event {} else { return result }
      }
    }
    return result
  }

  /// The events that replace an event which follows `former` elements.
  private func reaction(to event: ModelEvent, after former: [Int]) -> [ModelEvent] {
    switch event {
    case .next(let element): reaction(to: element, after: former)
    case .completed: completion(after: former)
    case .failed(let code): failure(code)
    }
  }

  private func reaction(to element: Int, after former: [Int]) -> [ModelEvent] {
    let count = former.count
    switch self {
    case .map: return [.next(Closures.map(element))]
    case .mapThrowing:
      do { return [.next(try Closures.mapThrowing(element))] } catch { return [.failed(element)] }
    case .filter: return Closures.filter(element) ? [.next(element)] : []
    case .compactMap: return element % 2 == 0 ? [.next(element / 2)] : []
    case .scan: return [.next((former + [element]).reduce(1, Closures.join))]
    case .enumerated: return [.next(Closures.join(count, element))]
    case .pairwise: return former.last.map { [.next(Closures.join($0, element))] } ?? []
    case .distinctUntilChanged: return former.last == element ? [] : [.next(element)]
    case .reduce, .toArray, .ignoreElements, .takeLast: return []
    case .first: return [.next(element), .completed]
    case .asSingle: return count == 1 ? [.failed(Closures.severalElements)] : []
    case .take(let limit): return count + 1 < limit ? [.next(element)] : [.next(element), .completed]
    case .skip(let skipped): return count < skipped ? [] : [.next(element)]
    case .takeWhile(let bound): return element < bound ? [.next(element)] : [.completed]
    case .skipWhile(let bound): return former.allSatisfy { $0 < bound } && element < bound ? [] : [.next(element)]
    case .elementAt(let index): return count == index ? [.next(element), .completed] : []
    case .bufferOfCount(let size):
      return (count + 1) % size == 0 ? [.next(Closures.fold(former.suffix(size - 1) + [element]))] : []
    default: return [.next(element)]
    }
  }

  private func completion(after former: [Int]) -> [ModelEvent] {
    switch self {
    case .reduce: [.next(former.reduce(1, Closures.join)), .completed]
    case .toArray: [.next(Closures.fold(former)), .completed]
    case .takeLast(let count): former.suffix(count).map { .next($0) } + [.completed]
    case .first: [.next(-1), .completed]
    case .asSingle: former.isEmpty ? [.failed(Closures.noElements)] : [.next(former[0]), .completed]
    case .elementAt: [.failed(Closures.noElements)]
    case .ifEmpty(let element): former.isEmpty ? [.next(element), .completed] : [.completed]
    case .materialize: [.next(-6), .completed]
    case .bufferOfCount(let size): [.next(Closures.fold(former.suffix(former.count % size))), .completed]
    default: [.completed]
    }
  }

  private func failure(_ code: Int) -> [ModelEvent] {
    switch self {
    case .materialize: [.next(-5), .completed]
    case .catchErrorJustReturn: [.next(77), .completed]
    case .mapError: [.failed(code + 100)]
    default: [.failed(code)]
    }
  }

  // MARK: With time

  private static func delayed(_ events: [Timed], _ wait: Int) throws -> [Timed] {
    guard let last = events.last, case .failed = last.event else {
      return events.map { Timed($0.time + wait, $0.event) }
    }
    // An error overtakes the elements that still wait.
    let delayed = events.dropLast().map { Timed($0.time + wait, $0.event) }
    if delayed.contains(where: { $0.time == last.time }) { throw Tie() }
    return delayed.filter { $0.time < last.time } + [last]
  }

  private enum Input: Hashable {
    case source, timer
  }

  private func timed(_ source: Expression, _ start: Int, _ limit: Int) throws -> [Timed] {
    let agenda = Agenda<Input>(start, limit)
    var kept: [Int] = []
    var isEnding = false
    var isOpen = false
    var reopening: Int?

    func emitBatch() {
      agenda.emit(Closures.fold(kept))
      kept = []
    }

    func handle(_ key: Input, _ event: ModelEvent) {
      switch (self, key, event) {
      case (.debounce(let wait), .source, .next(let element)):
        kept = [element]
        agenda.start(.timer, after: wait)
      case (.debounce, .timer, _), (.debounce, .source, .completed):
        for element in kept { agenda.emit(element) }
        kept = []
        if key == .source { agenda.end(event) }

      case (.throttle(let period, let latest), .source, .next(let element)):
        if let end = reopening, agenda.now < end {
          guard latest else { return }
          kept = [element]
          if !agenda.isOpen(.timer) { agenda.start(.timer, after: end - agenda.now) }
        } else {
          agenda.emit(element)
          reopening = agenda.now + period
        }
      case (.throttle(let period, _), .timer, _):
        for element in kept { agenda.emit(element) }
        kept = []
        reopening = agenda.now + period
        if isEnding { agenda.end(.completed) }
      case (.throttle, .source, .completed):
        if kept.isEmpty { agenda.end(event) } else { isEnding = true }

      case (.timeout(let wait), .source, .next(let element)):
        agenda.emit(element)
        agenda.start(.timer, after: wait)
      case (.timeout, .timer, _): agenda.end(.failed(Closures.timeout))

      case (.buffer(let span, let count), .source, .next(let element)):
        kept.append(element)
        guard kept.count == count else { return }
        emitBatch()
        agenda.start(.timer, after: span)
      case (.buffer(let span, _), .timer, _):
        emitBatch()
        agenda.start(.timer, after: span)
      case (.buffer, .source, .completed):
        emitBatch()
        agenda.end(event)

      case (.takeFor, .timer, _): agenda.end(.completed)
      case (.skipFor, .timer, _): isOpen = true
      case (.skipFor, .source, .next(let element)): if isOpen { agenda.emit(element) }

      case (_, .source, .next(let element)): agenda.emit(element)
      default: agenda.end(event)
      }
    }

    switch self {
    case .timeout(let wait), .takeFor(let wait), .skipFor(let wait), .buffer(let wait, _):
      agenda.start(.timer, after: wait)
    default: break
    }
    try agenda.subscribe(.source, source, handle)
    try agenda.run(handle)
    return agenda.output
  }

  // MARK: Trying again

  private static func retried(_ source: Expression, _ count: Int, _ start: Int, _ limit: Int) throws -> [Timed] {
    guard count > 0 else { return [Timed(start, .completed)] }
    var result: [Timed] = []
    var begin = start
    for attempt in 1...count {
      let events = try source.events(from: begin, limit)
      guard attempt < count, let last = events.last, case .failed = last.event else { return result + events }
      result += events.dropLast()
      begin = last.time
    }
    return result
  }

  /// Retries after each of `times` pauses; the last one completes the notifications, and so the result.
  private static func retried(
    _ source: Expression, pause: Int, times: Int, _ start: Int, _ limit: Int
  ) throws -> [Timed] {
    // `take(0)` completes the notifications immediately.
    guard times > 0 else { return [Timed(start, .completed)] }
    var result: [Timed] = []
    var begin = start
    for _ in 0..<times {
      let events = try source.events(from: begin, limit)
      guard let last = events.last, case .failed = last.event else { return result + events }
      result += events.dropLast()
      begin = last.time + pause
    }
    // The last attempt starts, and has only the time of its subscription before the notifications complete.
    let events = try source.events(from: begin, limit).filter { $0.time == begin }
    guard let last = events.last else { return result + [Timed(begin, .completed)] }
    if case .completed = last.event { return result + events }
    if case .failed = last.event { return result + events.dropLast() + [Timed(begin, .completed)] }
    return result + events + [Timed(begin, .completed)]
  }
}
