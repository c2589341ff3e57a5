package import BrokerProtocol

/// For which profile the present task calls a provider: profiles may share a provider, and the connections of one.
package enum ProviderCall {
  /// The profile; nil outside of such a call.
  @TaskLocal package static var profile: ProfileName?

  /// Calls the provider of a profile, on the actor from which it is called.
  ///
  /// - Throws: what `call` throws.
  static func run<Value, Failure>(
    for name: ProfileName, on isolation: isolated (any Actor)? = #isolation, _ call: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await Self.$profile.withValue(name) { () async -> Result<Value, Failure> in
      // Named so that the closure is isolated as this function is, and no other executor comes in between.
      _ = isolation
      do throws(Failure) { return .success(try await call()) } catch { return .failure(error) }
    }.get()
  }
}
