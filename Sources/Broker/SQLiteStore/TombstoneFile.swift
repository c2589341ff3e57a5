import LinuxSystem
import Sealing

/// The rows that have ended although the disk has no room to say so in the database: their tags, written in place, over room
/// that was taken while there was some.
///
/// Two slots are written in turn, so that a write which a power failure cuts off leaves the other. A tag stands for one
/// box alone: whatever takes the place of a row is not meant by its tombstone.
final class TombstoneFile {
  /// ```
  /// 8 bytes magic ‖ 16 bytes vault identifier ‖ 8 bytes number ‖ 8 bytes count ‖ 16 bytes each tag ‖ 32 bytes BLAKE2b of these, keyed
  /// ```
  private static let slotByteCount = 16 << 10
  private static let slotCount = 2
  private static let headByteCount = 40
  private static let digestByteCount = 32
  private static let magic = Array("ABENDED1".utf8)

  private let descriptor: FileDescriptor
  private let vaultID: [UInt8]
  private let mac: KeyedHash
  private var number: UInt64 = 0

  /// The tags of the rows.
  private(set) var tags: Set<RowTag> = []

  /// Opens the file beside a database, or makes it, which takes room on the disk; nil where that cannot be done.
  ///
  /// - Parameters:
  ///   - path: of the database.
  ///   - vaultID: of 16 bytes.
  ///   - mac: with a key that stays the same for the life of the vault.
  init?(ofDatabase path: String, vaultID: [UInt8], mac: KeyedHash) {
    do {
      descriptor = try FileDescriptor.open(path + ".ended", [.readWrite, .create, .noFollow, .nonBlocking])
      let status = try descriptor.status()
      guard status.kind == .regular, status.linkCount == 1, status.owner == ProcessIdentity.user, !status.isOpenToOthers
      else { return nil }
      if status.size != Int64(Self.slotByteCount * Self.slotCount) {
        // Written, and not allocated alone: what was never written may want room for its first bytes.
        try descriptor.truncate()
        try descriptor.writeAll([UInt8](repeating: 0, count: Self.slotByteCount * Self.slotCount).span)
        try descriptor.synchronize()
        try FileDescriptor.open(PathName.directory(of: path), [.read, .directory]).synchronize()
      }
    } catch { return nil }
    self.vaultID = vaultID
    self.mac = mac
    read()
  }

  private func read() {
    for slot in 0..<Self.slotCount {
      let offset = Int64(slot * Self.slotByteCount)
      guard let bytes = try? descriptor.contents(from: offset, limit: Self.slotByteCount),
        let found = decode(bytes), found.number >= number
      else { continue }
      (number, tags) = found
    }
  }

  private func decode(_ bytes: [UInt8]) -> (number: UInt64, tags: Set<RowTag>)? {
    let head = Self.magic + vaultID
    guard bytes.starts(with: head) else { return nil }
    var reader = ByteReader(Array(bytes.dropFirst(head.count)))
    guard let number = reader.number(), let count = reader.number().flatMap({ Int(exactly: $0) }),
      count <= Self.capacity
    else { return nil }
    let end = Self.headByteCount + RowTag.byteCount * count
    let digest = bytes.span.extracting(end..<end + Self.digestByteCount)
    guard mac.isValid(digest, for: bytes.span.extracting(first: end)) else { return nil }
    var tags: Set<RowTag> = []
    for _ in 0..<count { if let tag = reader.tag() { tags.insert(tag) } }
    return (number, tags)
  }

  /// How many tags a slot has room for.
  static let capacity = (slotByteCount - headByteCount - digestByteCount) / RowTag.byteCount

  /// Writes which rows have ended, in place of those before.
  ///
  /// - Returns: whether that is durable.
  func write(_ tags: Set<RowTag>) -> Bool {
    guard tags.count <= Self.capacity else { return false }
    var bytes = Self.magic + vaultID
    bytes.append(number: number + 1)
    bytes.append(number: UInt64(tags.count))
    for tag in tags { bytes.append(tag: tag) }
    bytes += mac.digest(of: bytes.span, count: Self.digestByteCount)
    do {
      try descriptor.writeAll(bytes.span, at: Int64(Int((number + 1) % UInt64(Self.slotCount)) * Self.slotByteCount))
      try descriptor.synchronize()
    } catch { return false }
    number += 1
    self.tags = tags
    return true
  }
}
