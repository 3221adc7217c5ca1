/** Form of a date: fields within their ranges, but for the day. */
export const dateForm = /^(19[7-9]|[2-9]\d\d)\d-(0[1-9]|1[0-2])-\d\dT([01]\d|2[0-3])(:[0-5]\d){2}Z$/

/**
 * Unix seconds of `YYYY-MM-DDTHH:MM:SSZ`: years 1970 to 9999, days that exist, no leap second. Undefined for any other
 * text.
 */
export function parseDate(text: string): number | undefined {
  const date = new Date(text)
  // A day that its month lacks is none, or one of another month.
  return dateForm.test(text) && date.getUTCDate() === +text.slice(8, 10) ? +date / 1000 : undefined
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
