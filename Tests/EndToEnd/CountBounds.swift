/// What may be counted where a token is asked for: every bound of ``CountTests``, to be lowered here.
///
/// They are for debug and release builds alike, but for those of the process `authbroker token`: its release build is
/// another kind of program.
enum CountBounds {
  /// System calls of the daemon for one request on a kept connection: it waits, reads and sends.
  static let callsOfRequest = 3
  /// System calls of the daemon around all requests of one connection: accepting it, its registration, its end, and a
  /// wait that strace(1) saw begin before.
  static let callsOfConnection = 16
  /// System calls of the daemon for the unit and the label of a new connection: it is held, its groups are read (and its
  /// start, before and after, where the kernel cannot hold it), and it is asked for its label.
  static let callsOfIdentity = 16
  /// System calls of the process `authbroker token`, from execve(2) to its end, but for those of the dynamic loader; a
  /// debug build loads its libraries with some more.
  static var callsOfProcess: Int { BuiltPrograms.released == nil ? 400 : 50 }
  /// Questions of that process to the broker: one write, and one answer.
  static let questionsOfProcess = 1
  /// Page faults of that process.
  ///
  /// Those of its own are fewer (perf-stat(1): 38, of the least C program 29); counted from its fork on, they include what a
  /// large parent leaves to its child. How many pages come with one fault is the kernel's affair.
  static var faultsOfProcess: Int { BuiltPrograms.released == nil ? 1500 : 100 }
  /// How often a refresh waits for the disk: its intent, the embedded provider's spent token, the new record.
  static let syncsOfRefresh = 3
  /// Page faults of the daemon for a thousand requests: its pages are all there.
  static let faultsOfThousandRequests = 16
}
