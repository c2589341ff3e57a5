import LinuxSystem

/// Lines of cells in columns, for people.
struct TextTable {
  /// The heading, and the lines below it.
  private var rows: [[String]]

  /// A table that has no line yet.
  init(_ heading: String...) { rows = [heading] }

  /// Adds a line with a cell for each column; `-` stands for what is not known.
  mutating func add(_ cells: String?...) { rows.append(cells.map { $0 ?? "-" }) }

  /// Prints the table; where the terminal is narrower than it, each line as a paragraph of its headings and cells.
  ///
  /// - Parameters:
  ///   - style: sets the heading off.
  ///   - mark: may set off cells of a line, whose number it is told; they are as wide as their columns already.
  func print(_ style: Style, marking mark: (_ line: Int, _ cells: inout [String]) -> Void = { _, _ in }) {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let width = widths.reduce(2 * (widths.count - 1), +)
    if let columns = Terminal.columns(1), width > columns { return printParagraphs(style, mark) }
    for (index, row) in rows.enumerated() {
      var cells = zip(row, widths).map { $0.padded(to: $1) }
      if index > 0 { mark(index - 1, &cells) }
      let line = cells.joined(separator: "  ").trimmingEnd()
      Output.line(index == 0 ? style.dim(line) : line)
    }
  }

  private func printParagraphs(_ style: Style, _ mark: (Int, inout [String]) -> Void) {
    let width = (rows[0].map { $0.count }.max() ?? 0) + 2
    for (index, row) in rows.dropFirst().enumerated() {
      if index > 0 { Output.line("") }
      var marked = row
      mark(index, &marked)
      for (column, heading) in rows[0].enumerated() where row[column] != "-" {
        let lead = heading.padded(to: width)
        // What is set off is a word.
        guard marked[column] == row[column] else {
          Output.line(style.dim(lead) + marked[column])
          continue
        }
        let lines = Paragraph(lead: lead, indent: width, columns: Terminal.columns(1)).lines(row[column])
        for (number, line) in lines.enumerated() {
          Output.line(number == 0 ? style.dim(lead) + line.dropFirst(width) : line)
        }
      }
    }
  }
}
