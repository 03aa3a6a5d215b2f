import Dispatch
import OpenCombine
import OpenCombineDispatch
import Streams

/// Returns a source as apps write it, opaque to the compiler: `create` here, a subject for OpenCombine.
func created(_ count: Int) -> Observable<Int> {
  opaque(
    Observable.create { observer in
      for value in 1...count { observer.onNext(value) }
      observer.onCompleted()
      return Disposables.create()
    })
}

/// Sends 1 to `count` to `subject` while three observers are subscribed to `stream`.
func toThree(_ stream: Observable<Int>, _ count: Int, _ add: @escaping @Sendable (Int) -> Void, _ send: (Int) -> Void) {
  let all = (0..<3).map { _ in opaque(stream).subscribe(onNext: add) }
  for value in 1...count { send(value) }
  for one in all { one.dispose() }
}

func toThree(
  _ stream: some Publisher<Int, Never>, _ count: Int, _ add: @escaping @Sendable (Int) -> Void, _ send: (Int) -> Void
) {
  let all = (0..<3).map { _ in stream.sink(receiveValue: add) }
  for value in 1...count { send(value) }
  for one in all { one.cancel() }
}

/// Returns the rows for the most frequent uses in apps: an opaque chain over `create` or a subject.
func makeAppRows() -> [Row] {
  let total = Total()
  let add: @Sendable (Int) -> Void = opaque { total.value &+= $0 }
  let addArray: @Sendable ([Int]) -> Void = { add($0.count) }
  let increment: @Sendable (Int) -> Int = opaque { $0 &+ 1 }
  let keepMost: @Sendable (Int) -> Bool = opaque { $0 & 0xFFFF != 0xFFFF }
  let sum: @Sendable (Int, Int) -> Int = opaque { $0 &+ $1 }
  let million = opaque(1_000_000)
  let events = opaque(300_000)
  let times = opaque(100_000)
  struct Failure: Error {}

  let publish = {
    let subject = PublishSubject<Int>()
    toThree(subject.asObservable(), events, add) { subject.onNext($0) }
  }
  let passthrough = {
    let subject = PassthroughSubject<Int, Never>()
    toThree(subject, events, add) { subject.send($0) }
  }
  let currentValue = {
    let subject = CurrentValueSubject<Int, Never>(0)
    toThree(subject, events, add) { subject.send($0) }
  }
  let loop = { for value in 1...million { add(increment(value)) } }
  let singles = {
    for value in 1...times {
      _ = opaque(opaque(Single.just(value)).map { $0 &+ 1 }.flatMap { .just($0) }).subscribe(onSuccess: { _ in })
    }
  }

  return [
    Row(
      name: "publish", title: "PublishSubject to 3, per event", count: events, unit: "ns/event", ours: publish,
      openCombine: passthrough),
    Row(
      name: "behavior", title: "BehaviorSubject to 3 (loop: PublishSubject)", count: events, unit: "ns/event",
      ours: {
        let subject = BehaviorSubject(value: 0)
        toThree(subject.asObservable(), events, add) { subject.onNext($0) }
      }, openCombine: currentValue, loop: publish, targets: [.time(50), .loop(1.3)]),
    Row(
      name: "relay", title: "BehaviorRelay to 3 (loop: PublishSubject)", count: events, unit: "ns/event",
      ours: {
        let relay = BehaviorRelay(value: 0)
        toThree(relay.asObservable(), events, add) { relay.accept($0) }
      }, openCombine: currentValue, loop: publish, targets: [.time(50), .loop(1.3)]),
    Row(
      name: "replay", title: "ReplaySubject(1) to 3 (loop: PublishSubject)", count: events, unit: "ns/event",
      ours: {
        let subject = ReplaySubject<Int>.create(bufferSize: 1)
        toThree(subject.asObservable(), events, add) { subject.onNext($0) }
      }, openCombine: currentValue, loop: publish, targets: [.time(50), .loop(1.3)]),
    Row(
      name: "share", title: "map, share() to 3, per event", count: events, unit: "ns/event",
      ours: {
        let subject = PublishSubject<Int>()
        toThree(opaque(subject.map(increment)).share(), events, add) { subject.onNext($0) }
      },
      openCombine: {
        let subject = PassthroughSubject<Int, Never>()
        toThree(subject.map(increment).share(), events, add) { subject.send($0) }
      }, targets: [.time(65)]),
    Row(
      name: "share1", title: "map, share(replay: 1) to 3, per event", count: events, unit: "ns/event",
      ours: {
        let subject = PublishSubject<Int>()
        toThree(opaque(subject.map(increment)).share(replay: 1), events, add) { subject.onNext($0) }
      },
      openCombine: {
        let subject = PassthroughSubject<Int, Never>()
        toThree(
          subject.map(increment).multicast(subject: CurrentValueSubject<Int, Never>(0)).autoconnect(), events, add
        ) {
          subject.send($0)
        }
      }, targets: [.time(110)]),
    Row(
      name: "observeOn", title: "observeOn, producer and consumer on two threads", count: 500_000,
      ours: {
        let done = DispatchSemaphore(value: 0)
        let scheduler = SerialDispatchQueueScheduler(internalSerialQueueName: "bench")
        _ = opaque(created(500_000).observeOn(scheduler)).subscribe(onNext: add, onCompleted: { done.signal() })
        done.wait()
      },
      openCombine: {
        let done = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "bench")
        feed(500_000) {
          $0.receive(on: queue.ocombine).sink(receiveCompletion: { _ in done.signal() }, receiveValue: add)
        } finally: {
          done.wait()
        }
      }, targets: [.time(110), .openCombine(5)]),
    Row(
      name: "buffer", title: "buffer(count: 100)", count: million,
      ours: {
        let chain = created(million).buffer(timeSpan: .zero, count: 100, scheduler: MainScheduler.instance)
        _ = opaque(chain).subscribe(onNext: addArray)
      }, openCombine: { feed(million) { $0.collect(100).eraseToAnyPublisher().sink(receiveValue: addArray) } },
      targets: [.time(40)]),
    Row(
      name: "withLatestFrom", title: "withLatestFrom a subject", count: million,
      ours: {
        let latest = BehaviorSubject(value: 1)
        _ = opaque(created(million).withLatestFrom(latest, resultSelector: sum)).subscribe(onNext: add)
      }, targets: [.time(55)]),
    Row(
      name: "zip", title: "zip of two subjects, per pair", count: events, unit: "ns/pair",
      ours: {
        let first = PublishSubject<Int>()
        let second = PublishSubject<Int>()
        let chain = opaque(
          Observable.zip(opaque(first.asObservable()), opaque(second.asObservable()), resultSelector: sum))
        _ = chain.subscribe(onNext: add)
        for value in 1...events {
          first.onNext(value)
          second.onNext(value)
        }
        first.onCompleted()
        second.onCompleted()
      },
      openCombine: {
        let first = PassthroughSubject<Int, Never>()
        let second = PassthroughSubject<Int, Never>()
        let cancellable = first.zip(second, sum).eraseToAnyPublisher().sink(receiveValue: add)
        for value in 1...events {
          first.send(value)
          second.send(value)
        }
        cancellable.cancel()
      }, targets: [.time(70)]),
    Row(
      name: "merge", title: "merge of 10", count: million,
      ours: { _ = opaque(Observable.merge((0..<10).map { _ in created(million / 10) })).subscribe(onNext: add) },
      targets: [.time(35)]),
    Row(
      name: "map", title: "map", count: million,
      ours: { _ = opaque(created(million).map(increment)).subscribe(onNext: add) },
      openCombine: { feed(million) { $0.map(increment).eraseToAnyPublisher().sink(receiveValue: add) } }, loop: loop,
      targets: [.time(22)]),
    Row(
      name: "mapFilter", title: "map ×4, filter ×2", count: million,
      ours: {
        _ = opaque(
          created(million).map(increment).map(increment).filter(keepMost).map(increment).filter(keepMost).map(increment)
        ).subscribe(onNext: add)
      },
      openCombine: {
        feed(million) {
          $0.map(increment).map(increment).filter(keepMost).map(increment).filter(keepMost).map(increment)
            .eraseToAnyPublisher().sink(receiveValue: add)
        }
      }, targets: [.time(42)]),
    Row(
      name: "takeUntil", title: "takeUntil", count: million,
      ours: { _ = opaque(created(million).takeUntil(Observable<Int>.never())).subscribe(onNext: add) },
      openCombine: {
        feed(million) {
          $0.prefix(untilOutputFrom: PassthroughSubject<Int, Never>()).eraseToAnyPublisher().sink(receiveValue: add)
        }
      }, targets: [.time(30)]),
    Row(
      name: "subscribe", title: "subscribe, dispose just→map→filter", count: times, unit: "ns/subscription",
      ours: {
        for value in 1...times {
          opaque(Observable.just(value).map { $0 &+ 1 }.filter { $0 != 0 }).subscribe(onNext: { total.value &+= $0 })
            .dispose()
        }
      },
      openCombine: {
        for value in 1...times {
          Just(value).map { $0 &+ 1 }.filter { $0 != 0 }.eraseToAnyPublisher().sink { total.value &+= $0 }.cancel()
        }
      }, targets: [.time(200), .mallocs(6)]),
    Row(
      name: "single", title: "Single: map, flatMap, subscribe once", count: times, unit: "ns/subscription",
      ours: {
        for value in 1...times {
          let single = Single<Int>.create { observer in
            observer(.success(value))
            return Disposables.create()
          }
          _ = opaque(opaque(single).map { $0 &+ 1 }.flatMap { .just($0) }).subscribe(onSuccess: { total.value &+= $0 })
        }
      }, targets: [.time(300)]),
    Row(
      name: "threads", title: "Single: map, flatMap, on two threads (loop: on one)", count: times,
      unit: "ns/subscription",
      ours: { DispatchQueue.concurrentPerform(iterations: 2) { _ in singles() } }, loop: singles),
    Row(
      name: "catchError", title: "catchErrorJustReturn, subscribe once", count: times, unit: "ns/subscription",
      ours: {
        for value in 1...times {
          let source = opaque(Observable<Int>.error(Failure()))
          _ = opaque(source.catchErrorJustReturn(value)).subscribe(onNext: { total.value &+= $0 })
        }
      },
      openCombine: {
        for value in 1...times {
          Fail<Int, Failure>(error: Failure()).replaceError(with: value).eraseToAnyPublisher().sink {
            total.value &+= $0
          }
          .cancel()
        }
      }, targets: [.time(280)]),
    Row(
      name: "startWith", title: "startWith, subscribe once", count: times, unit: "ns/subscription",
      ours: {
        for value in 1...times {
          _ = opaque(opaque(Observable.just(value)).startWith(value)).subscribe(onNext: { total.value &+= $0 })
        }
      }, targets: [.time(120)]),
  ]
}
