package import BrokerCore
package import BrokerProtocol
package import HTTP
package import JSON

/// A reply that gives nothing: what is read of it, and meant by it, alike at every provider.
///
/// What names of errors mean is each provider's own.
package struct Refusal: Sendable, Equatable {
  /// The status (RFC 9110, section 15).
  package var status: Int
  /// The form of the body.
  package var form: BodyForm
  /// The error's name.
  package var code: String?
  /// The meaning of the name by the configuration.
  package var configuredKind: ErrorKind?
  /// How long the provider wants to be left alone.
  package var retryAfter: Duration?
  /// How many more wrong codes are accepted.
  package var attemptsRemaining: Int?
  /// The fields that are not valid, under the provider's names.
  package var fields: [String] = []
  /// Whether it came with a success, in an object without tokens: nothing was issued.
  package var isWithSuccess = false
  /// Whether it asks for credentials of a kind that the client has not sent: a proxy's, or another middlebox's.
  package var isForeignChallenge = false
  /// The other members of its object.
  package var words = RefusalWords()

  /// A refusal of which nothing else is known.
  package init(status: Int, form: BodyForm, code: String? = nil, retryAfter: Duration? = nil) {
    self.status = status
    self.form = form
    self.code = code
    self.retryAfter = retryAfter
  }

  /// The judgement of a reply without its body.
  ///
  /// - Parameters:
  ///   - response: the reply.
  ///   - moment: when it came.
  ///   - sentBasic: whether the client made itself known in the header (RFC 6749, section 2.3.1).
  package init(_ response: HTTPResponse, at moment: Timestamp, sentBasic: Bool) {
    status = response.status
    form = BodyForm(response)
    retryAfter = response.retryAfter(now: moment.milliseconds / 1000)
    isForeignChallenge = response.challengesForOthers(sentBasic: sentBasic)
  }

  /// Takes in the object of the body; what begins as one and is none is of another form.
  ///
  /// - Parameters:
  ///   - response: the reply.
  ///   - vital: the members that its tokens hang on.
  ///   - read: takes in what is the provider's own; ``words`` are there already.
  package mutating func read(
    _ response: HTTPResponse, _ vital: VitalMembers, _ read: (JSONNode, inout Refusal) -> Void
  ) {
    let found = response.body.withArray { bytes in
      ReplyObject.withRoot(of: bytes, vital) { root -> Refusal? in
        var refusal = self
        refusal.words = RefusalWords(root)
        read(root, &refusal)
        return refusal
      }
    }
    if let found { self = found } else if form == .json { form = .other }
  }

  /// The name of the error, as it may be shown.
  package var word: ProviderWord? { (code ?? words.names.first).flatMap { ProviderWord($0) } }

  /// Whether the provider itself can refuse a token for good with this status, by a word that means it.
  package var isConclusive: Bool { [400, 401, 403, 404, 410, 419, 422, 440, 498].contains(status) }

  /// A failure that passes, or comes from a middlebox.
  package var passing: ProviderFailure { .transient(ErrorKind(passing: status, form), retryAfter: retryAfter) }

  /// The provider is not well, or asks for patience.
  package var unavailable: ProviderFailure { .transient(.providerUnavailable, retryAfter: retryAfter) }

  /// The provider has refused the refresh token for good.
  package var sessionEnded: ProviderFailure {
    .sessionEnded(.refreshRejected, said: ProviderLastWord(status: status, error: word?.text))
  }

  /// A failure that may pass, or be fixed, or mean the end of the session if it goes on.
  package func rejected(
    _ kind: ErrorKind = .providerRejected, fault: ConfigurationFault?, isCounted: Bool
  ) -> ProviderFailure {
    .rejected(
      ProviderRejection(
        kind, fault: fault, said: word.map { .error($0) }, retryAfter: retryAfter, isCounted: isCounted))
  }

  /// A gateway has answered for a provider that may have acted.
  ///
  /// - Parameter rotates: whether the answer would have had the next refresh token in it.
  /// - Returns: nil where the provider itself has answered.
  package func lostReply(rotates: Bool) -> ProviderFailure? {
    guard !isWithSuccess else { return nil }
    if let lost = ProviderFailure.lost(behindGateway: status, retryAfter: retryAfter) { return lost }
    // A part of a success: the rest of it, with the next token, is lost.
    return rotates && status == 206 && form != .html ? .outcomeUnknown(.invalidResponse) : nil
  }
}

extension HTTPResponse {
  /// Whether it is a success (RFC 9110, section 15.3) with a whole body: 206 is a part of one.
  package var isWholeSuccess: Bool { (200..<300).contains(status) && status != 206 }
}
