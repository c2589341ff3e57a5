import CCurl
import Synchronization

/// libcurl, loaded when the first request is made and kept for the life of the process.
@safe
final class CurlLibrary: Sendable {
  /// The name of the library in Debian's libcurl4 and other packages; looked up as the dynamic linker does.
  static let fileName = "libcurl.so.4"
  /// The least version: 7.87 brought `CURLOPT_QUICK_EXIT`, without which a dead name server holds up every caller.
  static let oldestVersion: UInt32 = 0x07_57_00

  private static let loaded = Mutex<CurlLibrary?>(nil)

  // Filled before the object is published; never changed or freed afterwards.
  /// The functions.
  nonisolated(unsafe) let table: UnsafePointer<ccurl_library>

  private init(fileName: String) throws(HTTPFailure) {
    let table = UnsafeMutablePointer<ccurl_library>.allocate(capacity: 1)
    // A struct of pointers, all of them null.
    unsafe table.initialize(to: ccurl_library())
    // The name is NUL-terminated for the call, and `table` has room for what is written to it.
    let result = unsafe ccurl_load(fileName, Self.oldestVersion, table)
    guard Int(result) == CCURL_LOADED else {
      // No other reference to the pointer exists.
      unsafe table.deallocate()
      throw Int(result) == CCURL_NOT_STARTED ? .setUpFailed : .libraryMissing
    }
    unsafe self.table = UnsafePointer(table)
  }

  /// The library; a failure is not remembered, so that installing it helps at once.
  ///
  /// - Parameter fileName: another one, for a test of what happens without it.
  /// - Returns: the one that was loaded first.
  /// - Throws: `HTTPFailure.libraryMissing`, or `.setUpFailed` when it cannot be initialised.
  static func load(fileName: String = CurlLibrary.fileName) throws(HTTPFailure) -> CurlLibrary {
    // Loading happens inside the lock, once in the life of the process: it is what the lock is for.
    try loaded.withLock { library throws(HTTPFailure) in
      if let library { return library }
      let new = try CurlLibrary(fileName: fileName)
      library = new
      return new
    }
  }

  /// Frees what the library's TLS keeps for the calling thread, where it keeps something.
  static func leaveThread() {
    guard let library = loaded.withLock({ $0 }) else { return }
    // The table is filled for good.
    unsafe ccurl_leave_thread(library.table)
  }
}
