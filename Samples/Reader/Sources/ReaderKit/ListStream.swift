import NetLayerQueries

/// The same list with streams.
@MainActor
package final class ListStream {
  package let articles = BehaviorRelay<[Article]>(value: [])
  package let note = BehaviorRelay<String?>(value: nil)
  private let network: Network
  private let bag = DisposeBag()

  package init(_ network: Network) {
    self.network = network
    network.watch(Articles())
      .subscribeOnMain(with: self) { me, snapshot in
        me.articles.accept(snapshot.value ?? [])
        me.note.accept(snapshot.error?.message)
      }
      .disposed(by: bag)
  }

  package func setLiked(_ isLiked: Bool, _ id: Int) {
    let write = network.request(Like(id: id, isLiked: isLiked), editing: Articles()) { articles in
      for index in articles.indices where articles[index].id == id { articles[index].isLiked = isLiked }
    }
    write.asObservable()
      .subscribeOnMain(with: self, onError: { me, error in me.note.accept(error.localizedDescription) })
      .disposed(by: bag)
  }
}
