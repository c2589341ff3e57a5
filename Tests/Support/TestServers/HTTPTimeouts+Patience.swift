package import HTTP
import TestSupport

extension HTTPTimeouts {
  /// Those of a test in which no request is late: a server of the tests may wait for a processor for long.
  package static var patient: HTTPTimeouts { all(Patience.ceiling) }

  /// One time-out for everything.
  package static func all(_ duration: Duration) -> HTTPTimeouts {
    var timeouts = HTTPTimeouts()
    timeouts.connect = duration
    timeouts.interactive = duration
    timeouts.refresh = duration
    timeouts.stillness = duration
    timeouts.longestReply = duration
    return timeouts
  }
}
