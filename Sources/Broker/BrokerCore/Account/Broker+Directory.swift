package import BrokerProtocol
package import JSON

/// The sessions that an act of the embedded provider's owner has ended there.
package struct EndedSessions: Sendable {
  /// The account's user; nil for all users.
  let user: String?
  /// The reason; nil where all that is known is that the provider refuses them.
  let reason: LogoutEvent.Reason?

  /// The sessions of one account, or of all.
  package init(of user: String?, _ reason: LogoutEvent.Reason? = nil) {
    self.user = user
    self.reason = reason
  }
}

/// The methods of the embedded provider for the owner of the state directory.
extension Broker {
  /// Asks the account directory and answers with its result; the broker is busy meanwhile.
  ///
  /// Sessions that the request may have ended are examined before the answer, as after every change of an account.
  package func ask<Value: JSONEncodable & Sendable>(
    _ directory: any AccountDirectory, _ caller: Caller<Value>,
    _ question: @escaping @Sendable (any AccountDirectory) async throws(ProviderFailure) -> (Value, EndedSessions?)
  ) {
    let binding = directory.binding
    inBackground {
      do throws(ProviderFailure) {
        let (value, ended) = try await question(directory)
        return { broker in
          guard let ended else { return broker.answer(caller, value) }
          if ended.reason == .accountDeleted, let user = ended.user {
            broker.endParked(ParkedAccount(user: user, binding: binding))
          }
          broker.check(broker.sessions(of: ended.user, at: binding), ended.reason, for: caller, value, of: nil)
        }
      } catch {
        return { $0.refuse(caller.id, BrokerError(error, profile: nil)) }
      }
    }
  }
}
