import Configuration
import HTTP

/// How a profile's section `tls` is understood.
extension TLSPolicy {
  /// The policy that a profile asks for.
  ///
  /// - Throws: `HTTPFailure.invalidURL` for pins that are none.
  init(_ configuration: TLSConfiguration) throws(HTTPFailure) {
    let pins: PinSet?
    do { pins = configuration.pins.isEmpty ? nil : try PinSet(configuration.pins) } catch { throw .invalidURL }
    self.init(caFile: configuration.caFile ?? TLSPolicy.systemCAFile, pins: pins)
  }
}
