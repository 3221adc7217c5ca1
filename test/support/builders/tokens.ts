import { type DocumentTokens, tokenSteps } from '../../../src/did-index/document-tokens.js'
import { fromUtf8 } from '../../../src/primitives/bytes.js'
import { finish } from '../../../src/primitives/steps.js'

/** The tokens of a document's text. */
export function tokensOf(text: string): DocumentTokens {
  return finish(tokenSteps(fromUtf8(text)))
}
