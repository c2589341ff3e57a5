import BrokerCore
import BrokerProtocol
import JSON
import Records
import Sealing
import SecretMemory

/// The flight that a member has begun: the intent to spend the refresh token, and its lease.
struct FleetFlight: Equatable {
  /// The member.
  var holder: [UInt8]
  /// When the token was about to be sent, by the member's clock.
  var startedAt: Timestamp
  /// The generation of the record whose refresh token it is.
  var generation: UInt64
  /// When the lease ends, by the clock of the store, in milliseconds.
  var leaseEnd: Int64

  /// Whether the token may have been spent before: the time says nothing then.
  var isReplay: Bool {
    RefreshIntent(profile: .default, generation: generation, startedAt: startedAt).followsLostReply
  }
}

/// The newest of a session that a member has read or written.
struct FleetMark: Equatable {
  /// The version of the row.
  let version: Int64
  /// The generation of the record.
  let generation: UInt64
  /// A digest of the contents of the record: each generation has one, whatever key it is sealed under.
  let digest: [UInt8]

  /// The mark of a session in a version of its row.
  init(_ entry: FleetEntry, version: Int64) {
    self.version = version
    generation = entry.generation
    digest = entry.contents.withBytes { KeyedHash.unkeyedDigest(of: $0, count: 16) }
  }

  /// Whether both are of the same record, whatever was written beside it.
  func isOfSameContents(as other: FleetMark) -> Bool { other.generation == generation && other.digest == digest }

  /// Whether what is found now is of an earlier time, or of one in which this has never been.
  func isAhead(of found: FleetMark) -> Bool {
    guard found.generation == generation else { return found.generation < generation }
    return found.version < version || found.digest != digest
  }

  /// The most by which a version is drawn above the earlier ones.
  private static let widestStep: Int64 = 1 << 10

  /// A version for the next write, above the earlier ones.
  ///
  /// It grows with the time, in milliseconds: a write has no version of one that was lost before, when the store went back.
  ///
  /// - Returns: nil where there is none any more.
  static func version(after last: Int64, at time: Int64) -> Int64? {
    let now = min(max(time, 0), Int64.max / widestStep - 1) * widestStep
    let (version, isOver) = max(last, now).addingReportingOverflow(Int64.random(in: 1...widestStep))
    return isOver ? nil : version
  }
}

/// A session of the fleet as it was opened.
struct FleetEntry {
  /// The generation of the record.
  var generation: UInt64
  /// The contents of the record: the JSON of `SessionContentsCoding`.
  var contents: Secret
  /// How far the clock of its times was ahead of the store's, in milliseconds.
  var clockAhead: Int64
  /// The flight under way; nil where none is.
  var flight: FleetFlight?
  /// The sealed contents as they were read, in which the tokens rest; nil for new ones.
  var sealed: SealedContents?

  /// An entry.
  init(generation: UInt64, contents: Secret, clockAhead: Int64, flight: FleetFlight? = nil) {
    (self.generation, self.contents, self.clockAhead, self.flight) = (generation, contents, clockAhead, flight)
  }
}

/// The coding of a session of the fleet, as one row holds it: see ``FleetRowParts``.
///
/// The boxes are bound to fleet, profile, version, generation, clock and the number of flights, and those of the contents and
/// of the flight to the binding as well, so that none of that can be exchanged, and no earlier row put in the place of a later
/// one. Numbers are big-endian.
struct FleetCoding {
  /// How many random bytes name a member.
  static let holderByteCount = 16
  private static let flightByteCount = holderByteCount + 24

  /// The fleet.
  let fleet: String
  /// Seals and opens.
  let seal: VaultSeal

  /// Why a row cannot be used.
  enum Fault: Error {
    /// It is of another provider, client or address; the generation of its record.
    case otherBinding(UInt64)
    /// It is sealed under another data key.
    case otherKey
    /// It is not what a member has written.
    case damaged
    /// There is no memory for it now.
    case noRoom
  }

