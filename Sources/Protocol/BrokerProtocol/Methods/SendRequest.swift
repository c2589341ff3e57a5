public import JSON

/// Sends a request to an API with the profile's token, which the caller never sees.
///
/// The profile's requests.allow in the configuration says where a token may go; without it, nowhere. Where the API refuses
/// the token (401), it is refreshed and the request is sent once more. Redirects are returned and not followed. The
/// token is taken out of the answer, where that repeats it.
///
/// - Throws: profile, session, provider, insufficientScope, accessDenied, consentDenied, missingCredential.
public enum SendRequest: BrokerMethod {
  public static let name = "sendRequest"

  /// The most bytes of a body, of the request and of the answer.
  public static let mostBytes = 524_288

  public struct Params: MethodParams, Equatable {
    /// How long a caller waits that gives no time.
    public static let standardTimeout = Duration.seconds(30)
    /// The longest time that a caller can wait.
    public static let longestTimeout = Duration.seconds(600)

    /// The profile; where absent, the only one whose rules allow the request.
    public var profile: ProfileName?
    /// The request method (RFC 9110, section 9): GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.
    public var method: String
    /// The address, with https, or with http for this machine; or a path at the only server that the profile's rules name.
    public var url: String
    /// The header fields, but for those that the broker sets: credentials, Host, cookies, and those of the connection.
    public var headers: HeaderFields?
    /// The body, a text.
    public var body: String?
    /// The body as base64, in the place of body; 524288 bytes at most, in either form.
    public var bodyBytes: [UInt8]?
    /// The scopes that the token must have, as for getAccessToken.
    public var scopes: [String]?
    /// The audience of the token, as for getAccessToken.
    public var audience: String?
    /// How long the caller waits for the answer: 600 seconds at most.
    public var timeout: Duration

    /// Parameters of these members.
    public init(
      profile: ProfileName? = nil, method: String, url: String, headers: HeaderFields? = nil, body: String? = nil,
      bodyBytes: [UInt8]? = nil, scopes: [String]? = nil, audience: String? = nil,
      timeout: Duration = Self.standardTimeout
    ) {
      (self.profile, self.method, self.url, self.headers) = (profile, method, url, headers)
      (self.body, self.bodyBytes) = (body, bodyBytes)
      (self.scopes, self.audience, self.timeout) = (scopes, audience, timeout)
    }

    public static let blank = Params(method: "", url: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.required("method", &method, .text(atMost: ParameterLength.requestMethod))
      try coder.required("url", &url, .text(atMost: ParameterLength.url))
      try coder.optional("headers", &headers)
      try coder.optional("body", &body, .text(atMost: SendRequest.mostBytes))
      try coder.optional("bodyBase64", &bodyBytes, .base64(atMost: SendRequest.mostBytes))
      try coder.optional("scopes", &scopes)
      try coder.optional("audience", &audience)
      try coder.optional("timeoutSeconds", &timeout, .seconds, absent: Self.standardTimeout)
    }
  }

  /// The answer of the API, whatever its status.
  public struct Result: ObjectCodable, Equatable {
    /// The status (RFC 9110, section 15).
    public var status: Int
    /// The header fields, with names in lower case; without cookies, and without those of the connection.
    public var headers: HeaderFields
    /// The body, where it is a text in UTF-8.
    public var body: String?
    /// Any other body, as base64.
    public var bodyBytes: [UInt8]?

    /// An answer of these members.
    public init(status: Int, headers: HeaderFields, body: String? = nil, bodyBytes: [UInt8]? = nil) {
      (self.status, self.headers, self.body, self.bodyBytes) = (status, headers, body, bodyBytes)
    }

    public static let blank = Result(status: 0, headers: HeaderFields())

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("status", &status)
      try coder.required("headers", &headers)
      try coder.optional("body", &body)
      try coder.optional("bodyBase64", &bodyBytes, .base64(atMost: SendRequest.mostBytes))
    }
  }
}
