import Foundation
import Streams
import StreamsTesting
import XCTest

@MainActor
final class SearchModel {
  private(set) var results: [String] = []
  private(set) var message: String?
  let query = PublishRelay<String>()
  private let bag = DisposeBag()

  init(
    search: @escaping @Sendable (String) -> Single<[String]>,
    scheduler: any SchedulerType = MainScheduler.instance
  ) {
    query.asObservable()
      .debounce(.milliseconds(300), scheduler: scheduler)
      .distinctUntilChanged()
      .flatMapLatest { text in search(text).asResult() }
      .subscribeOnMain(with: self) { me, result in
        switch result {
        case .success(let results):
          me.results = results
          me.message = nil
        case .failure(let error):
          me.message = error.localizedDescription
        }
      }
      .disposed(by: bag)
  }
}

final class ViewModelSamples: XCTestCase {
  @MainActor
  func test_aModelShowsTheResultOfTheLastQuery() async {
    let time = TestScheduler(resolution: .milliseconds(100))
    let model = SearchModel(search: { .just(["\($0)!"]) }, scheduler: time)
    model.query.accept("a")
    model.query.accept("ab")
    time.advanceBy(3)
    for _ in 0..<1000 where model.results.isEmpty { await Task.yield() }
    XCTAssertEqual(model.results, ["ab!"])
  }
}
