import type { Bound } from './json-scan.js'

/** How much of an answer is read, by what was asked. */

/** @limit bytes: an answer to a light resolver that shows one document, or what was said of a credential */
const documentBytes = 4 * 1024 * 1024
/** @limit bytes: an answer to a light resolver with a whole history */
const historyBytes = 8 * 1024 * 1024
/** @limit bytes: changes of validators, or headers, in one answer to a light resolver */
const chainBytes = 2 * 1024 * 1024
/** @limit count: brackets, commas and colons of an answer about one version of a DID; of a credential twice as many */
const documentTokens = 256
/** @limit count: the same of an answer with every version */
const historyTokens = 524_288
/** @limit count: the same of changes of validators, and of headers */
const chainTokens = 16_384

export const answerBounds = {
  /** The latest state. */
  latest: { bytes: documentBytes, tokens: documentTokens },
  /** One version, or the latest state, with many entries of a history. */
  version: { bytes: historyBytes, tokens: documentTokens },
  /** Every version. */
  all: { bytes: historyBytes, tokens: historyTokens },
  credential: { bytes: documentBytes, tokens: 2 * documentTokens },
  /** Changes of validators, one of them, and headers. */
  chain: { bytes: chainBytes, tokens: chainTokens },
} as const satisfies Readonly<Record<string, Bound>>
