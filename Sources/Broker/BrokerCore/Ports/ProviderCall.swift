package import BrokerProtocol
import HTTPMessage
import Synchronization

/// The profile for which the present task calls a provider: profiles may share a provider, and the connections of one.
package enum ProviderCall {
  /// The profile; nil outside of such a call.
  @TaskLocal package static var profile: ProfileName?

  /// The mark on which a call that waits for its user says that it spends something; nil for a call that spends from
  /// its beginning.
  @TaskLocal static var flight: FlightMark?

  /// Spends a code that the user has brought, in a call that waits for its user: from here on its answer comes only
  /// once.
  ///
  /// - Throws: what `call` throws.
  package static func spending<Value>(_ call: () async -> Value) async -> Value {
    flight?.set(true)
    defer { flight?.set(false) }
    return await call()
  }

  /// Calls the provider of a profile, on the actor from which it is called.
  ///
  /// The first byte of what is sent leaves until the uptime `latest`, if any.
  ///
  /// - Throws: what `call` throws.
  static func run<Value, Failure>(
    for name: ProfileName, by latest: Duration? = nil, on isolation: isolated (any Actor)? = #isolation,
    _ call: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await Self.$profile.withValue(name) { () async -> Result<Value, Failure> in
      // Named so that the closures are isolated as this function is, and no other executor comes in between.
      _ = isolation
      return await SendingDeadline.$uptime.withValue(latest) { () async -> Result<Value, Failure> in
        _ = isolation
        do throws(Failure) { return .success(try await call()) } catch { return .failure(error) }
      }
    }.get()
  }
}

/// The mark by which a call that waits for its user shows that it is spending what the user has brought.
final class FlightMark: Sendable {
  private let isSet = Atomic(false)

  /// Not yet.
  init() {}

  /// Whether it does now.
  var isSpending: Bool { isSet.load(ordering: .acquiring) }

  /// Notes whether it does.
  func set(_ value: Bool) { isSet.store(value, ordering: .releasing) }
}
