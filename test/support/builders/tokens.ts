import { type DocumentTokens, tokenSteps } from '../../../src/identity/did-index/document-tokens.js'
import { fromUtf8 } from '../../../src/base/primitives/bytes.js'
import { finish } from '../../../src/base/primitives/steps.js'

/** The tokens of a document's text. */
export function tokensOf(text: string): DocumentTokens {
  return finish(tokenSteps(fromUtf8(text)))
}
