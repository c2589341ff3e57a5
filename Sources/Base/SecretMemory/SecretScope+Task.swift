// Embedded Swift has no tasks: see `SingleThread.swift`.
#if !hasFeature(Embedded)
extension SecretScope {
  /// The scope of the present task.
  @TaskLocal package static var current = SecretScope()

  /// Runs a body in this scope; tasks that it begins are in it as well.
  ///
  /// - Throws: what `body` throws.
  package func run<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try Self.$current.withValue(self) { Result { () throws(E) -> R in try body() } }.get()
  }
}
#endif
