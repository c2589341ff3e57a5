import BrokerProtocol
import LinuxSystem
import StateDirectory

/// A process's tokens that it has not used up, kept in small files (0600) of `helpers` in the state directory.
///
/// A client that keeps its token until it expires asks again before that for one reason: the server has refused the
/// token. No secret is kept: the token's identifier and expiry. A process is its number and its start, since numbers
/// are used again; files of processes that have ended are removed when there are many.
struct IssuedTokens: ~Copyable {
  /// A token that was given out.
  struct Entry: Equatable, Sendable {
    /// Its identifier, a keyed hash.
    var tokenID: String
    /// When it expires; nil where that is not known.
    var expiresAt: Timestamp?
    /// When the process last got a token in place of a refused one; nil: never.
    var replacedAt: Timestamp?
  }

  /// A server that refuses a token so soon after it replaced another one refuses the user: no token would change that.
  static let leastAge = Duration.seconds(60)
  /// How many files there may be; a process beyond that is not remembered.
  static let mostFiles = 64
  /// From how many files on those of processes that have ended are looked for: each takes a look into `/proc`.
  static let sweptFiles = 16
  private static let longestEntry = 512

  private let directory: PrivateDirectory
  private let prefix: String
  private let name: String

  /// The record for the parent of this process; nil where nothing can be kept: the helper works without.
  ///
  /// - Parameters:
  ///   - tool: the helper's name, of letters.
  ///   - purpose: what the token was for; another purpose is another token.
  ///   - paths: the files of the state directory.
  init?(_ tool: String, for purpose: String, in paths: StatePaths) {
    let parent = ProcessIdentity.parent
    guard let start = ProcessIdentity.startTime(of: parent),
      let directory = try? PrivateDirectory(paths.helpers, create: true)
    else { return nil }
    self.directory = directory
    prefix = tool + "-"
    name = "\(tool)-\(parent)-\(start)-\(String(Self.hash(purpose.utf8), radix: 16))"
  }

  /// The recorded token, where it has not expired yet.
  func entry(at now: Timestamp) -> Entry? {
    guard let bytes = try? directory.readFile(name, limit: Self.longestEntry), let entry = Entry(bytes) else {
      return nil
    }
    guard let expiry = entry.expiresAt else { return entry }
    return now < expiry ? entry : nil
  }

  /// Records a token, and forgets expired ones and processes that have ended.
  func remember(_ entry: Entry, at now: Timestamp) {
    let left = sweep(at: now)
    guard left < Self.mostFiles else { return }
    try? directory.writeFile(name, entry.bytes.span)
  }

  /// Removes the files of processes that have ended and of tokens that have expired, where there are many files; how
  /// many others are left.
  private func sweep(at now: Timestamp) -> Int {
    let names = (try? TemporaryDirectory.names(in: directory.path)) ?? []
    guard names.count >= Self.sweptFiles else { return names.count }
    var left = 0
    for other in names where other.hasPrefix(prefix) && other != name {
      let parts = other.split(separator: "-")
      let start = parts.count == 4 ? UInt64(parts[2]) : nil
      guard let start, Int32(parts[1]).flatMap(ProcessIdentity.startTime) == start, !hasExpired(other, at: now) else {
        try? directory.removeFile(other)
        continue
      }
      left += 1
    }
    return left
  }

  private func hasExpired(_ name: String, at now: Timestamp) -> Bool {
    let expiry = (try? directory.readFile(name, limit: Self.longestEntry)).flatMap { Entry($0)?.expiresAt }
    return expiry.map { $0 <= now } ?? false
  }

  /// A name for a purpose (FNV-1a, 64 bits): it keeps apart, it hides nothing.
  static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }
}

extension IssuedTokens.Entry {
  /// A line of three words; a hyphen stands for a time that is not known.
  var bytes: [UInt8] {
    let times = [expiresAt, replacedAt].map { $0?.description ?? "-" }
    return Array("\(tokenID) \(times.joined(separator: " "))\n".utf8)
  }

  /// Reads ``bytes``; nil for anything that this program does not write.
  init?(_ bytes: [UInt8]) {
    guard bytes.last == UInt8(ascii: "\n") else { return nil }
    let words = String(decoding: bytes.dropLast(), as: UTF8.self)
      .split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count == 3, !words[0].isEmpty else { return nil }
    let times = words.dropFirst().map { word in word == "-" ? nil : Timestamp(word) }
    guard zip(words.dropFirst(), times).allSatisfy({ $0 == "-" || $1 != nil }) else { return nil }
    self.init(tokenID: words[0], expiresAt: times[0], replacedAt: times[1])
  }

  /// Whether another request at a time means that the token was refused, and another token may help.
  func wantsAnother(at now: Timestamp) -> Bool {
    guard let replacedAt else { return true }
    return now < replacedAt || now - replacedAt >= IssuedTokens.leastAge
  }
}
