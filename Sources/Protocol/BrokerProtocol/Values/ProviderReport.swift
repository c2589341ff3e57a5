public import JSON

/// Whether the provider of a profile can be reached, and how far its clock is from this machine's.
public struct ProviderReport: ObjectCodable, Equatable {
  /// Clocks that differ by more are worth a warning.
  ///
  /// Clocks that are set by the network differ by less than a second. The standard margin before a token's end is 30
  /// seconds too: up to there a wrong clock takes no token for good that has ended.
  public static let clockTolerance = Duration.seconds(30)

  /// The profile.
  public var profile: ProfileName
  /// The type of its provider.
  public var provider: String
  /// Whether it answered at all; true where no network is involved.
  public var isReachable: Bool
  /// Its name or address, with the port where that is not the default; nil where no network is involved.
  public var host: String?
  /// Whether it is reached over TLS only; nil where no network is involved.
  public var usesTLS: Bool?
  /// The HTTP status of its answer; 401 is expected here.
  public var status: Int?
  /// How long the answer took, the connection included.
  public var roundTrip: Duration?
  /// How far its clock is ahead of this machine's, in whole seconds; absent where its answer has no date.
  ///
  /// More than 30 either way is worth a warning.
  public var clockSkew: Duration?
  /// Why it is not reachable, or why no login can succeed although it answers: a kind of errors.json.
  public var errorKind: ErrorKind?
  /// One sentence, and what to do where there is a problem.
  public var message: String

  /// A report; what is not known is filled in by its maker.
  public init(profile: ProfileName, provider: String, isReachable: Bool, message: String) {
    self.profile = profile
    self.provider = provider
    self.isReachable = isReachable
    self.message = message
  }

  /// Whether the clocks differ by more than ``clockTolerance``.
  public var isClockWrong: Bool {
    guard let clockSkew else { return false }
    return clockSkew > Self.clockTolerance || clockSkew < .zero - Self.clockTolerance
  }

  /// Whether the provider says itself that it cannot do its work (RFC 9110, section 15.6, or RFC 6585, section 4).
  public var isTroubled: Bool {
    guard let status else { return false }
    return status >= 500 || status == 429
  }

  public static let blank = ProviderReport(profile: .default, provider: "", isReachable: false, message: "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("profile", &profile)
    try coder.required("provider", &provider)
    try coder.required("reachable", &isReachable)
    try coder.optional("host", &host)
    try coder.optional("tls", &usesTLS)
    try coder.optional("status", &status)
    try coder.optional("roundTripSeconds", &roundTrip, .seconds)
    try coder.optional("clockSkewSeconds", &clockSkew, .difference)
    try coder.optional("errorKind", &errorKind.knownName)
    try coder.required("message", &message)
  }
}
