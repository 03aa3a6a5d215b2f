import Streams
import StreamsTesting

extension ObservableConvertibleType {
  /// Blocks for at most a minute, so that a stream that never terminates fails one test instead of stopping the run.
  func toBlocking() -> BlockingObservable<Element> { toBlocking(timeout: .seconds(60)) }
}
