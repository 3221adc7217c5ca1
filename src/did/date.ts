const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z$/

/**
 * Unix seconds of `YYYY-MM-DDTHH:MM:SSZ`: years 1970 to 9999, days that exist, no leap second. Undefined for any other
 * text.
 */
export function parseDate(text: string): number | undefined {
  const fields = form.exec(text)?.slice(1).map(Number)
  if (fields === undefined) return undefined
  const [year, month, day, hour, minute, second] = fields as [number, number, number, number, number, number]
  // Date.UTC reads years below 100 as 19xx.
  if (year < 1970) return undefined
  const seconds = Date.UTC(year, month - 1, day, hour, minute, second) / 1000
  // A field beyond its range carries into the next one and does not come back.
  return formatDate(seconds) === text ? seconds : undefined
}

/** The text of whole Unix seconds in the form that {@link parseDate} reads. */
export function formatDate(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
}

/** Unix seconds of the same day and time `years` later; 28 February where that year has no 29th. */
export function addYears(seconds: number, years: number): number {
  const date = new Date(seconds * 1000)
  const month = date.getUTCMonth()
  date.setUTCFullYear(date.getUTCFullYear() + years)
  if (date.getUTCMonth() !== month) date.setUTCDate(0)
  return Math.floor(date.getTime() / 1000)
}
