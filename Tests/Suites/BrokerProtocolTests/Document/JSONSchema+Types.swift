import BrokerProtocol
import JSON
import SecretMemory
import Testing

extension JSONSchema {
  /// What the values of a coding are like.
  static func of<Coding: ValueCoding>(_ coding: Coding) -> JSONSchema {
    switch coding {
    case is CountCoding: .count
    case is Base64Coding: .text
    case is UserCoding: .oneOf([.text, .count])
    case let seconds as SecondsCoding:
      seconds.isDifference ? .number() : .number(minimum: 0, maximum: JSONNode.longestSeconds)
    case let words as OpenWordCoding: words.words.count == 1 ? .word(words.words[0]) : .words(words.words)
    case let list as any CodingOfLists: .list(of: list.elementSchema)
    default: .of(Coding.Value.self)
    }
  }

  /// What the values of a type are like.
  static func of(_ type: Any.Type) -> JSONSchema {
    if let schema = written[ObjectIdentifier(type)] { return schema() }
    switch type {
    case let object as any ObjectCodable.Type: return of(object: object)
    case let list as any ListOfElements.Type: return .list(of: of(list.elementType))
    case let names as any (CaseIterable & RawRepresentable<String>).Type: return .words(words(of: names))
    default:
      Issue.record("\(type) writes itself by hand, so its schema is written by hand too")
      return .any
    }
  }

  private static func words<Names: CaseIterable & RawRepresentable<String>>(of names: Names.Type) -> [String] {
    names.allCases.map(\.rawValue)
  }

  /// An object with a name of its own is a component of the document, which has its name; a result stands where it is.
  private static func of<Object: ObjectCodable>(object: Object.Type) -> JSONSchema {
    var schema = JSONSchema.object(SchemaCollector.members(of: object))
    if let description = DocComments.of(object)?.summary { schema = .described(description, schema) }
    let name = "\(object)"
    guard name != "Result" else { return schema }
    return .named(
      [("OTP", "Otp"), ("JSON", "Json")].reduce(name) { $0.replacing($1.0, with: $1.1) }, schema)
  }

  /// Types that write themselves by hand.
  private static let written: [ObjectIdentifier: @Sendable () -> JSONSchema] = [
    ObjectIdentifier(String.self): { .text }, ObjectIdentifier(Bool.self): { .boolean },
    ObjectIdentifier(Int.self): { .integer() }, ObjectIdentifier(Double.self): { .number() },
    ObjectIdentifier(Secret.self): { .text }, ObjectIdentifier(RawJSON.self): { .any },
    ObjectIdentifier([GetStatus.Counter].self): { .map(of: .count) },
    ObjectIdentifier(ProfileChanges.self): { .map(of: .oneOf([.text, .number(), .boolean, .null])) },
    ObjectIdentifier(HeaderFields.self): { .map(of: .text) },
    ObjectIdentifier(ProfileName.self): {
      .named("ProfileName", .string(pattern: "^[a-z0-9][a-z0-9._-]{0,63}$"))
    },
    ObjectIdentifier(Timestamp.self): {
      .named("Timestamp", .described("RFC 3339, UTC.", .string(format: "date-time")))
    },
    ObjectIdentifier(PendingLoginStep.self): { .oneOf([.of(OTPChallenge.self), .of(UserAction.self)]) },
    ObjectIdentifier(LoginResult.self): { login },
    // A result of its own, and a member of what is told of a queued request.
    ObjectIdentifier(SendRequest.Result.self): {
      .named(
        "ApiAnswer",
        .described(
          "The answer of the API, whatever its status.",
          .object(SchemaCollector.members(of: SendRequest.Result.self))))
    },
    ObjectIdentifier(AccessToken.self): { accessToken }, ObjectIdentifier(IdentityToken.self): { idToken },
    ObjectIdentifier(ProviderTrialState.self): { trialState },
    ObjectIdentifier(BrokerError.self): { error },
  ]

