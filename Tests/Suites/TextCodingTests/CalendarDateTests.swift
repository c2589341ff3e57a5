import TestSupport
import Testing
import TextCoding

@Suite(.standardTimeLimit) struct CalendarDateTests {
  @Test(arguments: [
    (0, 1970, 1, 1), (-1, 1969, 12, 31), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1), (-719_528, 0, 1, 1),
    (2_932_896, 9999, 12, 31), (-25_509, 1900, 2, 28), (-25_508, 1900, 3, 1),
  ])
  func `days have their dates`(days: Int64, year: Int64, month: Int64, day: Int64) throws {
    let date = try #require(CalendarDate(year: year, month: month, day: day))
    #expect(date.daysSince1970 == days)
    #expect(CalendarDate(daysSince1970: days) == date)
  }

  @Test func `every day of four centuries is the one after the day before`() throws {
    var (before, leapDays) = (CalendarDate(daysSince1970: -1), 0)
    for number in Int64(0)...146_097 {
      let date = CalendarDate(daysSince1970: number)
      #expect(date.daysSince1970 == number)
      #expect(CalendarDate(year: date.year, month: date.month, day: date.day) == date)
      let isNext = date.day == before.day + 1 && date.month == before.month && date.year == before.year
      let isFirst = date.day == 1 && (date.month, date.year) == (before.month % 12 + 1, before.year + before.month / 12)
      #expect(isNext || isFirst)
      if (date.month, date.day) == (2, 29) { leapDays += 1 }
      before = date
    }
    #expect(leapDays == 97)
  }

  @Test(arguments: [
    (2023, 2, 29), (1900, 2, 29), (2024, 2, 30), (2024, 4, 31), (2024, 0, 1), (2024, 13, 1), (2024, 1, 0),
  ])
  func `what is no day is refused`(year: Int64, month: Int64, day: Int64) {
    #expect(CalendarDate(year: year, month: month, day: day) == nil)
  }
}
