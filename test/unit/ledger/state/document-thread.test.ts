import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { InvariantError } from '../../../../src/base/errors/rule-error.js'
import { didMethod } from '../../../../src/base/primitives/did-method.js'
import { fromUtf8 } from '../../../../src/base/primitives/bytes.js'
import type { DidOperation } from '../../../../src/base/primitives/did-operation.js'
import { finish } from '../../../../src/base/primitives/steps.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import { documentText } from '../../../../src/identity/did/canonical.js'
import { documentOfPayload } from '../../../../src/identity/did/known-document.js'
import { tokenSteps } from '../../../../src/identity/did-index/document-tokens.js'
import { DocumentThread } from '../../../../src/ledger/state/document-thread.js'
import { documentTokens, joinedDocument, noTokens } from '../../../../src/ledger/state/joined-document.js'
import { compileModules } from '../../../support/process/compiled.js'
import { authorizationKey, type Holder, holder } from '../../../support/builders/did.js'

const compiled = compileModules(['ledger/state/document-worker.ts'])
const worker = compiled.url('ledger/state/document-worker.js')
afterAll(() => compiled.remove())

const empty = {
  version: 0,
  payloadVersion: 0,
  attributes: [],
  inputs: [],
  outputs: [],
  lockTime: 0,
  programs: [],
} as const
const bytesOf = (operation: DidOperation) => new Transaction({ ...empty, payload: { type: 10, operation } }).bytes
const services = [{ id: '#about', type: 'About', serviceEndpoint: 'https://example.org/é' }]
const holders = Array.from({ length: 5 }, holder)
// Those with credentials have their tokens from the text, others from what was read.
const operations = holders.map((one, i) => {
  const other = holders[(i + 1) % holders.length] as Holder
  const keys = [...one.plan.keys, authorizationKey('other', other.primary, other.did)]
  return one.create({ services, ...(i % 2 === 0 ? { keys } : { credentials: [one.issue(one.did)] }) })
})
const transactions = operations.map(bytesOf)
const expected = operations.map(({ payload }) => {
  const text = fromUtf8(documentText(documentOfPayload(payload, didMethod)))
  return { text: Buffer.from(text).toString(), tokens: finish(tokenSteps(text)) }
})

async function made(thread: DocumentThread, of: readonly Uint8Array[]) {
  const documents = await thread.documentsOf(of)
  return documents.map(({ text, tokens }) => ({
    text: Buffer.from(text).toString(),
    tokens: documentTokens.decode(tokens),
  }))
}

/** A worker that ends itself when the second batch comes. */
function mortalWorker(): URL {
  const file = compiled.url('ledger/state/mortal.js')
  writeFileSync(
    fileURLToPath(file),
    `import { parentPort } from 'node:worker_threads'
     let batches = 0
     parentPort.on('message', () => {
       if (++batches === 2) process.exit(1)
     })
     await import('./document-worker.js')`,
  )
  return file
}

describe('the thread of documents', () => {
  it.each([
    ['in a thread', worker],
    ['without one', new URL('absent.js', worker)],
    ['in one that dies', mortalWorker()],
  ])('makes texts and tokens of transactions, in their order: %s', async (_, file) => {
    const thread = new DocumentThread(file)
    const parts = [transactions.slice(0, 2), transactions.slice(2), [], transactions]
    const all = await Promise.all(parts.map((part) => made(thread, part)))
    expect(all).toEqual([expected.slice(0, 2), expected.slice(2), [], expected])
    // Also once it has died.
    expect(await made(thread, transactions)).toEqual(expected)
    await thread.close()
  })

  it.each([
    ['in a thread', worker],
    ['without one', new URL('absent.js', worker)],
  ])('rejects a batch with a transaction that has no document, and makes the next one: %s', async (_, file) => {
    const thread = new DocumentThread(file)
    const wrong = bytesOf((holders[0] as Holder).deactivate())
    const batches = [[...transactions.slice(0, 2), wrong, ...transactions], transactions]
    const [one, next] = await Promise.allSettled(batches.map((batch) => thread.documentsOf(batch)))
    expect(one).toMatchObject({ status: 'rejected', reason: expect.any(InvariantError) as Error })
    expect(next).toMatchObject({ status: 'fulfilled', value: transactions.map(joinedDocument) })
    await thread.close()
  })

  it('rejects what it has not made when it is closed', async () => {
    const thread = new DocumentThread(worker)
    const pending = thread.documentsOf(transactions)
    const refused = expect(pending).rejects.toThrow('closed')
    await thread.close()
    await refused
  })
})

describe('encoded tokens', () => {
  it('are those of the document, and none where there is none', () => {
    expect(documentTokens.decode(noTokens)).toEqual(new Map())
    const tokens = new Map([
      ['\0é~', [0, 255]],
      ['\u00ff', []],
    ])
    expect(documentTokens.decode(documentTokens.encode(tokens))).toEqual(tokens)
    const [first] = transactions as [Uint8Array]
    expect(documentTokens.decode(joinedDocument(first).tokens).size).toBeGreaterThan(3)
  })
})
