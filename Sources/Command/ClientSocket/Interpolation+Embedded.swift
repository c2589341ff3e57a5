#if hasFeature(Embedded)
extension DefaultStringInterpolation {
  /// Refused by the compiler: without reflection, such a value is printed as a sentence that says so.
  @available(*, deprecated, message: "Embedded Swift prints no such value; interpolate a string or a number")
  mutating func appendInterpolation<Value>(_ value: Value) {}
}
#endif
