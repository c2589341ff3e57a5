public import JSON

/// The progress of a provider's trial since the last call.
public struct ProviderTrialState: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// The step that the trial waits for.
  public enum Step: Sendable, Equatable {
    /// The provider.
    case provider
    /// A one-time code.
    case code(OTPChallenge)
    /// Something that the user does elsewhere.
    case user(UserAction)
    /// Nothing: it is over, and its handle is no longer valid.
    case none
  }

  /// The trial's handle.
  public var trialID: String
  /// The findings since the last answer.
  public var findings: [ProviderFinding]
  /// The step that the trial waits for.
  public var step: Step

  public init(trialID: String, findings: [ProviderFinding], step: Step) {
    self.trialID = trialID
    self.findings = findings
    self.step = step
  }

  /// Writes the members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("trialId", trialID)
      writer.member("findings", findings)
      switch step {
      case .provider: writer.member("waitsFor", "provider")
      case .code(let challenge):
        writer.member("waitsFor", "code")
        writer.member("challenge", challenge)
      case .user(let action):
        writer.member("waitsFor", "user")
        writer.member("action", action)
      case .none: writer.member("waitsFor", "nothing")
      }
    }
  }

  /// Reads the members.
  public init(from node: JSONNode) throws(JSONMismatch) {
    trialID = try node.required("trialId").string()
    findings = try [ProviderFinding](from: try node.required("findings"))
    let step = try node.required("waitsFor")
    switch try step.string() {
    case "provider": self.step = .provider
    case "code": self.step = .code(try OTPChallenge(from: try node.required("challenge")))
    case "user": self.step = .user(try UserAction(from: try node.required("action")))
    case "nothing": self.step = .none
    default: throw step.mismatch("provider, code, user or nothing")
    }
  }
}