  private func place(
    _ part: String, _ profile: ProfileName, _ binding: ProviderBinding?, _ parts: FleetRowParts, _ version: Int64
  ) -> SealedPlace {
    SealedPlace(
      table: "fleet \(part) \(fleet)", row: profile.description, format: Int64(FleetRowParts.format), binding: binding,
      numbers: [version, Int64(bitPattern: parts.generation), parts.clockAhead, parts.hasFlight ? 1 : 0])
  }

  /// Seals a session for a version of its row.
  func encode(
    _ entry: FleetEntry, of profile: ProfileName, _ binding: ProviderBinding, version: Int64
  ) -> [UInt8] {
    var parts = FleetRowParts(
      key: seal.vaultID, generation: entry.generation, clockAhead: entry.clockAhead, hasFlight: entry.flight != nil)
    // No part of a binding has a NUL.
    let words = Array([binding.type, binding.issuer, binding.clientID].joined(separator: "\0").utf8)
    parts.binding = seal.seal(words.span, at: place("binding", profile, nil, parts, version))
    parts.contents = entry.contents.withBytes { bytes in
      seal.seal(bytes, at: place("session", profile, binding, parts, version))
    }
    if let flight = entry.flight {
      let plain =
        flight.holder + BigEndian.bytes(of: UInt64(bitPattern: flight.startedAt.milliseconds))
        + BigEndian.bytes(of: flight.generation) + BigEndian.bytes(of: UInt64(bitPattern: flight.leaseEnd))
      parts.flight = seal.seal(plain.span, at: place("flight", profile, binding, parts, version))
    }
    return parts.encoded
  }

  private func parts(of row: SharedRow) throws(Fault) -> FleetRowParts {
    guard let parts = FleetRowParts(row.bytes) else { throw .damaged }
    guard parts.key == seal.vaultID else { throw .otherKey }
    return parts
  }

  /// The provider, client and address of a row's session, whose configuration may be another member's alone.
  ///
  /// - Throws: ``Fault``.
  func binding(of row: SharedRow, of profile: ProfileName) throws(Fault) -> ProviderBinding {
    let parts = try parts(of: row)
    let words = try open(parts.binding, at: place("binding", profile, nil, parts, row.version)).withBytes { bytes in
      String(decoding: Array(copying: bytes), as: UTF8.self)
        .split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
    }
    guard words.count == 3 else { throw .damaged }
    return ProviderBinding(type: words[0], issuer: words[1], clientID: words[2])
  }

  /// Opens a row.
  ///
  /// - Throws: ``Fault``.
  func decode(
    _ row: SharedRow, of profile: ProfileName, _ binding: ProviderBinding
  ) throws(Fault) -> FleetEntry {
    let parts = try parts(of: row)
    guard try self.binding(of: row, of: profile) == binding else { throw .otherBinding(parts.generation) }
    let place = { (part: String) in self.place(part, profile, binding, parts, row.version) }
    let contents = try open(parts.contents, at: place("session"))
    var entry = FleetEntry(generation: parts.generation, contents: contents, clockAhead: parts.clockAhead)
    entry.sealed = SealedContents(
      box: parts.contents, OpenedRow(place: place("session"), plaintext: contents, seal: seal))
    guard parts.hasFlight else { return entry }
    let plain = try open(parts.flight, at: place("flight")).withBytes { Array(copying: $0) }
    guard plain.count == Self.flightByteCount else { throw .damaged }
    let times = (0..<3).map { index in
      let start = Self.holderByteCount + 8 * index
      return BigEndian.number(plain[start..<start + 8])
    }
    entry.flight = FleetFlight(
      holder: Array(plain[..<Self.holderByteCount]), startedAt: Timestamp(milliseconds: Int64(bitPattern: times[0])),
      generation: times[1], leaseEnd: Int64(bitPattern: times[2]))
    return entry
  }

  private func open(_ box: [UInt8], at place: SealedPlace) throws(Fault) -> Secret {
    do throws(SealingError) {
      return try seal.open(box.span, at: place)
    } catch .secretMemoryExhausted {
      throw .noRoom
    } catch {
      throw .damaged
    }
  }
}
