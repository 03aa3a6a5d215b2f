extension Observable where Element: FixedWidthInteger & Sendable {
  /// Creates a stream that counts from 0, emitting one number per `period`, forever, on `scheduler`.
  ///
  ///     interval(2): --0-1-2-
  public static func interval(_ period: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    timer(period, period: period, scheduler: scheduler)
  }
}
