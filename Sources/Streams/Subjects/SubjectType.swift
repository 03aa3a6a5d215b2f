/// A stream that is fed from outside: an observer and an observable in one.
public protocol SubjectType<Element>: ObservableType, ObserverType {}
