import { afterAll, describe, expect, it } from 'vitest'
import { defaultDidLimits } from '../../src/identity/did/did-rules.js'
import { parseDocumentBytes } from '../../src/identity/did/document.js'
import { entryLimit } from '../../src/identity/did/entry-limit.js'
import { refuseLater } from '../../src/identity/did/first-form.js'
import { fromUtf8 } from '../../src/base/primitives/bytes.js'
import { codeOf } from '../support/assert/code-of.js'
import { copied, openVectors } from '../support/builders/vectors.js'

interface Vectors {
  readonly documents: readonly {
    readonly about: string
    readonly document: object
    /** Code of the refusal on a chain without `didCore`; empty: taken. */
    readonly before: string
    readonly code: string
    readonly signingText?: string
  }[]
}

const file = openVectors<Vectors>('document-members.json', { descriptive: ['about'] })
const { documents } = file.data
afterAll(() => file.finish())

const limitEntries = entryLimit(defaultDidLimits.entries)
const rules = { method: 'ledger', chain: true, limitEntries } as const

describe('a document with', () => {
  it.each(documents)('$about: $code', ({ document, before, code, signingText }) => {
    const bytes = fromUtf8(JSON.stringify(copied(document)))
    expect(codeOf(() => parseDocumentBytes(bytes, rules)) ?? '').toBe(code)
    expect(codeOf(() => parseDocumentBytes(bytes, { ...rules, refuseLater })) ?? '').toBe(before)
    if (signingText !== undefined) expect(parseDocumentBytes(bytes, rules).signingText).toBe(signingText)
  })
})
