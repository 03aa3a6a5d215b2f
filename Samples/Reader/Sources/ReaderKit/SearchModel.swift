import NetLayer
import Observation

/// A search that follows the user's typing: streams for time, Observation for the view.
@MainActor
@Observable
package final class SearchModel {
  package private(set) var articles: [Article] = []
  package private(set) var note: String?
  /// The text in the search field.
  package var text = "" { didSet { typed.accept(text) } }
  @ObservationIgnored private let typed = PublishRelay<String>()
  @ObservationIgnored private let bag = DisposeBag()

  package init(_ network: Network, scheduler: any SchedulerType = MainScheduler.instance) {
    typed.asObservable()
      .debounce(.milliseconds(300), scheduler: scheduler)
      .distinctUntilChanged()
      .flatMapLatest { text in network.request(Search(text: text)).asResult() }
      .subscribeOnMain(with: self) { me, result in
        switch result {
        case .success(let articles): (me.articles, me.note) = (articles, nil)
        case .failure(let error): me.note = error.localizedDescription
        }
      }
      .disposed(by: bag)
  }
}
