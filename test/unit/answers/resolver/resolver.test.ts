import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { encodeBase64url } from '../../../../src/identity/did/base64url.js'
import { buildDeactivate, type DocumentPlan } from '../../../../src/identity/did/build.js'
import { formatDate } from '../../../../src/identity/did/date.js'
import type { ResolveResult } from '../../../../src/identity/did/resolution.js'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import type { DidOperation } from '../../../../src/base/primitives/did-operation.js'
import { Resolver, type ResolverOptions } from '../../../../src/answers/resolver/resolver.js'
import { ResolverAnswer, resultJson } from '../../../../src/answers/resolver/resolver-answer.js'
import { heldBytes } from '../../../support/assert/heap-probe.js'
import { TestChain } from '../../../support/builders/chain.js'
import { authorizationKey, type Holder, holder, signer, specification } from '../../../support/builders/did.js'
import type { Standing } from '../../../../src/answers/resolver/standing.js'
import { behind, inStep } from '../../../support/fakes/standing.js'

const open: TestChain[] = []
afterEach(async () => {
  for (const node of open.splice(0)) await node.close()
})

async function start(): Promise<TestChain> {
  const node = await TestChain.open()
  open.push(node)
  return node
}

function resolverOf(node: TestChain, changes: Partial<ResolverOptions> = {}): Resolver {
  return new Resolver({
    database: node.database,
    prover: node.prover,
    clock: node.clock,
    tip: () => node.chain.tip.header,
    standing: () => inStep(node.reader.height),
    ...changes,
  })
}

const operationsOf = ({ transaction }: ResolveResult) => transaction?.map(({ operation }) => operation.header.operation)

async function codeOf(asked: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error === undefined) return undefined
  if (error instanceof RuleError) return error.code
  throw error
}

/** A DID with a create, an update and a deactivate, and the txids of the three. */
async function story(node: TestChain, person: Holder = holder(), changes: Partial<DocumentPlan> = {}) {
  const create = await node.publish(person.create(changes), person.did)
  const update = await node.publish(person.update(create, changes), person.did)
  return { person, create, update }
}

describe('a DID that exists', () => {
  test('is answered with its last operation, or with all of them, newest first', async () => {
    const node = await start()
    const { person, create, update } = await story(node)
    const resolver = resolverOf(node)
    const last = await resolver.resolve(person.did, { all: false })
    const tip = node.chain.tip.header
    const { payload } = person.update(create)
    expect(last).toEqual({
      did: person.did,
      status: 0,
      transaction: [
        {
          txid: update,
          timestamp: formatDate(tip.time),
          operation: {
            header: { specification, operation: 'update', previousTxid: create },
            payload: expect.any(String),
            proof: { type: 'ECDSAsecp256r1', verificationMethod: '#primary', signature: expect.any(String) },
          },
        },
      ],
    })
    expect(payload.length).toBe(last.transaction?.[0]?.operation.payload.length)
    const all = await resolver.resolve(person.did, { all: true })
    expect(operationsOf(all)).toEqual(['update', 'create'])
    expect(all.transaction?.map(({ txid }) => txid)).toEqual([update, create])
    expect(all.transaction?.[0]).toEqual(last.transaction?.[0])
    const [newest, oldest] = all.transaction?.map(({ timestamp }) => timestamp) ?? []
    expect((newest as string) > (oldest as string)).toBe(true)
    expect(newest).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(Object.keys(all.transaction?.[1]?.operation.header ?? {})).toEqual(['specification', 'operation'])
    expect(all.status).toBe(0)
  })

  test('may be named by its identifier alone; the answer names it in full', async () => {
    const node = await start()
    const { person } = await story(node)
    const resolver = resolverOf(node)
    const bare = person.did.slice('did:ledger:'.length)
    expect(await resolver.resolve(bare, { all: false })).toEqual(await resolver.resolve(person.did, { all: false }))
    expect((await resolver.resolve(bare, { all: false })).did).toBe(person.did)
  })

  test('keeps its payload exactly as it was published', async () => {
    const node = await start()
    const person = holder()
    const operation = person.create()
    await node.publish(operation, person.did)
    const answer = await resolverOf(node).resolve(person.did, { all: false })
    expect(answer.transaction?.[0]?.operation.payload).toBe(operation.payload)
    expect(answer.transaction?.[0]?.operation.proof.signature).toBe(operation.signature)
  })

  test('has the proof type written out where the operation left it out', async () => {
    const node = await start()
    const person = holder()
    const typed = { ...person.create(), proofType: 'ECDSAsecp256r1' }
    const bare = { ...person.create(), proofType: '' }
    for (const operation of [bare, typed]) {
      const other = await start()
      await other.publish(operation, person.did)
      const answer = await resolverOf(other).resolve(person.did, { all: false })
      expect(answer.transaction?.[0]?.operation.proof.type).toBe('ECDSAsecp256r1')
    }
    expect(node.reader.height).toBe(0)
  })

  test('shows its own keys by fragment and those of others in full', async () => {
    const node = await start()
    const person = holder()
    const operation: DidOperation = { ...person.create(), verificationMethod: `${person.did}#primary` }
    await node.publish(operation, person.did)
    const own = await resolverOf(node).resolve(person.did, { all: false })
    expect(own.transaction?.[0]?.operation.proof.verificationMethod).toBe('#primary')
  })
})

