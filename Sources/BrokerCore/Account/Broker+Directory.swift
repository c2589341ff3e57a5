import BrokerProtocol
package import JSON

/// What the owner of the state directory asks the embedded provider.
extension Broker {
  /// Asks the directory of accounts, and answers with what it says; the broker is busy meanwhile.
  ///
  /// It concerns the provider itself and no profile: sessions of profiles notice by their next refresh.
  package func ask<Value: JSONEncodable & Sendable>(
    _ directory: any AccountDirectory, _ caller: Caller<Value>,
    _ question: @escaping @Sendable (any AccountDirectory) async throws(ProviderFailure) -> Value
  ) {
    inBackground {
      do throws(ProviderFailure) {
        let value = try await question(directory)
        return { $0.answer(caller, value) }
      } catch {
        return { $0.refuse(caller.id, BrokerError(error, profile: nil)) }
      }
    }
  }
}
