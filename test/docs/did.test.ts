import { describe, expect, it } from 'vitest'
import { canonicalDocument, verifyDocument, verifyOperation } from '../../src/index.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { fencedBlocks, repositoryFile } from '../support/assert/markdown.js'

interface Operation {
  readonly header: { readonly operation: string; readonly specification: string }
  readonly payload: string
}

const method = 'ledger'
const page = repositoryFile('docs/did.md')
const examples = fencedBlocks(page).flatMap(({ language, text }) => (language === 'json' ? [text] : []))
const [document = '', create = '', update = '', deactivate = ''] = examples
const payloadOf = (operation: string) =>
  Buffer.from((JSON.parse(operation) as Operation).payload, 'base64url').toString()

describe('the examples of docs/did.md', () => {
  it('are a document and one operation of each kind', () => {
    const kinds = [create, update, deactivate].map((text) => (JSON.parse(text) as Operation).header.operation)
    expect(kinds).toEqual(['create', 'update', 'deactivate'])
    expect(JSON.parse(payloadOf(create))).toEqual(JSON.parse(document))
    expect(JSON.parse(document)).toMatchObject({ id: devnetAccount(0).did })
  })

  it('verify', () => {
    expect(verifyDocument(document, { method })).toEqual({ valid: true })
    expect(verifyDocument(payloadOf(update), { method })).toEqual({ valid: true })
    expect(verifyOperation(create, undefined, { method })).toEqual({ valid: true })
    expect(verifyOperation(update, document, { method })).toEqual({ valid: true })
    expect(verifyOperation(deactivate, payloadOf(update), { method })).toEqual({ valid: true })
  })

  it('sign the normalised form without white space', () => {
    const { proof: _, ...unsigned } = JSON.parse(document) as Record<string, unknown>
    expect(canonicalDocument(document, { method })).toBe(JSON.stringify(unsigned))
  })

  it('name the specifications of the shipped chains', () => {
    for (const name of ['devnet', 'pow']) {
      const spec = JSON.parse(repositoryFile(`genesis/${name}.json`)) as { specifications: { did: string[] } }
      for (const specification of spec.specifications.did) expect(page).toContain(`\`${specification}\``)
    }
  })
})
