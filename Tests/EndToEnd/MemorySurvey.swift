import BrokerCore
import Glibc
import LinuxSystem
import Records
import SQLiteStore
import Sealing
import SecretMemory

/// Looks for secrets in the memory of a broker, which stands still meanwhile.
struct MemorySurvey {
  private let pid: Int32
  /// Refresh tokens, which no client ever sees, and what keys the arena held at some time.
  private var learned: [MemoryMark] = []

  /// A survey that looks for what another one has learned, too.
  init(of pid: Int32, knowing other: MemorySurvey? = nil) {
    self.pid = pid
    learned = other?.learned ?? []
  }

  /// How many marks of a name were learned.
  func learnedCount(_ name: String) -> Int { learned.count { $0.name == name } }

  /// Notes what keys the arena holds now, and what refresh tokens the vault does.
  mutating func learn(_ sandbox: Sandbox) throws {
    try learnKeys()
    let (pid, copy) = (pid, sandbox.root + "/surveyed")
    try Self.stopped(pid) { try Self.copyVault(of: sandbox.state, to: copy) }
    let tokens = try TaskResult.waiting { try await Self.refreshTokens(inVaultAt: copy) }
    for token in tokens {
      add("refresh token", token)
      add("refresh token, base64", MemoryText.base64URL(token))
      add("refresh token, raw", MemoryText.decoded(token))
    }
  }

  private static func copyVault(of state: String, to copy: String) throws {
    for suffix in ["sqlite", "sqlite-wal", "sqlite-shm", "key", "anchor"] {
      unlink("\(copy).\(suffix)")
      guard let bytes = try? Directory.bytes(of: "\(state)/vault.\(suffix)") else { continue }
      try FileDescriptor.open("\(copy).\(suffix)", [.write, .create]).writeAll(bytes.span)
    }
  }

  private static func refreshTokens(inVaultAt path: String) async throws -> [[UInt8]] {
    try Sealing.initialize()
    let vault = try await Vault.open(
      path: path + ".sqlite", settings: KeySourceSettings(keyFilePath: path + ".key"), anchorPath: path + ".anchor")
    try await vault.unlock(nil)
    let tokens: [[UInt8]] = try await vault.load().records.compactMap { record in
      guard case .living(let session) = record.contents, let token = session.tokens.refreshToken?.value
      else { return nil }
      return token.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    }
    try await vault.close()
    return tokens
  }

  private mutating func learnKeys() throws {
    let pid = pid
    let contents = try Self.stopped(pid) {
      let memory = try ProcessMemory(of: pid)
      return try memory.ownRegions.filter { $0.use == .arena }.map { try memory.bytes(of: $0) }
    }
    for bytes in contents {
      for page in MemorySearch.usedPages(of: bytes) {
        for start in stride(from: page.lowerBound, to: page.upperBound, by: 64) { learn(bytes[start..<start + 64]) }
      }
    }
  }

  /// A block of the arena begins with a secret: a key, where many of its first bytes are no text.
  private mutating func learn(_ block: ArraySlice<UInt8>) {
    if block.prefix(32).count(where: { $0 > 0x7F }) > 7 { add("key", block.prefix(32)) }
  }

  private mutating func add(_ name: String, _ bytes: some Sequence<UInt8>) {
    let mark = MemoryMark(name, bytes)
    if !learned.contains(where: { $0.bytes == mark.bytes }) { learned.append(mark) }
  }

  /// Finds marks, and whatever was learned.
  ///
  /// The keys that the embedded provider keeps in clear in its own database are no secrets of the broker: it plays the
  /// remote, and SQLite has them in its pages.
  func findings(_ marks: [MemoryMark], besides sandbox: Sandbox) throws -> MemoryFindings {
    let files = try Directory.files(below: sandbox.state + "/local-provider").map { try Directory.bytes(of: $0) }
    let everything = marks + learned
    let search = MemorySearch(everything)
    let known = Set(
      files.flatMap { search.pieces(in: $0) }.filter { $0.byteCount == everything[$0.mark].bytes.count }.map(\.mark))
    let marks = everything.indices.filter { !known.contains($0) }.map { everything[$0] }
    return try Self.findings(marks, pid)
  }

  private static func findings(_ marks: [MemoryMark], _ pid: Int32) throws -> MemoryFindings {
    let search = MemorySearch(marks)
    return try stopped(pid) {
      let memory = try ProcessMemory(of: pid)
      var findings = MemoryFindings(marks: marks, regions: memory.ownRegions)
      for region in memory.ownRegions {
        for piece in search.pieces(in: try memory.bytes(of: region)) { findings.add(piece, in: region) }
      }
      return findings
    }
  }

  private static func stopped<Value>(_ pid: Int32, _ body: () throws -> Value) throws -> Value {
    try Signal(number: 19).send(to: pid)
    defer { try? Signal(number: 18).send(to: pid) }
    while true {
      let words = String(decoding: try Directory.bytes(of: "/proc/\(pid)/stat"), as: UTF8.self).split(separator: " ")
      if words.count > 2, words[2] == "T" { break }
    }
    return try body()
  }
}

/// Which marks were found, and where.
struct MemoryFindings {
  private struct Place {
    let mark: String
    let use: ProcessMemory.Use
    let text: String
  }

  private let marks: [MemoryMark]
  private let regions: [ProcessMemory.Region]
  private var places: [Place] = []

  init(marks: [MemoryMark], regions: [ProcessMemory.Region]) {
    self.marks = marks
    self.regions = regions
  }

  mutating func add(_ piece: MemoryMark.Piece, in region: ProcessMemory.Region) {
    let mark = marks[piece.mark]
    // What begins a block of the arena may be a box: its nonce of 24 bytes (XChaCha20) is random, too, and no secret.
    guard mark.name != "key" || piece.byteCount != 24 else { return }
    let address = String(region.start + UInt(piece.offset), radix: 16)
    let text =
      "\(piece.byteCount) of \(mark.bytes.count) bytes of \(mark.name) #\(piece.mark) at \(address) (\(region.use) \(region.path))"
    places.append(Place(mark: mark.name, use: region.use, text: text))
  }

  /// How often marks were found in one kind of memory, by the beginning of their names.
  func count(_ name: String, in use: ProcessMemory.Use) -> Int {
    places.count { $0.mark.hasPrefix(name) && $0.use == use }
  }

  /// Everything that should not be.
  var outsideTheArena: [String] { places.filter { $0.use != .arena }.map(\.text) }

  /// One row for each name, with how many marks have it, and one column for each kind of memory.
  var table: String {
    var names: [String] = []
    for mark in marks where !names.contains(mark.name) { names.append(mark.name) }
    let uses = ProcessMemory.Use.allCases
    var rows = [(["mark"] + uses.map(\.rawValue))]
    for name in names {
      let title = "\(name) (\(marks.count { $0.name == name }))"
      rows.append([title] + uses.map { use in String(places.count { $0.mark == name && $0.use == use }) })
    }
    let sizes = uses.map { use in "\(regions.filter { $0.use == use }.reduce(0) { $0 + $1.ownKiB }) KiB" }
    rows.append(["(searched)"] + sizes)
    return rows.map { row in
      row.enumerated().map { index, cell in
        let gap = String(repeating: " ", count: max(0, (index == 0 ? 36 : 10) - cell.count))
        return index == 0 ? cell + gap : gap + cell
      }.joined()
    }.joined(separator: "\n")
  }
}
