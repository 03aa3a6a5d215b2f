extension ObservableType where Element: ObservableConvertibleType {
  /// Emits the elements of the latest inner stream (contract, law 14).
  @inlinable
  public func switchLatest() -> Observable<Element.Element> { flatMapLatest { $0 } }
}
