/// A stream that accepts events from outside: both an observer and an observable.
public protocol SubjectType<Element>: ObservableType, ObserverType {}
