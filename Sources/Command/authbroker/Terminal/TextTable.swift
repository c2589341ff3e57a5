/// Lines of cells in columns, for people.
struct TextTable {
  /// The heading, and the lines below it.
  private var rows: [[String]]

  /// A table that has no line yet.
  init(_ heading: String...) { rows = [heading] }

  /// Adds a line with a cell for each column; `-` stands for what is not known.
  mutating func add(_ cells: String?...) { rows.append(cells.map { $0 ?? "-" }) }

  /// Prints the table.
  ///
  /// - Parameters:
  ///   - style: sets the heading off.
  ///   - mark: may set off cells of a line, whose number it is told; they are as wide as their columns already.
  func print(_ style: Style, marking mark: (_ line: Int, _ cells: inout [String]) -> Void = { _, _ in }) {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for (index, row) in rows.enumerated() {
      var cells = zip(row, widths).map { $0.padded(to: $1) }
      if index > 0 { mark(index - 1, &cells) }
      let line = cells.joined(separator: "  ").trimmingEnd()
      Output.line(index == 0 ? style.dim(line) : line)
    }
  }
}
