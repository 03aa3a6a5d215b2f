import NetLayer
import RxSwift

private func streams() -> [Any] {
  let numbers: Streams.Observable<Int> = .just(1)
  let (bag, subject) = (Streams.DisposeBag(), Streams.PublishSubject<Int>())
  let (single, latest) = (Streams.Single<Int>.just(1), Streams.BehaviorSubject(value: 1))
  let (event, main) = (Streams.Event<Int>.next(1), Streams.MainScheduler.instance)
  return [numbers.map { $0 + 1 }, single, latest, event, bag, subject, main]
}

private func others() -> [Any] {
  [
    RxSwift.Observable<Int>(), RxSwift.Single<Int>(), RxSwift.Event<Int>.next(1), RxSwift.DisposeBag(),
    RxSwift.PublishSubject<Int>(), RxSwift.BehaviorSubject(value: 1), RxSwift.MainScheduler.instance,
  ]
}
