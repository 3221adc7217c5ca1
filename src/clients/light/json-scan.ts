import { LightError } from './light-error.js'

/** Bounds of untrusted JSON, counted while its bytes come in: text beyond the bound of a question is never parsed. */

/** Bounds of one answer. */
export interface Bound {
  readonly bytes: number
  /** Brackets, commas and colons outside of texts: each value costs far more memory than its bytes. */
  readonly tokens: number
}

/** @limit levels: nesting of an answer to a light resolver */
const maxDepth = 32

const [quote, comma, colon, openList, backslash, closeList, openObject, closeObject] = [
  ...[0x22, 0x2c, 0x3a, 0x5b],
  ...[0x5c, 0x5d, 0x7b, 0x7d],
]

/** Counts the bytes of one JSON text, in parts. */
export class JsonScan {
  readonly #bound: Bound
  #bytes = 0
  #tokens = 0
  #depth = 0
  #inText = false
  #isEscaped = false

  constructor(bound: Bound) {
    this.#bound = bound
  }

  /** Throws `form` once there are too many bytes, tokens or levels. */
  add(part: Uint8Array): void {
    this.#bytes += part.length
    if (this.#bytes > this.#bound.bytes) throw tooLarge(`more than ${this.#bound.bytes} bytes`)
    for (let i = 0; i < part.length; i++) this.#take(part[i] as number)
  }

  #take(byte: number): void {
    if (this.#inText) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === backslash) this.#isEscaped = true
      else if (byte === quote) this.#inText = false
    } else if (byte === quote) this.#inText = true
    else if (byte === comma || byte === colon) this.#count()
    else if (byte === openList || byte === openObject) {
      this.#count()
      if (++this.#depth > maxDepth) throw tooLarge(`more than ${maxDepth} levels`)
    } else if (byte === closeList || byte === closeObject) {
      this.#count()
      this.#depth--
    }
  }

  #count(): void {
    if (++this.#tokens > this.#bound.tokens) throw tooLarge(`more than ${this.#bound.tokens} values and names`)
  }
}

function tooLarge(what: string): LightError {
  return new LightError('form', `an answer of ${what}, which is too much for what was asked`)
}

/** Characters that are looked at in one step. */
const stride = 65_536
/** Characters for each token of a JSON text; those of proofs have more. */
const charactersPerToken = 8
const tokensAtLeast = 256

/** Parses a JSON text, such as a bundle, of bounded depth and number of values: `form` for other text. */
export function parse(text: string): unknown {
  scanText(text)
  return parseScanned(text)
}

/** Throws `form` for text that is deeper, or of more parts, than its length allows. */
export function scanText(text: string): void {
  const tokens = tokensAtLeast + Math.floor(text.length / charactersPerToken)
  const scan = new JsonScan({ bytes: Infinity, tokens })
  const encoder = new TextEncoder()
  for (let at = 0; at < text.length; at += stride) scan.add(encoder.encode(text.slice(at, at + stride)))
}

/** The value of text that was scanned. */
export function parseScanned(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new LightError('form', 'an answer that is no JSON')
  }
}