describe('status', () => {
  test('a document is valid until the second it expires', async () => {
    const node = await start()
    const expiry = node.spec.time + 1000
    const { person } = await story(node, holder(), { expires: formatDate(expiry) })
    const resolver = resolverOf(node)
    node.clock.time = expiry * 1000 - 1
    expect((await resolver.resolve(person.did, { all: false })).status).toBe(0)
    expect((await resolver.resolve(person.did, { all: true })).status).toBe(0)
    node.clock.time = expiry * 1000
    const expired = await resolver.resolve(person.did, { all: false })
    expect(expired.status).toBe(1)
    expect(operationsOf(expired)).toEqual(['update'])
    expect((await resolver.resolve(person.did, { all: true })).status).toBe(1)
  })

  test('now is never earlier than the time of the tip', async () => {
    const node = await start()
    const expiry = node.spec.time + 1000
    const { person } = await story(node, holder(), { expires: formatDate(expiry) })
    const resolver = resolverOf(node)
    await node.mine(1, { time: expiry })
    expect(node.clock.time).toBeLessThan(expiry * 1000)
    expect((await resolver.resolve(person.did, { all: false })).status).toBe(1)
  })

  test('an update renews an expired document', async () => {
    const node = await start()
    const person = holder()
    const create = await node.publish(person.create({ expires: formatDate(node.spec.time) }), person.did)
    const resolver = resolverOf(node)
    expect((await resolver.resolve(person.did, { all: false })).status).toBe(1)
    await node.publish(person.update(create), person.did)
    expect((await resolver.resolve(person.did, { all: false })).status).toBe(0)
  })

  test('deactivated comes before expired, and names the deactivate alone or all operations', async () => {
    const node = await start()
    const { person } = await story(node, holder(), { expires: formatDate(node.spec.time) })
    const resolver = resolverOf(node)
    expect((await resolver.resolve(person.did, { all: false })).status).toBe(1)
    const txid = await node.publish(person.deactivate(), person.did)
    const last = await resolver.resolve(person.did, { all: false })
    expect(last).toEqual({
      did: person.did,
      status: 2,
      transaction: [
        {
          txid,
          timestamp: formatDate(node.chain.tip.header.time),
          operation: {
            header: { specification, operation: 'deactivate' },
            payload: person.did,
            proof: { verificationMethod: '#recovery', signature: expect.any(String) },
          },
        },
      ],
    })
    expect(Object.keys(last.transaction?.[0]?.operation.proof ?? {})).toEqual(['verificationMethod', 'signature'])
    const all = await resolver.resolve(person.did, { all: true })
    expect(all.status).toBe(2)
    expect(operationsOf(all)).toEqual(['deactivate', 'update', 'create'])
  })

  test('a deactivate never shows a proof type, and a key of this DID by its fragment though another DID holds it', async () => {
    const node = await start()
    const person = holder()
    const delegate = holder()
    const keys = [...person.plan.keys, authorizationKey('delegate', delegate.primary, delegate.did)]
    await node.publish(person.create({ keys }), person.did)
    const by = { specification, verificationMethod: `${person.did}#delegate` }
    const operation = { ...buildDeactivate(person.did, by, signer(delegate.primary)), proofType: 'ECDSAsecp256r1' }
    await node.publish(operation, person.did)
    const answer = await resolverOf(node).resolve(person.did, { all: false })
    expect(answer.transaction?.[0]?.operation.proof).toEqual({
      verificationMethod: '#delegate',
      signature: operation.signature,
    })
  })

  test('unknown and impossible identifiers do not exist, under their full names', async () => {
    const node = await start()
    const stranger = holder()
    const resolver = resolverOf(node)
    const wrongChecksum = `${stranger.did.slice(0, -1)}${stranger.did.endsWith('1') ? '2' : '1'}`
    for (const all of [true, false]) {
      for (const did of [stranger.did, wrongChecksum]) {
        expect(await resolver.resolve(did, { all })).toEqual({ did, status: 3 })
      }
      // A name that is free.
      expect(await resolver.resolve('x', { all, context: true })).toEqual({ did: 'did:ledger:x', status: 3 })
      expect(await resolver.resolve('X', { all })).toEqual({ did: 'did:ledger:X', status: 3 })
      const hint = 'no key has this identifier: its length is 1, not 34; names have no capitals, as in x'
      expect(await resolver.resolve('X', { all, context: true })).toEqual({ did: 'did:ledger:X', status: 3, hint })
      expect(await resolver.resolve('i._-', { all })).toEqual({ did: 'did:ledger:i._-', status: 3 })
      // An address of another kind is no DID, though its checksum is right.
      const address = 'EZJDUetpG4X32vM4xwGbLStRn9us2zWGp6'
      expect(await resolver.resolve(address, { all })).toEqual({ did: `did:ledger:${address}`, status: 3 })
    }
  })
})

