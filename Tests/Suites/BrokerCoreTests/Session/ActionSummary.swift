import BrokerCore
import BrokerProtocol
import SecretMemory

extension [SessionMachine.Action] {
  /// The actions as words, for tables.
  var summary: [String] { map(\.summary) }
}

extension SessionMachine.Action {
  var summary: String {
    switch self {
    case .answerToken(let waiter, let marks): "\(marks.summary)token \(waiter.number)"
    case .answerError(let waiter, let error): "error \(waiter.number) \(error.kind.rawValue)"
    case .answerOther(let waiter, let token, let marks):
      "\(marks.summary)\(token.accessToken.revealedString() ?? "") for \(token.target.summary) \(waiter.number)"
    case .spendRefreshToken(let flight, let token, let target):
      "spend \(flight) \(token.value.revealedString() ?? "")\(target.map { " for \($0.summary)" } ?? "")"
    case .requestFirst(let flight): "request \(flight)"
    case .openIntent(let flight, let intent): "openIntent \(flight) of \(intent.generation)"
    case .closeIntent: "closeIntent"
    case .saveAgain: "saveAgain"
    case .discard(let tokens, _): "discard \(tokens.accessToken.value.revealedString() ?? "")"
    case .revokeReplaced(let tokens, let user):
      "revoke \(tokens.accessToken.value.revealedString() ?? "")\(user.map { " of \($0)" } ?? "")"
    case .publish(let payload): "publish \(payload.name.rawValue)"
    case .save(let record, let events):
      "save \(record.summary)"
        + (events.isEmpty ? "" : " announcing \(events.map(\.name.rawValue).joined(separator: " "))")
    }
  }
}

extension TokenMarks {
  /// What stands before the token.
  var summary: String { (isOffline ? "offline " : "") + (isCapped ? "capped " : "") }
}

extension TokenTarget {
  var summary: String { scopes.joined(separator: "+") + (audience.map { "@\($0)" } ?? "") }
}

extension SessionRecord {
  var summary: String {
    switch contents {
    case .living: "living \(generation)"
    case .ended(let reason, _): "ended \(reason.rawValue) \(generation)"
    case .reauthenticationRequired: "reauthenticationRequired \(generation)"
    case .signedOut: "signedOut \(generation)"
    }
  }
}