  private static var login: JSONSchema {
    let context = SchemaMember.optional(
      "clientContext", .text, "The parameter clientContext of the login, as it was given.")
    return .named(
      "LoginResult",
      .oneOf([
        .object([
          .required("status", .word("authenticated")), .required("session", .of(Session.self)), context,
          .optional("backupCodesRemaining", .count, "After a login by backup code, where the provider says so."),
        ]),
        .object([
          .required("status", .word("otpRequired")), .required("requires2FA", .onlyTrue),
          .required("challenge", .of(OTPChallenge.self)), context,
        ]),
        .object([
          .required("status", .word("userActionRequired")), .required("action", addressed), context,
        ]),
        .object([.required("status", .word("emailVerificationRequired")), context]),
      ]))
  }

  /// An action as the connection is told it that has begun the login, or an administrative one.
  private static var addressed: JSONSchema { .requiring(["verificationUri"], .of(UserAction.self)) }

  private static var accessToken: JSONSchema {
    .named(
      "AccessToken",
      .object([
        .required("accessToken", .text),
        .required("tokenType", .text, "Bearer, unless the profile's provider is static and names another scheme."),
        .optional(
          "header", .text,
          "Only where the profile's provider is static: the field that carries the token. Authorization has the token type in front of it, unless that is empty; any other field has the token alone."
        ),
        .required("expiresAt", .oneOf([.of(Timestamp.self), .null])),
        .required(
          "scopes", .list(of: .text), "The granted scopes; the requested ones where the provider names none."),
        .optional("audience", .text, "Only where one was requested."), .required("profile", .of(ProfileName.self)),
        .required("tokenId", .text, "A short keyed hash: equal if and only if the token is equal."),
        .optional(
          "minValidityCapped", .onlyTrue,
          "More remaining lifetime was wanted than 80 % of the whole lifetime, which no token can be relied on to have."
        ), .optional("offline", .onlyTrue, "The provider cannot be reached; the session's state is offline."),
        .optional("target", .of(GrantedTarget.self), "Only where a token for an address was requested."),
      ]))
  }

  private static var idToken: JSONSchema {
    .named(
      "IdToken",
      .object([
        .required("idToken", .text),
        .required(
          "expiresAt", .oneOf([.of(Timestamp.self), .null]),
          "By this machine's clock; null where the token's expiry is unknown."),
      ]))
  }

  private static var trialState: JSONSchema {
    .named(
      "ProviderTrialState",
      .object([
        .required("trialId", .text),
        .required("findings", .list(of: .of(ProviderFinding.self)), "What was found since the last answer."),
        .required(
          "waitsFor", .words(["provider", "code", "user", "nothing"]),
          "code: see challenge; user: see action; nothing: the trial is over."),
        .optional("challenge", .of(OTPChallenge.self)), .optional("action", addressed),
      ]))
  }

  private static var error: JSONSchema {
    let data = JSONSchema.object([
      .required("kind", .words(ErrorKind.allCases.map(\.rawValue))),
      .required("nextAction", .words(NextAction.allCases.map(\.rawValue))), .required("retryable", .boolean),
      .optional("retryAfterSeconds", .of(SecondsCoding.seconds)), .optional("profile", .of(ProfileName.self)),
      .optional("pointer", .text, "RFC 6901"),
      .optional(
        "rule", .text, "The rule of the configuration that refuses a request, or the list in which none allows it."),
      .optional("attemptsRemaining", .count),
      .optional("fields", .list(of: .text)), .optional("challenge", .of(OTPChallenge.self)),
      .optional("action", .of(UserAction.self)), .optional("scopes", .list(of: .text)),
      .optional("acrValues", .list(of: .text)), .optional("maxAge", .count), .optional("proof", .of(StateProof.self)),
      .optional("correlationId", .text),
    ])
    return .named(
      "Error",
      .object([
        .required("code", .integer()), .required("message", .text), .required("data", .named("ErrorData", data)),
      ]))
  }
}

/// The coding of an array.
private protocol CodingOfLists {
  var elementSchema: JSONSchema { get }
}

extension ListCoding: CodingOfLists {
  fileprivate var elementSchema: JSONSchema { .of(element) }
}

/// An array whose elements write themselves.
private protocol ListOfElements {
  static var elementType: Any.Type { get }
}

extension Array: ListOfElements {
  fileprivate static var elementType: Any.Type { Element.self }
}