describe('the JSON text of an answer', () => {
  test('is kept with the last operation until the tip, or the status, becomes another', async () => {
    const node = await start()
    const expiry = node.spec.time + 100_000
    const { person } = await story(node, holder(), { expires: formatDate(expiry) })
    const resolver = resolverOf(node)
    const ask = () => resolver.resolve(person.did, { all: false })
    const parsed = async () => JSON.parse(resultJson(await ask())) as ResolveResult
    const first = await ask()
    expect(first).toBeInstanceOf(ResolverAnswer)
    expect(await ask()).toBe(first)
    expect(Object.keys(await parsed())).toEqual(['did', 'status', 'transaction'])
    expect(await parsed()).toEqual({ did: person.did, status: 0, transaction: first.transaction })

    const before = node.clock.time
    node.clock.time = expiry * 1000
    expect(await parsed()).toEqual({ did: person.did, status: 1, transaction: first.transaction })
    node.clock.time = before
    expect((await parsed()).status).toBe(0)

    await node.publish(person.deactivate(), person.did)
    expect(await parsed()).toMatchObject({ status: 2, transaction: [{ operation: { payload: person.did } }] })
  })

  test('is that of any result', () => {
    expect(resultJson({ did: 'did:ledger:x', status: 3 })).toBe('{"did":"did:ledger:x","status":3}')
  })
})

test.each([
  '',
  'did:ledger:',
  'did:web:example.com',
  'did:LEDGER:i',
  'i#primary',
  'did:ledger:i?',
  ' i',
  'i\n',
  'ü',
  'i'.repeat(257),
])('text that is no DID is refused: %j', async (did) => {
  const node = await start()
  expect(await codeOf(resolverOf(node).resolve(did, { all: false }))).toBe('request-parameter')
})

