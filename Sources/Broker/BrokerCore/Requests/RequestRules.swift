package import BrokerProtocol

/// A rule of a profile: where its token may go with a request.
package struct RequestRule: Sendable, Equatable {
  /// The server, with https, or with http for this machine.
  package var origin: TargetAddress.Origin
  /// The request methods.
  package var methods: Set<APIRequest.Method>
  /// The paths; nil for all.
  package var paths: [PathPattern]?

  /// The methods of a rule that names none: those that only read.
  package static let standardMethods: Set<APIRequest.Method> = [.get, .head]

  /// A rule of these members.
  package init(
    _ origin: TargetAddress.Origin, methods: Set<APIRequest.Method> = Self.standardMethods, paths: [PathPattern]? = nil
  ) {
    (self.origin, self.methods, self.paths) = (origin, methods, paths)
  }
}

/// The rules of a profile for requests, the first of which that fits allows one: without any, no token goes anywhere.
package struct RequestRules: Sendable, Equatable {
  /// The rules, in the order of the configuration.
  package var allow: [RequestRule]

  /// The rules of its queue.
  package var queue: RequestQueue.Rules

  /// These rules.
  package init(allow: [RequestRule], queue: RequestQueue.Rules = .standard) {
    (self.allow, self.queue) = (allow, queue)
  }

  /// The server, where the rules name one alone.
  var onlyOrigin: TargetAddress.Origin? {
    let origins = Set(allow.map(\.origin))
    return origins.count == 1 ? origins.first : nil
  }

  /// Why a request is refused: how far the rule came that fits best.
  enum Refusal: Error, Equatable {
    /// No rule names the server.
    case origin
    /// The rule of this place does, without this path.
    case path(Int)
    /// The rule of this place allows other methods there.
    case method(Int)
  }

  /// Judges a request.
  ///
  /// - Throws: why no rule allows it.
  func judge(_ method: APIRequest.Method, _ address: TargetAddress) throws(Refusal) {
    var refusal = Refusal.origin
    for (index, rule) in allow.enumerated() where rule.origin == address.origin {
      guard rule.paths.map({ $0.contains { $0.matches(address.path) } }) ?? true else {
        if refusal == .origin { refusal = .path(index) }
        continue
      }
      guard !rule.methods.contains(method) else { return }
      if case .method = refusal { continue }
      refusal = .method(index)
    }
    throw refusal
  }
}

extension BrokerError {
  /// The refusal of a request by the rules of a profile; what would allow it is said.
  init(
    _ refusal: RequestRules.Refusal, _ method: APIRequest.Method, _ origin: TargetAddress.Origin,
    _ rules: RequestRules?, of profile: ProfileName
  ) {
    let list = "profiles.\(profile).requests.allow"
    let sentence: String
    var rule = list
    switch refusal {
    case _ where rules == nil:
      self.init(requestsAreOffFor: profile)
      return
    case .origin:
      sentence = "No rule in \(list) lets the token of \(profile) go to \(origin.text); its owner can add one."
    case .path(let index):
      rule += "[\(index)]"
      sentence = "The path is none of those that \(rule) allows at \(origin.text); its owner can add it to paths."
    case .method(let index):
      rule += "[\(index)]"
      let allowed = rules?.allow[index].methods.map(\.rawValue).sorted().joined(separator: ", ") ?? ""
      sentence =
        "\(rule) allows \(allowed) there, and not \(method.rawValue); its owner can add it to methods."
    }
    self.init(.accessDenied, sentence, profile: profile)
    self.rule = rule
  }

  /// The refusal of every request: the profile has no rules.
  init(requestsAreOffFor profile: ProfileName) {
    let list = "profiles.\(profile).requests.allow"
    self.init(
      .accessDenied, "Requests with the profile \(profile) are off; its owner can allow some in \(list).",
      profile: profile)
    rule = list
  }

  /// The refusal of a request that names no profile: the rules of no profile do what it wants.
  static func allowedByNone(_ clause: String) -> BrokerError {
    var error = BrokerError(
      .accessDenied, "The rules of no profile \(clause); the owner can add one to requests.allow of a profile.")
    error.rule = "profiles.*.requests.allow"
    return error
  }

  /// The refusal of a request to an address at which tokens are made or ended.
  init(ownAddressOf profile: ProfileName) {
    self.init(
      .accessDenied,
      "The address is one at which a provider makes or ends tokens; the broker alone sends requests there.",
      profile: profile)
    rule = "provider"
  }
}
