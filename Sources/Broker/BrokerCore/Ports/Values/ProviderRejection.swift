package import BrokerProtocol

/// An answer of a provider that neither gives what was asked nor refuses it for good: the session goes on, and the
/// answer is reported.
package struct ProviderRejection: Sendable, Equatable {
  /// The part of the answer that is not understood.
  package enum Said: Sendable, Equatable {
    /// The name of an error (RFC 6749, section 5.2).
    case error(ProviderWord)
    /// A type of token that cannot stand behind `Bearer` (RFC 6749, section 7.1).
    case tokenType(ProviderWord)
    /// A token that is not bound to the session's key, of this type or of none (RFC 9449, section 5).
    case unbound(ProviderWord?)
    /// An ID token that does not hold.
    case idToken(IDTokenFlaw)
  }

  /// The error that a client sees.
  package var kind: ErrorKind
  /// The part of the configuration that may be the cause; nil where none is known.
  package var fault: ConfigurationFault?
  /// The provider's own word; nil where it has none that can be shown.
  package var said: Said?
  /// How long the provider wants to be left alone.
  package var retryAfter: Duration?
  /// Whether the provider means the refresh token if it goes on to say so.
  package var isCounted: Bool

  package init(
    _ kind: ErrorKind = .providerRejected, fault: ConfigurationFault? = nil, said: Said? = nil,
    retryAfter: Duration? = nil, isCounted: Bool = false
  ) {
    self.kind = kind
    self.fault = fault
    self.said = said
    self.retryAfter = retryAfter
    self.isCounted = isCounted
  }

  /// The name of the error, if there is one.
  package var word: ProviderWord? {
    if case .error(let word)? = said { return word }
    return nil
  }

  /// Whether it is a token that is bound to no key, though one was asked for.
  package var isUnbound: Bool { if case .unbound? = said { true } else { false } }

  /// Whether it is a token of a type that cannot be used: asking again rotates the refresh token, and brings no other
  /// type.
  var isOfForeignType: Bool {
    switch said {
    case .tokenType, .unbound: true
    case .error, .idToken, nil: false
    }
  }

  /// Whether it may be about neither the configuration nor what the provider issues.
  var mayPass: Bool {
    switch said {
    case nil, .error: fault == nil
    case .tokenType, .unbound, .idToken: false
    }
  }

  /// One plain sentence; nil where the kind says all that is known.
  var message: String? {
    switch said {
    case .error(let word): (fault?.message ?? "The provider refused the request.") + " The provider said: \(word.text)."
    case .tokenType(let word) where word.text.lowercased() == "dpop":
      "The provider issued a token that is bound to a key (DPoP, RFC 9449); set dpop: true in the configuration, and log in again."
    case .unbound(let word):
      "The provider issued a token of \(word.map { "the type \"\($0.text)\"" } ?? "no type") although dpop is set, so it is "
        + "bound to no key (RFC 9449, section 5); have the provider bind this client's tokens, or remove dpop from the "
        + "configuration and log in again."
    case .tokenType(let word):
      "The provider issued a token of the type \"\(word.text)\"; only Bearer tokens can be used (RFC 6750)."
    case .idToken(let flaw): "The provider's ID token is not accepted: \(flaw.sentence)."
    case nil: fault?.message
    }
  }
}

extension ProviderFailure {
  /// Whether the tokens that came are of a type that cannot be used.
  var isOfForeignType: Bool {
    switch self {
    case .rejected(let rejection): rejection.isOfForeignType
    case .rotated(let rotated): rotated.rejection.isOfForeignType
    default: false
    }
  }
}

/// A flaw of an ID token (OpenID Connect Core, section 3.1.3.7).
package enum IDTokenFlaw: Error, Sendable, Equatable, CaseIterable {
  case malformed, unsigned, issuer, audience, time, endless, nonce, subject

  /// The flaw, as the end of a sentence.
  var sentence: String {
    switch self {
    case .malformed: "it is no signed JSON Web Token"
    case .unsigned: "it has no signature"
    case .issuer: "its issuer (iss) is not the configured one"
    case .audience: "it is for another client (aud, azp)"
    case .time: "it has expired or is not valid yet (exp, nbf); check this machine's clock"
    case .endless: "it does not say when it ends (exp)"
    case .nonce: "it belongs to another login (nonce)"
    case .subject: "it does not name its user (sub)"
    }
  }
}

/// A name that a provider gives to an error or a type: short, and fit to be shown as it is.
package struct ProviderWord: Sendable, Equatable {
  /// The longest name that is shown.
  private static let longest = 64

  /// The name.
  package let text: String

  /// The name, if it is one: letters, digits and a few signs, and no sentence.
  package init?(_ text: String) {
    let isName = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: ":"), UInt8(ascii: "/"):
        true
      default: false
      }
    }
    guard isName, (1...Self.longest).contains(text.utf8.count) else { return nil }
    self.text = text
  }
}

/// The cause of a passing failure, where more is known than the kind of the error says.
package enum PassingCause: Sendable, Equatable {
  /// There is no trusted TLS.
  case tls(TLSFault)
  /// The disk with the embedded provider's files is full.
  case fullDisk
  /// The embedded provider's files cannot be written.
  case unwritableFiles
  /// A credential of the configuration cannot be had now.
  case credential(MissingCredential)
  /// The provider wants another proof (RFC 9449, section 8), or this one was made by a clock that is wrong: what is needed
  /// for the next one is known now, and the request may be sent again at once.
  case proofWanted

  /// One plain sentence with the flaw and its remedy.
  package var message: String {
    switch self {
    case .tls(let fault): fault.message()
    case .credential(let credential): credential.message
    case .proofWanted:
      "The provider demands another proof of possession (DPoP-Nonce) again and again; it is asked again after a pause."
    case .fullDisk:
      "The disk is full: the embedded provider could not save anything; make room on the disk of the state directory."
    case .unwritableFiles:
      "The embedded provider's files in the state directory cannot be written; check what authbroker doctor says about them."
    }
  }
}
