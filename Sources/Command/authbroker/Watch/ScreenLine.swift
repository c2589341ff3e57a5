/// A line of a screen, and how it is set off.
struct ScreenLine: Equatable {
  /// The ways of setting a line off.
  enum Mark {
    case plain, heading, warning, dim
  }

  /// The characters, without escape sequences.
  var text: String
  /// The way in which it is set off.
  var mark = Mark.plain

  /// Breaks text into lines of a width: at blanks where there are some, else anywhere, so that nothing is cut off.
  static func wrapped(
    _ text: String, behind lead: String = "", columns: Int, _ mark: Mark = .plain
  ) -> [ScreenLine] {
    Paragraph(lead: lead, columns: columns).lines(text).flatMap { line in
      var (parts, rest) = ([ScreenLine](), line[...])
      repeat {
        parts.append(ScreenLine(text: String(rest.prefix(columns)), mark: mark))
        rest = rest.dropFirst(columns)
      } while !rest.isEmpty
      return parts
    }
  }

  /// The line as the terminal gets it.
  func shown(_ style: Style) -> String {
    switch mark {
    case .plain: text
    case .heading: style.bold(text)
    case .warning: style.warning(text)
    case .dim: style.dim(text)
    }
  }
}
