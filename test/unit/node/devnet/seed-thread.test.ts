import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { SignatureCache } from '../../../../src/base/crypto/signature-cache.js'
import { holds } from '../../../../src/base/crypto/verify.js'
import { parseOperation } from '../../../../src/identity/did/operation.js'
import { applyOperation } from '../../../../src/identity/did/apply-operation.js'
import { SeedMaker } from '../../../../src/node/devnet/seed-maker.js'
import { SeedThread } from '../../../../src/node/devnet/seed-thread.js'
import { compileModules } from '../../../support/process/compiled.js'
import { didRules, specification, txid } from '../../../support/builders/did.js'

const compiled = compileModules(['node/devnet/seed-worker.ts'])
const worker = compiled.url('node/devnet/seed-worker.js')
afterAll(() => compiled.remove())

const now = 1_800_000_000
const creates = (numbers: readonly number[]) => ({ kind: 'creates', numbers, now, specification }) as const
const dids = (first: number, count: number) => ({ kind: 'dids', first, count }) as const
const expected = new SeedMaker().answer(dids(0, 9))

/** A worker that ends itself when the second request comes. */
function mortalWorker(): URL {
  const file = compiled.url('node/devnet/mortal.js')
  writeFileSync(
    fileURLToPath(file),
    `import { parentPort } from 'node:worker_threads'
     let requests = 0
     parentPort.on('message', () => {
       if (++requests === 2) process.exit(1)
     })
     await import('./seed-worker.js')`,
  )
  return file
}

describe('the thread of seeded DIDs', () => {
  it.each([
    ['in a thread', worker],
    ['without one', new URL('absent.js', worker)],
    ['in one that dies', mortalWorker()],
  ])('makes DIDs and creates whose signatures hold and are named, in their order: %s', async (_, file) => {
    const thread = new SeedThread(file)
    const parts = await Promise.all([thread.ask(dids(0, 4)), thread.ask(dids(4, 5))])
    expect(parts.flat()).toEqual(expected)
    // Of some whose DIDs were asked for, and of one whose DID was not.
    const numbers = [0, 2, 3, 8, 20]
    const made = await thread.ask(creates(numbers))
    expect(made.map(({ did }) => did).slice(0, 4)).toEqual(numbers.slice(0, 4).map((number) => expected[number]))
    for (const { operation, identities, did } of made) {
      const parsed = parseOperation(operation, didRules)
      expect(parsed.did).toBe(did)
      const none = () => undefined
      const context = { ...didRules, txid: txid(1), time: 0, issuer: none, credential: none, otherCredential: none }
      const { checks } = applyOperation(undefined, parsed, context)
      expect(checks.every(holds)).toBe(true)
      const cache = new SignatureCache()
      cache.addNamed(identities)
      expect(cache.unknown(checks)).toEqual([])
      expect(cache.size).toBe(checks.length)
    }
    await thread.close()
  })

  it.each([
    ['in a thread', worker],
    ['without one', new URL('absent.js', worker)],
  ])('rejects a request with a time that is no date, and answers the next request: %s', async (_, file) => {
    const thread = new SeedThread(file)
    const answers = await Promise.allSettled([thread.ask({ ...creates([1]), now: Infinity }), thread.ask(dids(0, 9))])
    expect(answers).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled', value: expected }])
    await thread.close()
  })

  it('rejects the requests that it has not answered when it is closed', async () => {
    const thread = new SeedThread(worker)
    const refused = expect(thread.ask(dids(0, 9))).rejects.toThrow('closed')
    await thread.close()
    await refused
  })
})
