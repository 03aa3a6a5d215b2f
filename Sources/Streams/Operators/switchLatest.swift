extension ObservableType where Element: ObservableConvertibleType {
  /// Emits what the latest inner stream emits (law 14).
  @inlinable
  public func switchLatest() -> Observable<Element.Element> { flatMapLatest { $0 } }
}
