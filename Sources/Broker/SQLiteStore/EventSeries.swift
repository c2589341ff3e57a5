import BrokerProtocol

/// One of the two series of kept events: each has ordinals without a gap, and loses its oldest events first.
enum EventSeries: CaseIterable, Sendable {
  /// Events that come often: refreshes, codes, failures.
  case passing
  /// Events that report the beginning or end of a session, or a possible attack.
  case lasting

  /// The first ordinal of the second series: the first one never comes so far.
  static let boundary: Int64 = 1 << 62

  /// The series of an event.
  init(of event: EventName) { self = event.isLasting ? .lasting : .passing }

  /// The series of a row.
  init(ofOrdinal ordinal: Int64) { self = ordinal >= Self.boundary ? .lasting : .passing }

  /// The ordinals that a row of the series can have.
  var ordinals: ClosedRange<Int64> {
    switch self {
    case .passing: Int64.min...Self.boundary - 1
    case .lasting: Self.boundary...Int64.max
    }
  }
}

/// The ordinals of the events of a series that are kept.
struct OrdinalRange: Sendable, Equatable {
  /// The oldest.
  var first: Int64
  /// The newest; one less than the first where none is kept.
  var last: Int64

  /// The range of a series without events.
  init(_ series: EventSeries) {
    first = series == .passing ? 1 : EventSeries.boundary
    last = first - 1
  }

  /// A range that was written; nil where it can be none of the series.
  init?(first: Int64, last: Int64, _ series: EventSeries) {
    guard first >= OrdinalRange(series).first, series.ordinals.contains(first), last >= first - 1, last < .max,
      last < first || series.ordinals.contains(last)
    else { return nil }
    self.first = first
    self.last = last
  }

  /// How many events it has.
  var count: Int64 { last - first + 1 }
}
