import LinuxSystem

/// The certificates of several sources as one file's text, since libcurl takes one.
///
/// A file that another user can change counts as one that cannot be read: that user would choose whom the broker
/// trusts. An unreadable file adds no trust and is named: a refusal for want of an authority mentions it.
struct AuthorityBundle {
  /// The system's file has 220 KiB; many times that is no list of authorities.
  static let longestFile = 4 << 20
  /// The system's directory has 300 entries, half of them links to the others.
  static let mostEntries = 4096

  private static let beginning = Array("-----BEGIN ".utf8)
  private static let ending = Array("-----END ".utf8)
  private static let labels = ["CERTIFICATE-----", "TRUSTED CERTIFICATE-----", "X509 CERTIFICATE-----"]
    .map { Array($0.utf8) }

  /// The certificates (RFC 7468).
  private(set) var text: [UInt8] = []
  // The places without a certificate that can be read, and what the files of each were like before they were read.
  private var missing: [(place: AddedAuthorities.Place, mark: [FileStatus?])] = []
  // A directory has its files under two names, and the system's one as well.
  private var known: Set<FileStatus.Identity> = []

  /// A bundle of nothing.
  init() {}

  /// The system's authorities and others.
  init(_ added: AddedAuthorities) {
    add(AddedAuthorities.Place(.system, TLSPolicy.systemCAFile))
    for place in added.places { add(place) }
  }

  /// Adds what can be read at a place.
  mutating func add(_ place: AddedAuthorities.Place) {
    let mark = Self.mark(of: place)
    let hasAny =
      switch place.source {
      case .environmentDirectory: addDirectory(place.path)
      case .system: addFile(place.path)
      case .profile, .network, .environmentFile: add(try? TrustedFile.open(Self.absolute(place.path)))
      }
    if !hasAny { missing.append((place, mark)) }
  }

  /// The places without a certificate that can be read.
  var unreadable: [AddedAuthorities.Place] { missing.map(\.place) }

  /// Whether the status of an unreadable source has changed: only then is it read again.
  var isOutdated: Bool { missing.contains { Self.mark(of: $0.place) != $0.mark } }

  /// The status of the files of a source; nil for one that cannot be trusted or found.
  private static func mark(of place: AddedAuthorities.Place) -> [FileStatus?] {
    switch place.source {
    case .environmentDirectory:
      let names = (try? TemporaryDirectory.names(in: place.path)) ?? []
      return names.prefix(mostEntries).map { try? FileStatus.following(place.path + "/" + $0) }
    case .system: return [try? FileStatus.following(place.path)]
    case .profile, .network, .environmentFile: return [try? TrustedFile.check(absolute(place.path))]
    }
  }

  private mutating func addDirectory(_ path: String) -> Bool {
    guard let names = try? TemporaryDirectory.names(in: path) else { return false }
    var hasAny = false
    for name in names.prefix(Self.mostEntries) where addFile(path + "/" + name) { hasAny = true }
    return hasAny
  }

  private mutating func addFile(_ path: String) -> Bool {
    // A FIFO must not block.
    add(try? FileDescriptor.open(path, [.read, .nonBlocking]))
  }

  /// A file that the environment names may be named from where the process began.
  private static func absolute(_ path: String) -> String {
    PathName.isAbsolute(path) ? path : ProcessIdentity.workingDirectory + "/" + path
  }

  /// Whether a certificate of the file is in the bundle now.
  private mutating func add(_ file: consuming FileDescriptor?) -> Bool {
    guard let file, let status = try? file.status(), status.kind == .regular else { return false }
    guard !known.contains(status.identity) else { return true }
    let limit = min(Int(clamping: status.size) + 1, Self.longestFile)
    guard let bytes = try? file.contents(limit: limit) else { return false }
    let before = text.count
    addCertificates(of: bytes)
    guard text.count > before else { return false }
    known.insert(status.identity)
    return true
  }

  /// Takes the certificates alone: OpenSSL refuses the whole text for anything else in it that it cannot read.
  private mutating func addCertificates(of bytes: [UInt8]) {
    var block: [UInt8] = []
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if line.starts(with: Self.beginning) {
        block = Self.labels.contains { line.dropFirst(Self.beginning.count).elementsEqual($0) } ? Array(line) : []
      } else if line.starts(with: Self.ending) {
        if !block.isEmpty { text += block + [UInt8(ascii: "\n")] + line + [UInt8(ascii: "\n")] }
        block = []
      } else if !block.isEmpty {
        block.append(UInt8(ascii: "\n"))
        block += line
      }
    }
  }
}
