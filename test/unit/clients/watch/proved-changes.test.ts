import { describe, expect, it } from 'vitest'
import type { DidOperation } from '../../../../src/base/primitives/did-operation.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { LightError, type LightFailure } from '../../../../src/clients/light/light-error.js'
import {
  isLasting,
  messageOf,
  type Meets,
  provedState,
  type ProvedState,
  type ProvingResolver,
  revertOf,
} from '../../../../src/clients/watch/proved-changes.js'
import type { DidMessage } from '../../../../src/clients/watch/watch-message.js'
import { failureOf, lightOver, lightWorld } from '../../../support/builders/light-world.js'
import { holder } from '../../../support/builders/did.js'

const world = lightWorld({ genesis: 'proved changes' })
const { alice, bob, book, versions } = world
const resolver = lightOver(book)
const always: Meets = () => true
const hasService =
  (name: string): Meets =>
  ({ service }) =>
    JSON.stringify(service ?? []).includes(`#${name}`)

/** The messages of all operations of a DID, oldest first. */
async function messagesOf(did: string, meets = always, by: ProvingResolver = resolver, reverts = 0) {
  const state = await provedState(by, did)
  const messages: (DidMessage | undefined)[] = []
  for (const at of state.entries.keys()) messages.push(await messageOf(by, state, at, { meets, reverts }))
  return messages
}

/** A resolver that fails where a question is of some kind. */
function failing(isAsked: (options: object) => boolean, failure: LightFailure): ProvingResolver {
  return {
    resolve: async (did, options = {}) => {
      if (isAsked(options)) throw new LightError(failure, 'for the test')
      return resolver.resolve(did, options)
    },
  }
}

it.each<[LightFailure[], boolean]>([
  [['proof-missing'], true],
  [['proof-missing', 'form'], true],
  [['proof-missing', 'unreachable'], false],
  [['timeout', 'stale'], false],
  [[], false],
])('servers that fail with %j fail for good: %j', (names, expected) => {
  const failures = names.map((failure) => ({ server: 'http://a', failure, message: 'for the test' }))
  expect(isLasting(new LightError('quorum', 'too few', { failures }))).toBe(expected)
})

describe('the message of an operation', () => {
  it('has its place, its key, and what it changed', async () => {
    const messages = await messagesOf(alice.did)
    expect(messages.map((one) => [one?.operation, one?.change, one?.txid])).toEqual([
      ['create', 'begins', versions[0]],
      ['update', 'changes', versions[1]],
      ['update', 'changes', versions[2]],
    ])
    for (const message of messages) {
      const { height = -1 } = message ?? {}
      expect(message).toMatchObject({
        ...{ format: 'didledger/watch/1', kind: 'did', action: 'apply', did: alice.did },
        signedBy: '#primary',
        time: book.pages[height]?.block.header.time,
        proved: { height: book.tip.height, hash: book.tip.id, time: book.tip.time, age: 0 },
      })
      if (message?.blockHash !== undefined) expect(message.blockHash).toBe(book.pages[height]?.block.header.id)
    }
    expect(messages[1]?.changed).toContainEqual({ member: 'service', change: 'added', id: `${alice.did}#one` })
    expect(messages[2]?.changed).toContainEqual({ member: 'service', change: 'removed', id: `${alice.did}#one` })
    expect(messages[2]?.changed).toContainEqual({ member: 'service', change: 'added', id: `${alice.did}#two` })
  })

  it('that ends a DID says what went with it', async () => {
    const last = (await messagesOf(bob.did)).at(-1)
    expect(last).toMatchObject({ operation: 'deactivate', change: 'ceases' })
    expect(last?.changed).toContainEqual({ member: 'publicKey', change: 'removed', id: `${bob.did}#primary` })
  })

  it('is told where the document before or after it meets the condition, and only there', async () => {
    const changes = async (name: string) =>
      (await messagesOf(alice.did, hasService(name))).map((message) => message?.change)
    expect(await changes('one')).toEqual([undefined, 'begins', 'ceases'])
    expect(await changes('two')).toEqual([undefined, undefined, 'begins'])
    expect(await changes('three')).toEqual([undefined, undefined, undefined])
  })

  it('has the same id in every repetition, and another one once an operation was told to be gone', async () => {
    const ids = async (reverts: number) =>
      (await messagesOf(alice.did, always, resolver, reverts)).map((message) => message?.id)
    const first = await ids(0)
    expect(await ids(0)).toEqual(first)
    expect(new Set([...first, ...(await ids(1))]).size).toBe(6)
  })

  it('of a long history is the same as that of a short one: its versions are asked for one by one', async () => {
    const { book: longer } = lightWorld({ genesis: 'long history' })
    const person = holder()
    const make = (operation: DidOperation) => longer.make({ operations: [operation] }).transactions[1]?.txid ?? ''
    let last = make(person.create())
    for (let i = 1; i < 20; i++) last = make(person.update(last, { services: [] }))
    const long = lightOver(longer)
    const asked: object[] = []
    const noting: ProvingResolver = {
      resolve: (one, options = {}) => {
        asked.push(options)
        return long.resolve(one, options)
      },
    }
    const messages = await messagesOf(person.did, always, noting)
    expect(messages.map((message) => message?.change)).toEqual(['begins', ...Array(19).fill('changes')])
    expect(asked.some((options) => 'all' in options)).toBe(false)
  })
})

