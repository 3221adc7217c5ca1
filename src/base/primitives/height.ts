/**
 * A header has 4 bytes for it.
 * @limit number: height in a path, or that a request names
 */
export const maxHeight = 0xffffffff

/** Whether a value of JSON is a height. */
export function isHeight(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxHeight
}
