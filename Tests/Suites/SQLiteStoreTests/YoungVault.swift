import BrokerCore
import BrokerProtocol
import LinuxSystem
import Records
import SQLite
import SQLiteStore
import Sealing
import SecretMemory
import TestSupport

/// The files of a vault at a few moments of its first minute, to be damaged: they are the same for every damage.
struct YoungVault: Sendable {
  /// All files of one moment, by name.
  typealias Image = [String: [UInt8]]

  /// What a vault says that was opened.
  struct Truth: Equatable, Sendable {
    /// The sessions in it.
    var records: [SessionRecord]
    /// The refreshes and logins under way, and the tokens that are still to be revoked.
    var intents: [RefreshIntent]
    var pendingLogins: [PendingLoginRecord]
    var revocations: [PendingRevocation]
    /// The sequences of the events in it; nil where they are refused.
    var events: [UInt64]?
    /// The name of a token: another vault has another one.
    var tokenID: String
  }

  /// A moment: its files, and what is true then.
  struct Moment: Sendable {
    var image: Image
    var truth: Truth
  }

  /// Killed after it was made, after a login, after a refresh; and closed in order.
  let moments: [Moment]
  /// The files of another vault of the same kind, with another key.
  let other: Image
  /// A database without tables: with and without this program's mark.
  let emptyDatabases: [[UInt8]]

  /// Makes them.
  static func make() async throws -> YoungVault {
    try Sealing.initialize()
    let moments = try await lives()
    return YoungVault(
      moments: moments, other: try await lives()[2].image,
      emptyDatabases: try [emptyDatabase(0x4142_5654), emptyDatabase(0x1234_5678, isMarked: false)])
  }

  private static func lives() async throws -> [Moment] {
    let scratch = Scratch()
    let vault = try await open(scratch)
    var moments = [Moment(image: try image(of: scratch), truth: try await truth(of: vault))]
    for generation in 1...2 as ClosedRange<UInt64> {
      let isFirst = generation == 1
      try await vault.commit([
        .record(Sample.living("a", generation: generation, token: "fake-\(generation)")),
        .event(Sample.event(generation)),
        isFirst ? .openLogin(Sample.login("b")) : .closeLogin(Sample.profile("b")),
        isFirst ? .openIntent(Sample.intent("c", generation: 1)) : .openRevocation(Sample.revocation("a", 1)),
      ])
      moments.append(Moment(image: try image(of: scratch), truth: try await truth(of: vault)))
    }
    try await vault.close()
    moments.append(Moment(image: try image(of: scratch), truth: moments[2].truth))
    return moments
  }

  /// Opens the vault of a directory, its anchor and its key beside it, as with a chosen state directory.
  static func open(_ scratch: Scratch) async throws -> Vault {
    let vault = try await Vault.open(
      path: scratch.file("vault.sqlite"), settings: KeySourceSettings(keyFilePath: scratch.file("vault.key")),
      anchorPath: scratch.file("vault.anchor"), now: { 1_000_000_000 })
    do { try await vault.unlock(nil) } catch {
      try await vault.close()
      throw error
    }
    return vault
  }

  /// What an open vault says.
  static func truth(of vault: Vault) async throws -> Truth {
    let events = try? await vault.events(after: 0, through: .max).events.map(\.sequence)
    let contents = try await vault.load()
    return Truth(
      records: contents.records, intents: contents.intents, pendingLogins: contents.pendingLogins,
      revocations: contents.revocations, events: events,
      tokenID: vault.entropy.tokenID(of: try Secret(utf8: "fake-token")))
  }

  static func image(of scratch: Scratch) throws -> Image {
    var image: Image = [:]
    for name in scratch.names { image[name] = try scratch.bytes(of: name) }
    return image
  }

  private static func emptyDatabase(_ mark: Int32, isMarked: Bool = true) throws -> [UInt8] {
    let scratch = Scratch()
    try SQLiteConnection(path: scratch.file("empty"), applicationID: mark).close()
    var bytes = try scratch.bytes(of: "empty")
    // The mark lies at offset 68 (sqlite.org/fileformat2.html).
    if !isMarked { for index in 68..<72 { bytes[index] = 0 } }
    return bytes
  }
}

extension YoungVault {
  /// One damage of the files of a moment, drawn from `generator`; what was done, for a failure's description.
  func damage(_ image: inout Image, _ generator: inout SeededGenerator) -> String {
    let names = image.keys.sorted().filter { image[$0]?.isEmpty == false }
    let name = names.randomElement(using: &generator) ?? "vault.sqlite"
    let database = ["vault.sqlite", "vault.sqlite-wal"]
    let kind = Int.random(in: 0..<12, using: &generator)
    switch kind {
    case 0, 1: image[name]?.flip(Int.random(in: 1...8, using: &generator), &generator)
    case 2: image[name]?.cut(&generator)
    case 3: image[name] = nil
    case 4: image[name]?.overwrite(with: nil, &generator)
    case 5: image[name]?.overwrite(with: Int.random(in: 0...255, using: &generator), &generator)
    case 6: image[name] = moments.randomElement(using: &generator)?.image[name]
    case 7: image[name] = other[name]
    case 8:
      image["vault.sqlite"] = emptyDatabases.randomElement(using: &generator)
      if Bool.random(using: &generator) { image["vault.sqlite-wal"] = nil }
    case 9: image[name]?.swapPages(&generator)
    case 10: for part in database { image[part] = moments.randomElement(using: &generator)?.image[part] }
    default: for part in database { image[part]?.flip(1, &generator) }
    }
    return "damage \(kind) of \(name)"
  }
}

extension [UInt8] {
  fileprivate mutating func flip(_ count: Int, _ generator: inout SeededGenerator) {
    guard !isEmpty else { return }
    for _ in 0..<count {
      self[Int.random(in: indices, using: &generator)] ^= 1 << UInt8.random(in: 0...7, using: &generator)
    }
  }

  fileprivate mutating func cut(_ generator: inout SeededGenerator) {
    removeLast(Int.random(in: 0...count, using: &generator))
  }

  fileprivate mutating func overwrite(with byte: Int?, _ generator: inout SeededGenerator) {
    guard !isEmpty else { return }
    let start = Int.random(in: indices, using: &generator)
    for index in start..<Swift.min(count, start + Int.random(in: 1...4096, using: &generator)) {
      self[index] = byte.map { UInt8($0) } ?? UInt8.random(in: 0...255, using: &generator)
    }
  }

  fileprivate mutating func swapPages(_ generator: inout SeededGenerator) {
    let pages = count / 4096
    guard pages > 1 else { return }
    let (first, second) = (
      Int.random(in: 0..<pages, using: &generator) * 4096, Int.random(in: 0..<pages, using: &generator) * 4096
    )
    for offset in 0..<4096 { swapAt(first + offset, second + offset) }
  }
}
