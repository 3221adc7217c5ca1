import { RuleError } from '../../../base/errors/rule-error.js'
import { asBuffer } from '../../../base/primitives/bytes.js'
import type { ApiLimits } from '../api-limits.js'

const [colon, quote, backslash] = [0x3a, 0x22, 0x5c]
/** Characters before every JSON value but the first: a comma, or what opens an array or an object. */
const marks = [',', '[', '{'].map((mark) => mark.charCodeAt(0))

type BodyLimits = Pick<ApiLimits, 'plainBody' | 'bodyValues' | 'bodyNames' | 'bodyName'>

/**
 * Throws `request-too-large` for a large body of many values, unlike one with a transaction, which has few long texts: parsing a
 * million values would block the event loop for long. Names are dearest: the engine keeps each different one, and compares long
 * ones of one length with each other. Marks in texts count as well: what they hold may be parsed later.
 */
export function refuseManyValues(body: Uint8Array, limits: BodyLimits): void {
  if (body.length <= limits.plainBody) return
  const buffer = asBuffer(body)
  let found = 0
  for (const mark of marks) {
    for (const _ of places(buffer, mark)) if (++found > limits.bodyValues) refuse(buffer, limits, 'values')
  }
  let [colons, names] = [0, 0]
  for (const at of places(buffer, colon)) {
    if (++colons > limits.bodyValues) refuse(buffer, limits, 'values')
    const end = lastOfName(buffer, at)
    if (end === undefined) continue
    if (++names > limits.bodyNames) refuse(buffer, limits, 'names')
    if (isLongName(buffer, end, limits.bodyName)) refuse(buffer, limits, 'length')
  }
}

function refuse({ length }: Buffer, limits: BodyLimits, what: 'values' | 'names' | 'length'): never {
  const { plainBody, bodyValues, bodyNames, bodyName } = limits
  const which = {
    values: `more than ${bodyValues} values; above ${plainBody} bytes there may be fewer`,
    names: `more than ${bodyNames} names of members; above ${plainBody} bytes there may be fewer values with names`,
    length: `a name of more than ${bodyName} bytes; above ${plainBody} bytes names have to be shorter`,
  }
  throw new RuleError('request-too-large', `${length} bytes with ${which[what]}`)
}

function* places(buffer: Buffer, mark: number): Generator<number> {
  for (let at = buffer.indexOf(mark); at >= 0; at = buffer.indexOf(mark, at + 1)) yield at
}

/** The closing quote of the name that ends before a colon; undefined for a colon in a text, where quotes are escaped. */
function lastOfName(buffer: Buffer, at: number): number | undefined {
  let end = at - 1
  while (isSpace(buffer[end])) end--
  return isQuote(buffer, end) ? end : undefined
}

function isLongName(buffer: Buffer, end: number, most: number): boolean {
  let start = end - 1
  while (start >= 0 && end - start <= most + 1 && !isQuote(buffer, start)) start--
  return end - start > most + 1
}

/** Whether a quote stands here that begins or ends a text: one in it follows an odd number of backslashes. */
function isQuote(buffer: Buffer, at: number): boolean {
  if (buffer[at] !== quote) return false
  let before = at
  while (buffer[before - 1] === backslash) before--
  return (at - before) % 2 === 0
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
