import BrokerProtocol

/// Finds the missing paths of a mapping, as far as a backend tells a client that only sends `OPTIONS`.
///
/// Many answer `OPTIONS` in one way everywhere; only where a path answers otherwise than a made-up one does it tell
/// anything.
struct PathReview {
  /// A path of the mapping, and what it answered.
  struct Path: Equatable {
    /// The endpoint.
    let name: RESTEndpoint.Name
    /// The path.
    let path: String
    /// The status; nil where nothing came back.
    let status: Int?
  }

  private let paths: [Path]
  private let nowhere: Int?

  /// Answers; `nowhere` is that of a path that is not there.
  init(_ paths: [Path], nowhere: Int?) {
    self.paths = paths
    self.nowhere = nowhere
  }

  /// The findings.
  var findings: [ProviderFinding] {
    let present = paths.filter { $0.status != nil && $0.status != nowhere && !isMissing($0) }
    guard let nowhere, Self.gone.contains(nowhere), !present.isEmpty else {
      return [
        ProviderFinding(
          "paths", .note, "The other paths cannot be checked without credentials.",
          advice: "It answers OPTIONS the same everywhere; --login tries them.")
      ]
    }
    let names = present.map(\.name.rawValue).joined(separator: ", ")
    return [ProviderFinding("paths", .ok, "there are paths for: \(names)")] + paths.filter(isMissing).map(missing)
  }

  /// The statuses of a path that is not there.
  private static let gone: Set<Int> = [404, 410]

  private func isMissing(_ path: Path) -> Bool { path.status.map(Self.gone.contains) ?? false }

  private func missing(_ path: Path) -> ProviderFinding {
    ProviderFinding(
      "path." + path.name.rawValue, path.name.isNeeded ? .warning : .note,
      "\(path.path) seems to be missing (status \(path.status ?? 0)): \(path.name.loss).",
      advice: path.name.isNeeded ? "Check mapping.endpoints.\(path.name.rawValue)." : nil)
  }
}

extension RESTEndpoint.Name {
  /// Whether there is no whole life of a session without it.
  fileprivate var isNeeded: Bool { [.login, .refresh, .logout].contains(self) }

  /// The loss to users without the endpoint.
  fileprivate var loss: String {
    switch self {
    case .login: "no login"
    case .refresh: "sessions end when their access token expires"
    case .logout: "a logout ends the session here only"
    case .verifyOtp: "no login with a one-time code"
    case .resendOtp: "no other code can be sent"
    case .verifyBackupCode: "no login with a backup code"
    case .register: "no registration"
    case .forgotPassword, .resetPassword: "no reset of a forgotten password"
    case .verifyEmail: "no verification of addresses"
    case .changePassword: "no change of passwords"
    case .currentUser: "the user of a session is not known"
    case .updateProfile: "no change of profiles"
    case .deleteAccount: "no deletion of accounts"
    }
  }
}
