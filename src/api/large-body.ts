import { RuleError } from '../errors/rule-error.js'
import { asBuffer } from '../primitives/bytes.js'
import type { ApiLimits } from './api-limits.js'

/** Characters before every JSON value but the first: a comma, or what opens an array or an object. */
const marks = [',', '[', '{'].map((mark) => mark.charCodeAt(0))

/**
 * Throws `request-too-large` for a large body of many values, unlike one with a transaction, which has few long texts: parsing a
 * million values would block the event loop for long.
 */
export function refuseManyValues(
  body: Uint8Array,
  { plainBody, bodyValues }: Pick<ApiLimits, 'plainBody' | 'bodyValues'>,
): void {
  if (body.length <= plainBody) return
  const buffer = asBuffer(body)
  let found = 0
  for (const mark of marks) {
    for (let at = buffer.indexOf(mark); at >= 0; at = buffer.indexOf(mark, at + 1)) {
      if (++found > bodyValues) {
        throw new RuleError(
          'request-too-large',
          `${body.length} bytes with more than ${bodyValues} values; above ${plainBody} bytes there may be fewer`,
        )
      }
    }
  }
}
