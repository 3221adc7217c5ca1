/** Moments and durations as people read them. Pure. */

const units: readonly (readonly [name: string, seconds: number])[] = [
  ['y', 365 * 86_400],
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
]

/** A duration in its largest units, two of them by default: "2 d 3 h", "59 s". Negative ones are shown without sign. */
export function duration(seconds: number, most = 2): string {
  const whole = Math.floor(Math.abs(seconds))
  const first = Math.max(
    0,
    units.findIndex(([, size]) => whole >= size || size === 1),
  )
  let rest = whole
  const parts = units.slice(first, first + most).map(([name, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return [count, name] as const
  })
  return parts
    .filter(([count], index) => count > 0 || index === 0)
    .map((part) => part.join(' '))
    .join(' ')
}

/** How long ago a moment was, or how long it is ahead, in one unit; both in Unix seconds. */
export function age(time: number, now: number): string {
  const seconds = Math.floor(now - time)
  if (seconds < 0) return `in ${duration(seconds, 1)}`
  return seconds === 0 ? 'now' : `${duration(seconds, 1)} ago`
}

/** Time left until a moment: "expires in 3 d 4 h", "expired 2 h ago". */
export function countdown(time: number, now: number): string {
  const left = Math.floor(time - now)
  return left >= 0 ? `expires in ${duration(left)}` : `expired ${duration(left)} ago`
}

/** Unix seconds as `2027-01-15 08:00:01 UTC`; "?" for what is no date. */
export function moment(seconds: number): string {
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) return '?'
  return date
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC')
}

/** Unix seconds of a date of the form `YYYY-MM-DDTHH:MM:SSZ`; undefined for other text. */
export function secondsOf(date: unknown): number | undefined {
  if (typeof date !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(date)) return undefined
  const milliseconds = Date.parse(date)
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000
}
