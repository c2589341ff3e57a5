import CLinux

/// The result of stat(2), as far as it decides whether a file may be trusted.
package struct FileStatus: Sendable, Equatable {
  /// The identity of a file, whatever its name: two names of one file are equal.
  package struct Identity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// The identity that stat(2) gives: the inode number alone is unique only on its device.
    fileprivate init(_ file: clinux_file) {
      device = file.device
      inode = file.inode
    }

    /// Whether the kernel means this file by `MAJOR:MINOR:INODE`, the device in hexadecimal digits (proc(5), `/proc/locks`).
    func isNamed(by text: Substring) -> Bool {
      let parts = text.split(separator: ":")
      guard parts.count == 3 else { return false }
      // As makedev(3) puts them together.
      let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
      let minor = device & 0xFF | (device >> 12) & ~0xFF
      return UInt64(parts[0], radix: 16) == major && UInt64(parts[1], radix: 16) == minor && UInt64(parts[2]) == inode
    }
  }

  /// The kind of a file.
  package enum Kind: Sendable {
    case regular, directory, socket, pipe, characterDevice, symbolicLink, other
  }

  /// The kind of file.
  package let kind: Kind
  /// The permission bits, set-id and sticky bits included.
  package let permissions: UInt32
  /// The owner.
  package let owner: UInt32
  /// The group.
  package let group: UInt32
  /// How many names it has.
  package let linkCount: UInt64
  /// The identity.
  package let identity: Identity
  /// How many bytes the file has.
  package let size: Int64
  /// When its contents were last changed, in milliseconds since 1970-01-01T00:00:00Z.
  package let modifiedMilliseconds: Int64

  /// Converts the kernel's result.
  ///
  /// - Throws: the error that it told instead.
  init(_ file: clinux_file) throws(Errno) {
    guard file.error == 0 else { throw Errno(code: file.error) }
    kind = Kind(mode: file.mode)
    permissions = file.mode & 0o7777
    owner = file.uid
    group = file.gid
    linkCount = file.links
    identity = Identity(file)
    size = file.size
    modifiedMilliseconds = file.modified_milliseconds
  }

  /// The status of a path's target, symbolic links followed.
  package static func following(_ path: String) throws(Errno) -> FileStatus {
    // The string is NUL-terminated for the length of the call, which does not keep it.
    try FileStatus(unsafe clinux_stat(path))
  }

  /// Looks at the path's last component itself, even if that is a symbolic link.
  package static func ofLink(_ path: String) throws(Errno) -> FileStatus {
    // The string is NUL-terminated for the length of the call, which does not keep it.
    try FileStatus(unsafe clinux_lstat(path))
  }

  /// Looks at an entry of a directory by its descriptor, wherever that is by now; symbolic links are not followed.
  package static func ofLink(_ name: String, in directory: Int32) throws(Errno) -> FileStatus {
    // As above.
    try FileStatus(unsafe clinux_lstat_in(directory, name))
  }

  /// True if group or others have any right on it.
  package var isOpenToOthers: Bool { permissions & 0o077 != 0 }
}

extension FileStatus.Kind {
  /// The kind in the upper bits of `st_mode` (inode(7)).
  fileprivate init(mode: UInt32) {
    switch Int32(bitPattern: mode) & S_IFMT {
    case S_IFREG: self = .regular
    case S_IFDIR: self = .directory
    case S_IFSOCK: self = .socket
    case S_IFIFO: self = .pipe
    case S_IFCHR: self = .characterDevice
    case S_IFLNK: self = .symbolicLink
    default: self = .other
    }
  }
}
