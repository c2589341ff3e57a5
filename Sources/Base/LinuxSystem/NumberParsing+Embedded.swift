// What the standard library leaves to the platform in Embedded Swift, in which only the client program is compiled.
#if hasFeature(Embedded)
import CLinux

/// Reads a number for `Double.init(_:)`, as the runtime does elsewhere (strtod(3)).
///
/// This program sets no locale, so it is that of C.
///
/// - Parameters:
///   - text: NUL-terminated.
///   - result: gets the number.
/// - Returns: where the number ends.
@_cdecl("_swift_stdlib_strtod_clocale")
@unsafe
func readNumber(_ text: UnsafePointer<CChar>, _ result: UnsafeMutablePointer<Double>) -> UnsafePointer<CChar>? {
  var end: UnsafeMutablePointer<CChar>?
  // Both pointers are the caller's, for the length of the call; the end is inside the text.
  unsafe result.pointee = strtod(text, &end)
  // As above.
  return unsafe UnsafePointer(end)
}
#endif
