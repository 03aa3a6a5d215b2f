import Streams

/// Returns the pipelines of RxSwift's own benchmark: `create` emits many elements, or the chain is created and run
/// once.
func makeRxSwiftRows() -> [Row] {
  let total = Total()
  let add: @Sendable (Int) -> Void = opaque { total.value &+= $0 }
  let keep: @Sendable (Int) -> Bool = opaque { $0 >= 0 }
  let same: @Sendable (Int) -> Int = opaque { $0 }
  let elements = opaque(100_000)
  let times = opaque(10_000)

  /// Returns a row that sends many elements through a chain, and a row that creates the chain for each element.
  func rows(_ name: String, _ title: String, _ chain: @escaping (Observable<Int>) -> Observable<Int>) -> [Row] {
    [
      Row(
        name: name + "-pump", title: title, count: elements,
        ours: { _ = opaque(chain(created(elements))).subscribe(onNext: add) }),
      Row(
        name: name + "-create", title: title + ", created", count: times, unit: "ns/subscription",
        ours: { for _ in 1...times { _ = opaque(chain(created(1))).subscribe(onNext: add) } }),
    ]
  }

  /// Returns a function that applies `stage` six times.
  func sixTimes(_ stage: @escaping (Observable<Int>) -> Observable<Int>) -> (Observable<Int>) -> Observable<Int> {
    { source in (0..<6).reduce(source) { chain, _ in opaque(stage(chain)) } }
  }

  return [
    Row(
      name: "rx-publish-pump", title: "PublishSubject to 1", count: elements, unit: "ns/event",
      ours: {
        let subject = PublishSubject<Int>()
        let subscription = subject.subscribe(onNext: add)
        for value in 1...elements { subject.onNext(value) }
        subscription.dispose()
      }),
    Row(
      name: "rx-publish2-pump", title: "PublishSubject to 2", count: elements, unit: "ns/event",
      ours: {
        let subject = PublishSubject<Int>()
        let both = [subject.subscribe(onNext: add), subject.subscribe(onNext: add)]
        for value in 1...elements { subject.onNext(value) }
        for one in both { one.dispose() }
      }),
    Row(
      name: "rx-publish-create", title: "PublishSubject, created", count: times, unit: "ns/subscription",
      ours: {
        for value in 1...times {
          let subject = PublishSubject<Int>()
          let subscription = subject.subscribe(onNext: add)
          subject.onNext(value)
          subscription.dispose()
        }
      }),
  ] + rows("rx-mapFilter", "6 × (map, filter)", sixTimes { $0.map(same).filter(keep) })
    + rows("rx-flatMap", "6 × flatMap(just)", sixTimes { $0.flatMap { Observable.just($0) } })
    + rows("rx-flatMapLatest", "6 × flatMapLatest(just)", sixTimes { $0.flatMapLatest { Observable.just($0) } })
    + rows(
      "rx-combineLatest", "6 × combineLatest with just",
      sixTimes { Observable.combineLatest(Observable.just(1), $0) { $0 &+ $1 } })
}
