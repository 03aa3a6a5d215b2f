import Streams
import StreamsTesting

extension ObservableConvertibleType {
  /// Blocks for at most a minute, so that a stream that does not end fails one test instead of blocking the run.
  package func toBlocking() -> BlockingObservable<Element> { toBlocking(timeout: .seconds(60)) }
}
