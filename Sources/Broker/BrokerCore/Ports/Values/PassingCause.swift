/// Why something passes that is wrong, where more is known than the kind of the error says.
package enum PassingCause: Sendable, Equatable {
  /// There is no trusted TLS.
  case tls(TLSFault)
  /// The disk with the embedded provider's files is full.
  case fullDisk
  /// The embedded provider's files cannot be written.
  case unwritableFiles

  /// One plain sentence that says what is wrong and what to do about it.
  package var message: String {
    switch self {
    case .tls(let fault): fault.message()
    case .fullDisk:
      "The disk is full: the embedded provider could not save anything; make room on the disk of the state directory."
    case .unwritableFiles:
      "The embedded provider's files in the state directory cannot be written; check what authbroker doctor says about them."
    }
  }
}
