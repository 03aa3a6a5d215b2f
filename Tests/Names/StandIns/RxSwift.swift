// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public class Observable<Element> {
  public init() {}
}

public struct Single<Element> {
  public init() {}
}

public enum Event<Element> {
  case next(Element)
}

public final class DisposeBag {
  public init() {}
}

public final class PublishSubject<Element> {
  public init() {}
}

public final class BehaviorSubject<Element> {
  public init(value: Element) {}
}

public final class MainScheduler: Sendable {
  public static let instance = MainScheduler()
}