test('versions that do not exist leave no more in memory than the cache may hold', async () => {
  const node = await start()
  const { person } = await story(node)
  const cacheBytes = 512 * 1024
  const resolver = resolverOf(node, { cacheBytes })
  const absent = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const answer = await resolver.resolve(person.did, { versionId: randomBytes(32).toString('hex') })
      resultJson(answer)
      resultJson(await resolver.resolve(person.did, { all: true, skip: i, limit: 0 }))
    }
  }
  await absent(100)
  const before = heldBytes()
  await absent(10_000)
  expect(heldBytes() - before).toBeLessThan(3 * cacheBytes)
})

test('256 characters are not too many', async () => {
  const node = await start()
  const did = 'i'.repeat(256)
  expect(await resolverOf(node).resolve(did, { all: false })).toEqual({ did: `did:ledger:${did}`, status: 3 })
})

describe('a node that is catching up', () => {
  test('answers nothing, not even that a DID does not exist, and says how far it is', async () => {
    const node = await start()
    const { person } = await story(node)
    let standing: Standing = behind(2, 900)
    const resolver = resolverOf(node, { standing: () => standing })
    for (const did of [person.did, holder().did, 'x']) {
      const asked = resolver.resolve(did, { all: false })
      await expect(asked).rejects.toThrow(/height 2, .* 900/)
      expect(await codeOf(asked)).toBe('resolver-behind')
    }
    standing = inStep(2)
    expect((await resolver.resolve(person.did, { all: false })).status).toBe(0)
  })

  test('still says what is wrong with a question', async () => {
    const node = await start()
    const resolver = resolverOf(node, { standing: () => behind(0, 9) })
    expect(await codeOf(resolver.resolve('did:web:x', { all: false }))).toBe('request-parameter')
  })
})

describe('while the chain changes', () => {
  test('every answer is of one state: its last operation is the newest of its history', async () => {
    const node = await start()
    const person = holder()
    let previous = await node.publish(person.create(), person.did)
    const resolver = resolverOf(node)
    let done = false
    const published = [previous]
    const writing = (async () => {
      for (let i = 0; i < 25; i++) {
        const { txid, bytes } = await node.carry(person.update(previous), person.did)
        // Before it is mined: a block is visible before the pool follows it.
        published.push((previous = txid))
        await node.mempool.accept(bytes, { local: true })
        await node.mine()
      }
      done = true
    })()
    let seen = 0
    while (!done) {
      const last = await resolver.resolve(person.did, { all: false })
      const all = await resolver.resolve(person.did, { all: true })
      const txids = all.transaction?.map(({ txid }) => txid) ?? []
      // Never a gap, never a step back.
      expect(txids).toEqual(published.slice(0, txids.length).reverse())
      expect(txids.length).toBeGreaterThanOrEqual(seen)
      expect(published).toContain(last.transaction?.[0]?.txid)
      seen = txids.length
      await nextTurn()
    }
    await writing
    expect((await resolver.resolve(person.did, { all: true })).transaction?.length).toBe(26)
    expect((await resolver.resolve(person.did, { all: false })).transaction?.[0]?.txid).toBe(previous)
  })

  test('a reorganisation takes operations back, and the answers with them', async () => {
    const node = await start()
    const rival = await start()
    const person = holder()
    await node.publish(person.create(), person.did)
    const resolver = resolverOf(node)
    expect((await resolver.resolve(person.did, { all: false })).status).toBe(0)
    for (const block of await rival.mine(3)) await node.chain.acceptBlock(block.bytes)
    expect(node.chain.tip.header.id).toBe(rival.chain.tip.header.id)
    expect(await resolver.resolve(person.did, { all: false })).toEqual({ did: person.did, status: 3 })
    expect(await resolver.resolve(person.did, { all: true })).toEqual({ did: person.did, status: 3 })
  })
})

