import NetLayerQueries
import Observation

/// The list of articles, with `await` and Observation.
@MainActor
@Observable
package final class ListModel {
  package private(set) var articles: [Article] = []
  /// The message of an error; `nil` if everything is well.
  package var note: String? { likeNote ?? listNote }
  package private(set) var isLoading = false
  // Two properties, because a snapshot of the list may follow the error of a like.
  private var listNote: String?
  private var likeNote: String?
  private let network: Network

  package init(_ network: Network) { self.network = network }

  /// Shows the list until the task of the view is cancelled: `.task { await model.run() }`.
  package func run() async {
    do {
      for try await snapshot in network.watch(Articles()).values {
        articles = snapshot.value ?? []
        isLoading = snapshot.isFetching
        listNote = snapshot.error?.message
      }
    } catch {
      // The stream ends only with the task.
    }
  }

  /// Requests the list again, as when the user pulls it down, and returns after the response.
  package func refresh() async {
    network.invalidate(Articles())
    _ = try? await network.watch(Articles()).filter { !$0.isFetching }.first().value
  }

  /// Changes the like immediately. If the server refuses, it changes back, and the note says why.
  package func setLiked(_ isLiked: Bool, _ id: Int) async {
    likeNote = nil
    do throws(NetworkError) {
      try await network.fetch(Like(id: id, isLiked: isLiked), editing: Articles()) { articles in
        for index in articles.indices where articles[index].id == id { articles[index].isLiked = isLiked }
      }
    } catch {
      likeNote = error.message
    }
  }
}
