extension Observable where Element: FixedWidthInteger & Sendable {
  /// Counts from 0, one number after each `period`, without end, on `scheduler`.
  ///
  ///     interval(2): --0-1-2-
  public static func interval(_ period: Duration, scheduler: any SchedulerType) -> Observable<Element> {
    timer(period, period: period, scheduler: scheduler)
  }
}
