package import BrokerProtocol
package import SecretMemory

/// What a user answers to a trial that waits for a one-time code.
package enum TrialCodeAnswer: Sendable {
  /// The code.
  case code(Secret)
  /// One of the account's backup codes instead of it.
  case backupCode(Secret)
  /// That another code is to be sent.
  case another

  /// What a request carries, the first of what it may; nil where that is no answer.
  package init?(_ params: ContinueTrial.Params) {
    if let code = params.code {
      self = .code(code)
    } else if let code = params.backupCode {
      self = .backupCode(code)
    } else if params.resends {
      self = .another
    } else {
      return nil
    }
  }

  /// The answer with its code as the provider knows it; as it was typed where there is no room for another copy.
  package func normalized(for provider: any AuthProvider) -> TrialCodeAnswer {
    switch self {
    case .code(let code): .code((try? TypedCode.normalized(code)) ?? code)
    case .backupCode(let code):
      .backupCode((try? TypedCode.normalized(code, provider.capabilities.dashesOfBackupCodes)) ?? code)
    case .another: .another
    }
  }
}
