import BrokerCore
import BrokerProtocol

/// The routes of the embedded provider's methods, for its owner.
extension Routes {
  /// One route for each of them.
  static let directory: [Route] = [
    .directory(ListLocalUsers.self) { directory, _ throws(ProviderFailure) in
      (ListLocalUsers.Result(users: try await directory.users()), nil)
    },
    .directory(AddLocalUser.self) { directory, params throws(ProviderFailure) in
      let user = Registration(
        email: params.email, password: params.password, name: params.name, phoneNumber: params.phoneNumber)
      return (try await directory.addUser(user), nil)
    },
    .directory(SetLocalUserEnabled.self) { directory, params throws(ProviderFailure) in
      let user = try await directory.setEnabled(params.isEnabled, user: params.user)
      return (user, params.isEnabled ? nil : EndedSessions(of: user.id))
    },
    .directory(ResetLocalUser.self) { directory, params throws(ProviderFailure) in
      let user = try await directory.reset(
        params.user, password: params.password, removesFactor: params.removesSecondFactor)
      return (user, EndedSessions(of: user.id, params.password == nil ? nil : .passwordReset))
    },
    .directory(DeleteLocalUser.self) { directory, params throws(ProviderFailure) in
      (Empty(), EndedSessions(of: try await directory.delete(params.user), .accountDeleted))
    },
    .directory(ListLocalSessions.self) { directory, params throws(ProviderFailure) in
      (ListLocalSessions.Result(sessions: try await directory.sessions(of: params.user)), nil)
    },
    .directory(RevokeLocalSessions.self) { directory, params throws(ProviderFailure) in
      guard !params.all || params.user != nil || params.session != nil else {
        return (RevokeLocalSessions.Result(revoked: try await directory.revokeAllSessions()), EndedSessions(of: nil))
      }
      let revoked = try await directory.revokeSessions(of: params.user, session: params.session)
      return (RevokeLocalSessions.Result(revoked: revoked.count), EndedSessions(of: revoked.user))
    },
    .directory(ListLocalMessages.self) { directory, _ throws(ProviderFailure) in
      (ListLocalMessages.Result(messages: try await directory.messages()), nil)
    },
    .directory(GetLocalKeySet.self) { directory, _ throws(ProviderFailure) in
      (GetLocalKeySet.Result(keys: try await directory.keySet()), nil)
    },
    .directory(RotateLocalSigningKey.self) { directory, _ throws(ProviderFailure) in
      (RotateLocalSigningKey.Result(keys: try await directory.rotateSigningKey()), nil)
    },
    .directory(IntrospectLocalToken.self) { directory, params throws(ProviderFailure) in
      (try await directory.introspect(params.token), nil)
    },
    .directory(ListLocalAudit.self) { directory, params throws(ProviderFailure) in
      let limit = min(params.limit, ListLocalAudit.largestLimit)
      let log = try await directory.audit(since: params.since, limit: limit)
      return (ListLocalAudit.Result(records: log.records, isIntact: log.isIntact), nil)
    },
  ]
}
