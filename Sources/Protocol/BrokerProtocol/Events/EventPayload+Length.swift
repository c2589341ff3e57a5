import JSON

/// How long events may be.
///
/// What clients and providers choose is part of some of them, so that it is bounded here once for all.
extension EventPayload {
  /// How many bytes the `data` of an event may have: with what stands around it, an event stays below 4 KiB, so that ten
  /// thousand of them have a bound that a small machine bears.
  ///
  /// The context that a client gives its login comes on top, whole: see ``ParameterLength/clientContext``.
  public static let byteLimit = 3584

  /// How many bytes of an identifier that a provider chose are told: no issuer may use longer ones (OpenID Connect
  /// Core, section 2: 255 ASCII characters).
  private static let identifierLimit = 256

  /// Whether the event is short enough as it is.
  public var fits: Bool {
    switch self {
    case .login, .userUpdated, .otpChallenge, .otpResent, .loginPending, .consentRequested: byteCount <= Self.byteLimit
    // Numbers, times and words of our own.
    default: true
    }
  }

  /// The event as it is told: identifiers and masked addresses that are too long are cut, and an address with its code in
  /// it is left out where there is no room for it.
  public var fitted: EventPayload {
    guard !fits else { return self }
    switch self {
    case .login(var login):
      login.userID = login.userID.map(Self.cut)
      return .login(login)
    case .userUpdated(let user): return .userUpdated(UserUpdatedEvent(userID: Self.cut(user.userID)))
    case .otpChallenge(let challenge): return .otpChallenge(Self.cut(challenge))
    case .otpResent(let challenge): return .otpResent(Self.cut(challenge))
    case .loginPending(var action):
      action.verificationURIComplete = nil
      if EventPayload.loginPending(action).fits { return .loginPending(action) }
      action.verificationURI = nil
      action.userCode = action.userCode.map(Self.cut)
      return .loginPending(action)
    case .consentRequested(let question): return .consentRequested(Self.abridged(question))
    default: return self
    }
  }

  /// The question without its executables, then without the ancestors that are far away, then without scopes and audience,
  /// and at last without the names that others chose: it says that something is missing.
  private static func abridged(_ question: ConsentQuestion) -> ConsentQuestion {
    var question = question
    question.abridged = true
    for index in question.client.chain.indices { question.client.chain[index].executable = nil }
    question.client.identity.label = question.client.identity.label.map(cut)
    while !EventPayload.consentRequested(question).fits, question.client.chain.count > 2 {
      question.client.chain.removeLast()
    }
    guard !EventPayload.consentRequested(question).fits else { return question }
    (question.scopes, question.audience) = (nil, nil)
    guard !EventPayload.consentRequested(question).fits else { return question }
    (question.client.identity.label, question.client.identity.tool) = (nil, nil)
    for index in question.client.chain.indices { question.client.chain[index].command = nil }
    return question
  }

  private static func cut(_ challenge: OTPChallenge) -> OTPChallenge {
    var challenge = challenge
    challenge.maskedDestination = cut(challenge.maskedDestination)
    return challenge
  }

  /// The beginning of a string; a character that does not fit is left out as a whole.
  private static func cut(_ text: String) -> String {
    var end = text.startIndex
    while end < text.endIndex {
      let next = text.unicodeScalars.index(after: end)
      guard text.utf8.distance(from: text.startIndex, to: next) <= identifierLimit else { break }
      end = next
    }
    return String(text[..<end])
  }

  /// How long its `data` is without a client's context.
  private var byteCount: Int {
    var writer = JSONWriter()
    withoutContext.encode(to: &writer)
    return writer.bytes.count
  }

  private var withoutContext: EventPayload {
    switch self {
    case .login(var login):
      login.clientContext = nil
      return .login(login)
    case .otpChallenge(var challenge), .otpResent(var challenge):
      challenge.clientContext = nil
      return .otpChallenge(challenge)
    case .loginPending(var action):
      action.clientContext = nil
      return .loginPending(action)
    default: return self
    }
  }
}