describe('a message of what nodes keep no more', () => {
  const isVersion = (options: object) =>
    'all' in options || ('versionId' in options && options.versionId === versions[0])

  it('says that the document changed, and not how, where no node has the one before', async () => {
    const state = await provedState(resolver, alice.did)
    const message = await messageOf(failing(isVersion, 'proof-missing'), state, 1, { meets: always, reverts: 0 })
    expect(message).toMatchObject({ change: 'changes', txid: versions[1] })
    expect(message).not.toHaveProperty('changed')
  })

  it('is not guessed of a condition: without the document before it is not known whether one begins to meet it', async () => {
    const state = await provedState(resolver, alice.did)
    for (const name of ['one', 'two']) {
      const options = { meets: hasService(name), reverts: 0, needsBefore: true }
      const made = messageOf(failing(isVersion, 'proof-missing'), state, 1, options)
      expect(await failureOf(made)).toBe('proof-missing')
    }
  })

  it.each<LightFailure>(['unreachable', 'timeout', 'stale', 'future', 'rollback', 'quorum', 'fork'])(
    'is made later where nothing is proved now: %s',
    async (failure) => {
      const state = await provedState(resolver, alice.did)
      const made = messageOf(failing(isVersion, failure), state, 1, { meets: always, reverts: 0 })
      expect(await failureOf(made)).toBe(failure)
    },
  )

  it('has no hash of a block of which no node proves a state', async () => {
    const [, message] = await messagesOf(
      alice.did,
      always,
      failing((options) => 'height' in options, 'proof-missing'),
    )
    expect(message).toMatchObject({ txid: versions[1] })
    expect(message).not.toHaveProperty('blockHash')
  })

  it('is not made of an answer without the operation', async () => {
    const other: ProvingResolver = {
      resolve: async (did, options) => ({ ...(await resolver.resolve(did, options)), transaction: [] }),
    }
    const state = await provedState(resolver, alice.did)
    const made = messageOf(other, state, 0, { meets: always, reverts: 0 })
    await expect(made).rejects.toBeInstanceOf(UserError)
    await expect(made).rejects.toThrow(`the answer lacks the operation ${versions[0]} of ${alice.did}`)
  })
})

describe('the message that an operation left the chain', () => {
  it('repeats what was told of it, with an id of its own, and the proof without it', async () => {
    const [told] = (await messagesOf(alice.did)) as [DidMessage]
    const result = await resolver.resolve(alice.did, { history: true })
    const proved = { ...result.proved, height: 99, hash: 'ab'.repeat(32), time: 7, age: 3 }
    const state: ProvedState = { did: alice.did, result: { ...result, proved }, entries: [] }
    const { id, ...gone } = revertOf(told, state, 0)
    expect(gone).toEqual({
      ...{ ...told, id: undefined, action: 'revert' },
      proved: { height: 99, hash: 'ab'.repeat(32), time: 7, age: 3 },
    })
    expect(id).not.toBe(told.id)
    expect(revertOf(told, state, 0).id).toBe(id)
    expect(revertOf(told, state, 1).id).not.toBe(id)
  })
})
