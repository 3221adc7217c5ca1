import { mapKey, putUint32 } from '../../base/primitives/bytes.js'
import { didMethod } from '../../base/primitives/did-method.js'
import * as form from '../../base/primitives/forms.js'
import { Reader, Writer } from '../../base/primitives/codec.js'
import { finish, type Steps } from '../../base/primitives/steps.js'
import { payloadOf } from '../../base/primitives/transaction-parts.js'
import { documentText } from '../../identity/did/canonical.js'
import { documentOfPayload } from '../../identity/did/known-document.js'
import type { DidDocument } from '../../identity/did/model.js'
import { type DocumentTokens, documentTokenSteps, tokenSteps } from '../../identity/did-index/document-tokens.js'
import { operationOf } from '../storage/rows/did-reader.js'

/** The documents of a state's transactions, as one thread asks another one for them. */

/** A document as the rows of its DID need it. */
export interface JoinedDocument {
  /** Its canonical text, in UTF-8. */
  readonly text: Uint8Array
  /** Its {@link DocumentTokens}, encoded by {@link documentTokens}. */
  readonly tokens: Uint8Array
}

/** Bytes of the shortest token and of the fewest elements, with their lengths. */
const leastToken = 4

const tokenForm = form.list(
  0xffff,
  leastToken,
  form.record<{ readonly token: Uint8Array; readonly elements: Uint8Array }>({
    token: form.varbytes(0xff),
    elements: form.varbytes(0xff + 1),
  }),
)

export const documentTokens = {
  encode(tokens: DocumentTokens): Uint8Array {
    const all = [...tokens].map(([token, elements]) => ({
      token: Buffer.from(token, 'latin1'),
      elements: Uint8Array.from(elements),
    }))
    return tokenForm.write(new Writer(), all).finish()
  },

  decode(bytes: Uint8Array): DocumentTokens {
    return new Map(
      tokenForm.read(new Reader(bytes)).map(({ token, elements }) => [mapKey(token), [...elements]] as const),
    )
  },
}

/** Those of a DID without a document. */
export const noTokens = documentTokens.encode(new Map())

/** The document in a DID's transaction that a chain accepted; an InvariantError where it cannot have done so. */
export function joinedDocument(transaction: Uint8Array): JoinedDocument {
  const { payload } = operationOf(payloadOf(transaction))
  const document = documentOfPayload(payload, didMethod)
  const text = Buffer.from(documentText(document))
  return { text, tokens: documentTokens.encode(finish(stepsOf(document, text))) }
}

/** The tokens of a document by its text, or by what was read of it: claims alone are there in another form. */
function stepsOf({ id, keys, services, credentials, expires }: DidDocument, text: Uint8Array): Steps<DocumentTokens> {
  if (credentials.length > 0) return tokenSteps(text)
  return documentTokenSteps({ id, publicKey: keys, service: services, expires })
}

/** Length of a part in a message between the threads, u32. */
const lengthSize = 4

/** Bytes in memory of their own and of their size, which another thread takes without a copy. */
export function packed(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const size = parts.reduce((sum, { length }) => sum + lengthSize + length, 0)
  const bytes = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    putUint32(bytes, at, part.length)
    bytes.set(part, at + lengthSize)
    at += lengthSize + part.length
  }
  return bytes
}

export function unpacked(bytes: Uint8Array): readonly Uint8Array[] {
  const reader = new Reader(bytes)
  const parts: Uint8Array[] = []
  while (reader.remaining > 0) parts.push(reader.take(reader.u32()))
  return parts
}

/** The documents of packed transactions, packed: text and tokens of each. The first that is none, and those behind it, are left out. */
export function packedDocuments(transactions: Uint8Array): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = []
  try {
    for (const transaction of unpacked(transactions)) {
      const { text, tokens } = joinedDocument(transaction)
      parts.push(text, tokens)
    }
  } catch {
    // Errors lose their class between threads: who asked makes the document that is missing again, and meets the same one.
  }
  return packed(parts)
}