describe('a history', () => {
  const txidsOf = ({ transaction }: ResolveResult) => transaction?.map(({ txid }) => txid)
  /** Runs `act` before the next read of several transactions. */
  const beforeReading = (node: TestChain, act: () => Promise<void>) => {
    const real = node.database.getMany.bind(node.database)
    node.database.getMany = async (wanted) => {
      node.database.getMany = real
      await act()
      return real(wanted)
    }
  }

  test('is that of the block at which the reading began, whatever comes above', async () => {
    const node = await start()
    const { person, create, update } = await story(node)
    const resolver = resolverOf(node)
    let later = ''
    beforeReading(node, async () => void (later = await node.publish(person.update(update), person.did)))
    expect(txidsOf(await resolver.resolve(person.did, { all: true }))).toEqual([update, create])
    expect(txidsOf(await resolver.resolve(person.did, { all: true }))).toEqual([later, update, create])
  })

  test('is read again when a reorganisation takes that block back', async () => {
    const node = await start()
    const rival = await start()
    const person = holder()
    await node.publish(person.update(await node.publish(person.create(), person.did)), person.did)
    const blocks = await rival.mine(4)
    const resolver = resolverOf(node)
    beforeReading(node, async () => {
      for (const block of blocks) await node.chain.acceptBlock(block.bytes)
    })
    expect(await resolver.resolve(person.did, { all: true })).toEqual({ did: person.did, status: 3 })
  })

  test('is not read for a client that is gone', async () => {
    const node = await start()
    const { person } = await story(node)
    const signal = AbortSignal.abort(new Error('gone'))
    await expect(resolverOf(node).resolve(person.did, { all: true }, { signal })).rejects.toThrow('gone')
  })

  test('is kept until the tip changes, in whole and in parts, with and without context', async () => {
    const node = await start()
    const { person, update } = await story(node)
    const resolver = resolverOf(node)
    const requests = [{}, { skip: 1 }, { limit: 1 }, { context: true }, { skip: 1, context: true }]
    const ask = () => Promise.all(requests.map((request) => resolver.resolve(person.did, { all: true, ...request })))
    const first = await ask()
    expect(new Set(first.map(resultJson)).size).toBe(requests.length)
    for (const [i, answer] of (await ask()).entries()) expect(answer).toBe(first[i])
    await node.publish(person.update(update), person.did)
    for (const [i, answer] of (await ask()).entries()) expect(answer).not.toEqual(first[i])
  })
})

test('histories longer than one read at a time come whole and in order', async () => {
  const node = await start()
  const person = holder()
  const txids = [await node.publish(person.create(), person.did)]
  while (txids.length < 130) {
    // Eight operations of a DID may wait for one block.
    for (let i = 0; i < 8; i++) {
      const { bytes, txid } = await node.carry(person.update(txids.at(-1) as string), person.did)
      await node.mempool.accept(bytes, { local: true })
      txids.push(txid)
    }
    await node.mine()
  }
  const all = await resolverOf(node).resolve(person.did, { all: true })
  expect(all.transaction?.map(({ txid }) => txid)).toEqual([...txids].reverse())
})

test('a payload that is written with escapes expires when it says', async () => {
  const node = await start()
  const person = holder()
  const operation = person.create({ expires: '2030-01-01T00:00:00Z' })
  const text = Buffer.from(operation.payload, 'base64url').toString().replace('"2030-', '"\\u0032030-')
  const payload = encodeBase64url(Buffer.from(text))
  const signature = encodeBase64url(signer(person.primary)(`${specification}create${payload}`))
  await node.publish({ ...operation, payload, signature }, person.did)
  const resolver = resolverOf(node)
  node.clock.time = Date.UTC(2030, 0, 1) - 1
  expect((await resolver.resolve(person.did, { all: false })).status).toBe(0)
  node.clock.time = Date.UTC(2030, 0, 1)
  expect((await resolver.resolve(person.did, { all: false })).status).toBe(1)
})
