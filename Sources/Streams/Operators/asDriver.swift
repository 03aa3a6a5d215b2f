extension ObservableConvertibleType {
  /// Converts the stream to a driver that emits `element` instead of an error, and then completes.
  public func asDriver(onErrorJustReturn element: Element) -> Driver<Element> {
    Driver(trusted: asObservable().observeOn(MainScheduler.instance).catchErrorJustReturn(element))
  }
}

extension PublishRelay {
  /// Converts the relay to a driver. An observer that subscribes later receives the latest element only while another one
  /// is subscribed.
  public func asDriver() -> Driver<Element> { Driver(trusted: observeOn(MainScheduler.instance)) }
}

extension BehaviorRelay {
  /// Converts the relay to a driver.
  public func asDriver() -> Driver<Element> { Driver(trusted: observeOn(MainScheduler.instance)) }
}
