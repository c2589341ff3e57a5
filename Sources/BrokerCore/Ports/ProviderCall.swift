package import BrokerProtocol

/// For which profile the present task calls a provider: profiles may share a provider, and the connections of one.
package enum ProviderCall {
  /// The profile; nil outside of such a call.
  @TaskLocal package static var profile: ProfileName?

  /// Calls the provider of a profile.
  ///
  /// - Throws: what `call` throws.
  static func run<Value, Failure>(
    for name: ProfileName, _ call: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await Self.$profile.withValue(name) { () async -> Result<Value, Failure> in
      do throws(Failure) { return .success(try await call()) } catch { return .failure(error) }
    }.get()
  }
}
