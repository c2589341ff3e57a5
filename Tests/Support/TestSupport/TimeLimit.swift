package import Testing

extension Trait where Self == TimeLimitTrait {
  /// The time limit that every suite has, for each of its tests: ``Patience/limit``.
  ///
  /// A test that hangs is named when the limit passes, and the run fails, also where it cannot be ended.
  package static var standardTimeLimit: Self { .timeLimit(.minutes(Patience.limit)) }
}
