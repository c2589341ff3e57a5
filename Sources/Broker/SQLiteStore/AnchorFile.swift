import LinuxSystem
import Sealing

/// The number of changes that the vault has had, kept outside of it: an older copy of the whole database is then
/// noticed.
///
/// Two slots are written in turn, each after its change is durable. So the anchor never counts a change that the vault
/// does not have, whenever the process ends; that it may be a little behind does no harm. No write waits for the disk.
/// Anyone who can write to both places can roll back both: it is for copies, backups and people who have one of them.
final class AnchorFile {
  /// ```
  /// 8 bytes magic ‖ 16 bytes vault identifier ‖ 8 bytes generation ‖ 32 bytes BLAKE2b of these, keyed
  /// ```
  private static let slotByteCount = 64
  private static let slotCount = 2
  private static let magic = Array("ABANCHOR".utf8)

  private let descriptor: FileDescriptor
  private let vaultID: [UInt8]
  private let mac: KeyedHash
  private var nextSlot = 0

  /// The highest generation that was found; nil where there was none of this vault.
  private(set) var generation: UInt64?
  /// Whether all that was found is of another vault.
  private(set) var isForeign = false

  /// Opens the anchor of a vault, or makes an empty one; another vault's is overwritten in time.
  ///
  /// Nil where the place cannot be used.
  init?(path: String, vaultID: [UInt8], mac: KeyedHash) {
    do {
      _ = try PrivateDirectory(PathName.directory(of: path), create: true)
      descriptor = try FileDescriptor.open(path, [.readWrite, .create, .noFollow, .nonBlocking])
      let status = try descriptor.status()
      guard status.kind == .regular, status.owner == ProcessIdentity.user, !status.isOpenToOthers else { return nil }
    } catch { return nil }
    self.vaultID = vaultID
    self.mac = mac
    read()
  }

  /// Whether a file looks like the anchor of a vault that was changed at least once; which vault's takes a key to tell.
  ///
  /// A file that cannot be examined counts as one.
  static func isWritten(at path: String) -> Bool {
    let bytes: [UInt8]
    do throws(Errno) {
      let file = try FileDescriptor.open(path, [.read, .noFollow, .nonBlocking])
      let status = try file.status()
      guard status.kind == .regular, status.owner == ProcessIdentity.user else { return false }
      bytes = try file.contents(limit: slotByteCount * slotCount)
    } catch { return error != .noEntry }
    return (0..<slotCount).contains { bytes.dropFirst($0 * slotByteCount).starts(with: magic) }
  }

  /// Refuses a file in the place of an anchor that cannot be one.
  ///
  /// - Throws: `VaultError.notOurs`.
  static func inspect(_ path: String) throws(VaultError) {
    // What is missing is made, and what cannot be examined is not used.
    guard let status = try? FileStatus.ofLink(path) else { return }
    guard status.kind == .regular, status.owner == ProcessIdentity.user, !status.isOpenToOthers else {
      throw .notOurs(path: path)
    }
  }

  /// Reads both slots again.
  func read() {
    generation = nil
    isForeign = false
    for slot in 0..<Self.slotCount {
      let offset = Int64(slot * Self.slotByteCount)
      guard let bytes = try? descriptor.contents(from: offset, limit: Self.slotByteCount),
        bytes.count == Self.slotByteCount, bytes.starts(with: Self.magic)
      else { continue }
      if !bytes.dropFirst(Self.magic.count).starts(with: vaultID) { isForeign = true }
      guard let found = generation(in: bytes), found >= generation ?? 0 else { continue }
      generation = found
      nextSlot = (slot + 1) % Self.slotCount
    }
    if generation != nil { isForeign = false }
  }

  private func generation(in bytes: [UInt8]) -> UInt64? {
    guard bytes.starts(with: Self.magic + vaultID) else { return nil }
    let (message, digest) = (bytes.span.extracting(first: 32), bytes.span.extracting(last: 32))
    guard mac.isValid(digest, for: message) else { return nil }
    return bytes[24..<32].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Notes a change that is durable.
  ///
  /// - Returns: whether it was written; a full disk is no reason to fail a change that was made.
  @discardableResult
  func write(_ generation: UInt64) -> Bool {
    var bytes = Self.magic + vaultID
    bytes.append(number: generation)
    bytes += mac.digest(of: bytes.span, count: 32)
    do { try descriptor.writeAll(bytes.span, at: Int64(nextSlot * Self.slotByteCount)) } catch { return false }
    self.generation = generation
    nextSlot = (nextSlot + 1) % Self.slotCount
    return true
  }

  /// Waits until what was written has reached the disk.
  func synchronize() { try? descriptor.synchronize() }
}
