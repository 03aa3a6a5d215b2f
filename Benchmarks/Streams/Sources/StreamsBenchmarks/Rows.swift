import Dispatch
import Foundation
import OpenCombine
import OpenCombineDispatch
import Streams

final class Total: @unchecked Sendable {
  var value = 0
}

struct Person: Sendable {
  var id: Int
  var name: String
}

/// Sends values to a subject, OpenCombine's counterpart of a concrete loop.
func feed(
  _ count: Int, _ chain: (PassthroughSubject<Int, Never>) -> AnyCancellable, finally: () -> Void = {}
) {
  let subject = PassthroughSubject<Int, Never>()
  let cancellable = chain(subject)
  for value in 1...count { subject.send(value) }
  subject.send(completion: .finished)
  finally()
  cancellable.cancel()
}

/// Returns the rows whose source is a concrete loop or a subject. It is a function so that the closures capture local
/// variables, which cost no access check.
func makeLoopRows() -> [Row] {
  let total = Total()
  let add: @Sendable (Int) -> Void = opaque { total.value &+= $0 }
  let addPair: @Sendable (Int, Int) -> Void = opaque { total.value &+= $0 &+ $1 }
  let increment: @Sendable (Int) -> Int = opaque { $0 &+ 1 }
  let keepMost: @Sendable (Int) -> Bool = opaque { $0 & 0xFFFF != 0xFFFF }
  let sum: @Sendable (Int, Int) -> Int = opaque { $0 &+ $1 }
  let agePerson: @Sendable (Person) -> Person = opaque { Person(id: $0.id &+ 1, name: $0.name) }
  let keepPerson: @Sendable (Person) -> Bool = opaque { $0.id & 0xFFFF != 0xFFFF }
  let addPerson: @Sendable (Person) -> Void = opaque { total.value &+= $0.id }
  let million = opaque(1_000_000)
  let ada = Person(id: 1, name: "Ada Lovelace, Countess")

  return [
    Row(
      name: "a", title: "range, map", count: million,
      ours: { _ = Observable.range(start: 1, count: million).map(increment).subscribe(onNext: add) },
      openCombine: { feed(million) { $0.map(increment).sink(receiveValue: add) } },
      loop: { for value in 1...million { add(increment(value)) } },
      targets: [.loop(5), .openCombine(12)]),
    Row(
      name: "a1", title: "the same, built elsewhere", count: million,
      ours: { _ = opaque(Observable.range(start: 1, count: million).map(increment)).subscribe(onNext: add) },
      openCombine: { feed(million) { $0.map(increment).eraseToAnyPublisher().sink(receiveValue: add) } },
      loop: { for value in 1...million { add(increment(value)) } },
      targets: [.loop(5), .openCombine(12)]),
    Row(
      name: "a2", title: "create, map (serialised)", count: million,
      ours: {
        _ = Observable<Int>.create { observer in
          for value in 1...million { observer.onNext(value) }
          observer.onCompleted()
          return Disposables.create()
        }.map(increment).subscribe(onNext: add)
      },
      openCombine: { feed(million) { $0.map(increment).sink(receiveValue: add) } },
      loop: { for value in 1...million { add(increment(value)) } },
      targets: [.loop(10)]),
    Row(
      name: "b", title: "range, map ×4, filter ×2", count: million,
      ours: {
        _ = Observable.range(start: 1, count: million).map(increment).map(increment).filter(keepMost).map(increment)
          .filter(keepMost).map(increment).subscribe(onNext: add)
      },
      openCombine: {
        feed(million) {
          $0.map(increment).map(increment).filter(keepMost).map(increment).filter(keepMost).map(increment)
            .sink(receiveValue: add)
        }
      },
      loop: {
        for value in 1...million {
          let first = increment(increment(value))
          guard keepMost(first) else { continue }
          let second = increment(first)
          if keepMost(second) { add(increment(second)) }
        }
      },
      targets: [.loop(6), .openCombine(7)]),
    Row(
      name: "b1", title: "the same, built elsewhere", count: million,
      ours: {
        _ = opaque(
          Observable.range(start: 1, count: million).map(increment).map(increment).filter(keepMost).map(increment)
            .filter(keepMost).map(increment)
        ).subscribe(onNext: add)
      },
      loop: {
        for value in 1...million {
          let first = increment(increment(value))
          guard keepMost(first) else { continue }
          let second = increment(first)
          if keepMost(second) { add(increment(second)) }
        }
      },
      targets: [.loop(6)]),
    Row(
      name: "c", title: "flatMap to one value", count: million,
      ours: {
        _ = Observable.range(start: 1, count: million).flatMap { Observable.just(increment($0)) }.subscribe(onNext: add)
      },
      openCombine: { feed(million) { $0.flatMap { Just(increment($0)) }.sink(receiveValue: add) } },
      loop: { for value in 1...million { add(increment(value)) } },
      targets: [.openCombine(30)]),
    Row(
      name: "c2", title: "flatMap to three values, per outer", count: 200_000,
      ours: {
        _ = Observable.range(start: 1, count: 200_000).flatMap { Observable.of($0, $0 &+ 1, $0 &+ 2) }
          .subscribe(onNext: add)
      },
      openCombine: { feed(200_000) { $0.flatMap { [$0, $0 &+ 1, $0 &+ 2].publisher }.sink(receiveValue: add) } },
      targets: [.time(300)]),
    Row(
      name: "d", title: "zip of two 1M sources", count: million,
      ours: {
        _ = Observable.zip(Observable.range(start: 1, count: million), Observable.range(start: 1, count: million))
          .subscribe(onNext: { addPair($0.0, $0.1) })
      },
      // The time is linear only up to some thousand queued values, so the work is split into blocks of 2,000.
      openCombine: {
        for _ in 0..<(million / 2000) {
          (1...2000).publisher.zip((1...2000).publisher).sink { addPair($0.0, $0.1) }.cancel()
        }
      },
      loop: { for value in 1...million { addPair(value, value) } },
      targets: [.openCombine(15)]),
    Row(
      name: "e", title: "merge of 10 × 100k", count: million,
      ours: {
        _ = Observable.merge((0..<10).map { _ in Observable.range(start: 1, count: 100_000) }).subscribe(onNext: add)
      },
      openCombine: {
        (0..<10).publisher.flatMap { _ in (1...100_000).publisher }.sink(receiveValue: add).cancel()
      },
      loop: { for value in 1...million { add(value) } },
      targets: [.openCombine(15)]),
    Row(
      name: "f", title: "subject to 10 observers, per event", count: 200_000, unit: "ns/event",
      ours: {
        let subject = PublishSubject<Int>()
        let bag = DisposeBag()
        for _ in 0..<10 { subject.subscribe(onNext: add).disposed(by: bag) }
        for value in 1...200_000 { subject.onNext(value) }
        subject.onCompleted()
      },
      openCombine: {
        let subject = PassthroughSubject<Int, Never>()
        var all: Set<AnyCancellable> = []
        for _ in 0..<10 { subject.sink(receiveValue: add).store(in: &all) }
        for value in 1...200_000 { subject.send(value) }
        subject.send(completion: .finished)
      },
      targets: [.openCombine(12)]),
    Row(
      name: "g", title: "subscribe, dispose just→map→filter", count: 100_000, unit: "ns/subscription",
      ours: {
        for value in 1...100_000 {
          Observable.just(value).map(increment).filter(keepMost).subscribe(onNext: add).dispose()
        }
      },
      openCombine: {
        for value in 1...100_000 { Just(value).map(increment).filter(keepMost).sink(receiveValue: add).cancel() }
      },
      targets: [.time(350), .mallocs(6), .openCombine(5)]),
    Row(
      name: "h", title: "observeOn a serial queue, 500k", count: 500_000,
      ours: {
        let done = DispatchSemaphore(value: 0)
        let scheduler = SerialDispatchQueueScheduler(internalSerialQueueName: "bench")
        _ = Observable.range(start: 1, count: 500_000).observeOn(scheduler)
          .subscribe(onNext: add, onCompleted: { done.signal() })
        done.wait()
      },
      openCombine: {
        let done = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "bench")
        let cancellable = (1...500_000).publisher.receive(on: queue.ocombine)
          .sink(receiveCompletion: { _ in done.signal() }, receiveValue: add)
        done.wait()
        cancellable.cancel()
      },
      targets: [.openCombine(8)]),
    Row(
      name: "i", title: "scan", count: million,
      ours: { _ = Observable.range(start: 1, count: million).scan(0, accumulator: sum).subscribe(onNext: add) },
      openCombine: { (1...million).publisher.scan(0, sum).sink(receiveValue: add).cancel() },
      loop: {
        var state = 0
        for value in 1...million {
          state = sum(state, value)
          add(state)
        }
      },
      targets: [.openCombine(15)]),
    Row(
      name: "i2", title: "toArray", count: million,
      ours: { _ = Observable.range(start: 1, count: million).toArray().subscribe(onSuccess: { add($0.count) }) },
      openCombine: { (1...million).publisher.eraseToAnyPublisher().collect().sink { add($0.count) }.cancel() },
      loop: {
        var array: [Int] = []
        for value in 1...million { array.append(value) }
        add(array.count)
      },
      targets: [.openCombine(15)]),
    Row(
      name: "j", title: "shared by 3, per event", count: 300_000, unit: "ns/event",
      ours: {
        let subject = PublishSubject<Int>()
        let shared = subject.map(increment).share()
        let bag = DisposeBag()
        for _ in 0..<3 { shared.subscribe(onNext: add).disposed(by: bag) }
        for value in 1...300_000 { subject.onNext(value) }
        subject.onCompleted()
      },
      openCombine: {
        let subject = PassthroughSubject<Int, Never>()
        let shared = subject.map(increment).share()
        var all: Set<AnyCancellable> = []
        for _ in 0..<3 { shared.sink(receiveValue: add).store(in: &all) }
        for value in 1...300_000 { subject.send(value) }
        subject.send(completion: .finished)
      },
      targets: [.openCombine(15)]),
    Row(
      name: "k", title: "map, filter, map over a struct", count: million,
      ours: {
        _ = Observable.range(start: 1, count: million).map { Person(id: $0, name: ada.name) }.map(agePerson)
          .filter(keepPerson).map(agePerson).subscribe(onNext: addPerson)
      },
      openCombine: {
        feed(million) {
          $0.map { Person(id: $0, name: ada.name) }.map(agePerson).filter(keepPerson).map(agePerson)
            .sink(receiveValue: addPerson)
        }
      },
      loop: {
        for value in 1...million {
          let person = agePerson(Person(id: value, name: ada.name))
          if keepPerson(person) { addPerson(agePerson(person)) }
        }
      },
      targets: [.loop(2.5)]),
    Row(
      name: "k1", title: "the same, built elsewhere", count: million,
      ours: {
        _ = opaque(
          Observable.range(start: 1, count: million).map { Person(id: $0, name: ada.name) }.map(agePerson)
            .filter(keepPerson).map(agePerson)
        ).subscribe(onNext: addPerson)
      },
      loop: {
        for value in 1...million {
          let person = agePerson(Person(id: value, name: ada.name))
          if keepPerson(person) { addPerson(agePerson(person)) }
        }
      },
      targets: [.loop(2.5)]),
    Row(
      name: "l", title: "from(1...n), map", count: million,
      ours: { _ = Observable.from(1...million).map(increment).subscribe(onNext: add) },
      openCombine: { (1...million).publisher.map(increment).sink(receiveValue: add).cancel() },
      loop: { for value in 1...million { add(increment(value)) } },
      targets: [.time(20)]),
    Row(
      name: "n", title: "range, map in an unspecialised client", count: million,
      ours: { generic(million, increment, add) },
      loop: { genericLoop(million, increment, add) },
      targets: [.time(20)]),
    Row(
      name: "n1", title: "the same, elements of type Int", count: million,
      ours: { genericClient("context", million, increment, add) },
      loop: { for value in 1...million { add(increment(value)) } },
      targets: [.time(20)]),
    Row(
      name: "o", title: "compactMap, take, built elsewhere", count: million,
      ours: {
        _ = opaque(Observable.range(start: 1, count: million).compactMap { $0 }.take(million)).subscribe(onNext: add)
      },
      openCombine: {
        feed(million) { $0.compactMap { $0 }.prefix(million).eraseToAnyPublisher().sink(receiveValue: add) }
      }),
    Row(
      name: "p", title: "5 × flatMap(just)", count: 200_000,
      ours: {
        _ = Observable.range(start: 1, count: 200_000).flatMap { Observable.just($0) }.flatMap { Observable.just($0) }
          .flatMap { Observable.just($0) }.flatMap { Observable.just($0) }.flatMap { Observable.just($0) }
          .subscribe(onNext: add)
      },
      openCombine: {
        feed(200_000) {
          $0.flatMap { Just($0) }.flatMap { Just($0) }.flatMap { Just($0) }.flatMap { Just($0) }.flatMap { Just($0) }
            .sink(receiveValue: add)
        }
      }),
    Row(
      name: "q", title: "5 × flatMapLatest(just)", count: 200_000,
      ours: {
        _ = Observable.range(start: 1, count: 200_000).flatMapLatest { Observable.just($0) }
          .flatMapLatest { Observable.just($0) }.flatMapLatest { Observable.just($0) }
          .flatMapLatest { Observable.just($0) }.flatMapLatest { Observable.just($0) }.subscribe(onNext: add)
      },
      openCombine: {
        feed(200_000) {
          $0.map { Just($0) }.switchToLatest().map { Just($0) }.switchToLatest().map { Just($0) }.switchToLatest()
            .map { Just($0) }.switchToLatest().map { Just($0) }.switchToLatest().sink(receiveValue: add)
        }
      }),
    Row(
      name: "r", title: "7 nested combineLatest", count: 100_000,
      ours: {
        var nested = Observable.combineLatest(Observable.just(1), Observable.range(start: 1, count: 100_000)) {
          $0 &+ $1
        }
        for _ in 0..<6 { nested = Observable.combineLatest(Observable.just(1), nested) { $0 &+ $1 } }
        _ = nested.subscribe(onNext: add)
      }),
    Row(
      name: "s", title: "6 × (map, filter), built elsewhere", count: 100_000,
      ours: {
        var chain = Observable.range(start: 1, count: 100_000)
        for _ in 0..<6 { chain = opaque(chain.map(increment).filter(keepMost)) }
        _ = chain.subscribe(onNext: add)
      },
      openCombine: {
        feed(100_000) { subject in
          var chain = subject.eraseToAnyPublisher()
          for _ in 0..<6 { chain = chain.map(increment).filter(keepMost).eraseToAnyPublisher() }
          return chain.sink(receiveValue: add)
        }
      }),
    Row(
      name: "t", title: "6 × (map, filter), created and run once", count: 10_000, unit: "ns/subscription",
      ours: {
        for value in 1...10_000 {
          var chain = Observable.of(value)
          for _ in 0..<6 { chain = opaque(chain.map(increment).filter(keepMost)) }
          _ = chain.subscribe(onNext: add)
        }
      },
      openCombine: {
        for value in 1...10_000 {
          var chain = [value].publisher.eraseToAnyPublisher()
          for _ in 0..<6 { chain = chain.map(increment).filter(keepMost).eraseToAnyPublisher() }
          chain.sink(receiveValue: add).cancel()
        }
      }),
    Row(
      name: "u", title: "1M live subject→map→filter", count: million, unit: "ns/subscription",
      ours: {
        let subject = PublishSubject<Int>()
        let chain = opaque(subject.map(increment).filter(keepMost))
        var all: [any Disposable] = []
        all.reserveCapacity(million)
        for _ in 0..<million { all.append(chain.subscribe(onNext: add)) }
        subject.onCompleted()
      }),
  ]
}
