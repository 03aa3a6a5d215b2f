/// The model of the operators on several streams.
extension Expression.Several {
  func events(_ sources: [Expression], _ start: Int, _ limit: Int) throws -> [Timed] {
    switch self {
    case .concat: try Self.inOrder(sources, start, limit) { $0 == .completed }
    case .catchError:
      try Self.inOrder(sources, start, limit) { event in
        if case .failed = event { true } else { false }
      }
    case .ifEmpty:
      try Self.ifEmpty(sources, start, limit)
    default: try joined(sources, start, limit)
    }
  }

  /// Continues with the next stream when a terminal event fits.
  private static func inOrder(
    _ sources: [Expression], _ start: Int, _ limit: Int, continues: (ModelEvent) -> Bool
  ) throws -> [Timed] {
    var result: [Timed] = []
    var begin = start
    for (index, source) in sources.enumerated() {
      let events = try source.events(from: begin, limit)
      guard index + 1 < sources.count, let last = events.last, continues(last.event) else { return result + events }
      result += events.dropLast()
      begin = last.time
    }
    return result
  }

  private static func ifEmpty(_ sources: [Expression], _ start: Int, _ limit: Int) throws -> [Timed] {
    let events = try sources[0].events(from: start, limit)
    guard events.count == 1, events[0].event == .completed else { return events }
    return try sources[1].events(from: events[0].time, limit)
  }

  /// The key of the timer of `timeout(other:)`.
  private static let timer = -1

  private func joined(_ sources: [Expression], _ start: Int, _ limit: Int) throws -> [Timed] {
    let agenda = Agenda<Int>(start, limit)
    var queues: [[Int]] = sources.map { _ in [] }
    var closed = sources.map { _ in false }
    var winner: Int?
    var isOpen = false

    func handle(_ key: Int, _ event: ModelEvent) throws {
      if case .failed = event, !isAmb { return agenda.end(event) }
      switch (self, event) {
      case (.merge, .next(let element)): agenda.emit(element)
      case (.merge, _):
        closed[key] = true
        if !closed.contains(false) { agenda.end(.completed) }

      case (.zip, _), (.zipOfArray, _):
        if case .next(let element) = event { queues[key].append(element) } else { closed[key] = true }
        if !queues.contains(where: \.isEmpty) {
          agenda.emit(Closures.fold(queues.map { $0[0] }))
          for index in queues.indices { queues[index].removeFirst() }
        }
        if queues.indices.contains(where: { closed[$0] && queues[$0].isEmpty }) { agenda.end(.completed) }

      case (.combineLatest, _), (.combineLatestOfArray, _):
        if case .next(let element) = event {
          queues[key] = [element]
          if !queues.contains(where: \.isEmpty) { agenda.emit(Closures.fold(queues.map { $0[0] })) }
        } else {
          closed[key] = true
          if !closed.contains(false) || queues[key].isEmpty { agenda.end(.completed) }
        }

      case (.amb, _):
        if winner == nil {
          winner = key
          for other in sources.indices where other != key { agenda.drop(other) }
        }
        guard winner == key else { return }
        if case .next(let element) = event { agenda.emit(element) } else { agenda.end(event) }

      case (.withLatestFrom, .next(let element)):
        if key == 1 {
          queues[1] = [element]
        } else if let latest = queues[1].first {
          agenda.emit(Closures.join(element, latest))
        }
      case (.takeUntil, .next(let element)): if key == 1 { agenda.end(.completed) } else { agenda.emit(element) }
      case (.skipUntil, .next(let element)):
        if key == 1 {
          isOpen = true
          agenda.drop(1)
        } else if isOpen {
          agenda.emit(element)
        }
      case (.withLatestFrom, .completed), (.takeUntil, .completed), (.skipUntil, .completed):
        if key == 0 { agenda.end(event) }

      case (.sample, .next(let element)):
        if key == 0 { return queues[0] = [element] }
        queues[0].forEach(agenda.emit)
        queues[0] = []
        if closed[0] { agenda.end(.completed) }
      case (.sample, _):
        if key == 1 { queues[0].forEach(agenda.emit) }
        closed[key] = true
        if key == 1 || queues[0].isEmpty { agenda.end(event) }

      case (.timeoutOther(let wait), _):
        if key == Self.timer {
          agenda.drop(0)
          try agenda.subscribe(1, sources[1], handle)
        } else if case .next(let element) = event {
          agenda.emit(element)
          if key == 0 { agenda.start(Self.timer, after: wait) }
        } else {
          agenda.end(event)
        }
      default: agenda.end(event)
      }
    }

    switch self {
    case .timeoutOther(let wait):
      agenda.start(Self.timer, after: wait)
      try agenda.subscribe(0, sources[0], handle)
    // The second stream decides about the elements of the first.
    case .withLatestFrom, .takeUntil, .skipUntil:
      try agenda.subscribe(1, sources[1], handle)
      try agenda.subscribe(0, sources[0], handle)
    default:
      for index in sources.indices where winner == nil { try agenda.subscribe(index, sources[index], handle) }
    }
    try agenda.run(handle)
    return agenda.output
  }

  private var isAmb: Bool {
    if case .amb = self { true } else { false }
  }
}

extension Expression.Flat {
  private enum Input: Hashable {
    case outer
    case inner(Int)
  }

  func events(_ source: Expression, _ inners: [Expression], _ start: Int, _ limit: Int) throws -> [Timed] {
    let agenda = Agenda<Input>(start, limit)
    var waiting: [Int] = []
    var started = 0
    var active: Set<Int> = []
    var outerHasEnded = false
    let most = self == .concatMap ? 1 : self == .mergeOfTwo ? 2 : Int.max

    func begin(_ element: Int) throws {
      started += 1
      active.insert(started)
      try agenda.subscribe(.inner(started), inners[abs(element) % inners.count], handle)
    }

    func handle(_ key: Input, _ event: ModelEvent) throws {
      switch (key, event) {
      case (_, .failed): return agenda.end(event)
      case (.inner, .next(let element)): return agenda.emit(element)
      case (.inner(let number), .completed): active.remove(number)
      case (.outer, .completed): outerHasEnded = true
      case (.outer, .next(let element)):
        switch self {
        case .flatMap: try begin(element)
        case .flatMapFirst: if active.isEmpty { try begin(element) }
        case .flatMapLatest:
          for number in active { agenda.drop(.inner(number)) }
          active = []
          try begin(element)
        case .concatMap, .mergeOfTwo: waiting.append(element)
        }
      }
      while active.count < most, !waiting.isEmpty { try begin(waiting.removeFirst()) }
      if outerHasEnded, active.isEmpty, waiting.isEmpty { agenda.end(.completed) }
    }

    try agenda.subscribe(.outer, source, handle)
    try agenda.run(handle)
    return agenda.output
  }
}
