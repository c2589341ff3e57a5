import CCrypto
import JOSE
import Synchronization

/// OpenSSL's libcrypto, loaded when the first key is used and kept for the life of the process.
@safe
final class CryptoLibrary: Sendable {
  /// The name of OpenSSL 3, which is as old as the libcurl that requests need; looked up as the dynamic linker does.
  static let fileName = "libcrypto.so.3"

  private static let loaded = Mutex<CryptoLibrary?>(nil)

  // Filled before the object is published; never changed or freed afterwards.
  /// The functions.
  nonisolated(unsafe) let table: UnsafePointer<ccrypto_library>

  /// Loads a library of this name.
  ///
  /// - Throws: `KeyFault.libraryMissing`; also for one that is older, or another one.
  init(fileName: String) throws(KeyFault) {
    let table = UnsafeMutablePointer<ccrypto_library>.allocate(capacity: 1)
    // A struct of pointers, all of them null.
    unsafe table.initialize(to: ccrypto_library())
    // The name is NUL-terminated for the call, and `table` has room for what is written to it.
    guard unsafe ccrypto_load(fileName, table) == 1 else {
      // No other reference to the pointer exists.
      unsafe table.deallocate()
      throw .libraryMissing
    }
    unsafe self.table = UnsafePointer(table)
  }

  /// The library; a failure is not remembered, so that installing it helps at once.
  ///
  /// - Throws: `KeyFault.libraryMissing`.
  static func load() throws(KeyFault) -> CryptoLibrary {
    // Loading happens inside the lock, once in the life of the process: it is what the lock is for.
    try loaded.withLock { library throws(KeyFault) in
      if let library { return library }
      let new = try CryptoLibrary(fileName: fileName)
      library = new
      return new
    }
  }
}
