import NetLayer
import Observation

@Observable final class ScreenModel {
  var title = ""
}

private func titles(_ model: some Observation.Observable) -> Observable<String> { .just("") }
