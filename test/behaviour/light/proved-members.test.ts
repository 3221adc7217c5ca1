import { describe, expect, it } from 'vitest'
import { quickSigner } from '../../../src/base/crypto/quick-signer.js'
import { buildDeactivate, buildDidTransfer, buildUpdate } from '../../../src/identity/did/build.js'
import { LightError } from '../../../src/clients/light/light-error.js'
import { LightResolver } from '../../../src/clients/light/light-resolver.js'
import { provedMembers } from '../../../src/clients/light/proved-members.js'
import { authenticationKey, authorizationKey, holder, signer, specification } from '../../support/builders/did.js'
import { createNamed, named, namedDocument, ticketOf } from '../../support/builders/named-did.js'
import { lightWorld } from '../../support/builders/light-world.js'
import type { Json } from '../../support/fakes/light-server.js'
import { oneIn } from '../../support/process/thorough.js'

/** What stands beside "proved" is what was proved: each member of answers and bundles is changed, and nothing that is said of it changes. */

const by = new Map(provedMembers.map(({ member, by: kind }) => [member, kind]))

/** The plain values of a result, each with its path. */
function leavesIn(value: Json, path = ''): [string, unknown, readonly (string | number)[]][] {
  if (typeof value !== 'object' || value === null) return [[path, value, []]]
  if (Array.isArray(value)) return value.flatMap((one, i) => under(leavesIn(one, `${path}[]`), i))
  return Object.entries(value).flatMap(([name, one]) =>
    under(leavesIn(one, path === '' ? name : `${path}.${name}`), name),
  )
}

function under(leaves: ReturnType<typeof leavesIn>, key: string | number): ReturnType<typeof leavesIn> {
  return leaves.map(([path, value, keys]) => [path, value, [key, ...keys]])
}

/** What a result presents as proved, by the table alone. */
function presented(result: Json): string {
  const entries: Json[] = result.proved.history?.entries ?? []
  const isSigned = (txid: string) => entries.some((entry) => entry.txid === txid && entry.signedBy !== undefined)
  const said = leavesIn(result).filter(([path, , keys]) => {
    const kind = by.get(path)
    if (kind === undefined) throw new Error(`${path} is not in the table`)
    if (path === 'status') return result.proved.statusUnproved === undefined
    if (kind === 'signature') return isSigned(result.transaction[keys[1] as number].txid)
    return kind === 'proof'
  })
  return JSON.stringify(said.map(([path, value]) => [path, value]))
}

const delegate = quickSigner()
const newRecovery = quickSigner()
const [ended, delegated, twin, rotated] = [holder(), holder(), holder(), holder()]
/** A name that two of them have, and one gets; an own key signs the transfer. */
const ownKey = quickSigner()
const byOwn = { specification, verificationMethod: `${named('shop')}#own` }
const ofShop = { plan: { keys: [authenticationKey('own', ownKey)] } }

describe.each([
  ['validators', lightWorld({ genesis: 'members', changeAt: 9 })],
  ['miners', lightWorld({ genesis: 'members', miners: true })],
] as const)('on a chain of %s', (kind, { book, alice, bob, carol, kept, revoked, versions }) => {
  const isMined = kind === 'miners'
  const own = { specification, verificationMethod: '#recovery' }
  const made = book.make({
    operations: [
      rotated.create(),
      ended.create(),
      delegated.create({ keys: [...delegated.plan.keys, authorizationKey('delegate', delegate, alice.did)] }),
      twin.create({}, `${twin.did}#primary`),
      createNamed(namedDocument('shop', { by: [twin, rotated], needed: 2, ...ofShop }), twin),
    ],
  })
  const rest = rotated.plan.keys.filter(({ fragment }) => fragment !== 'recovery')
  const turned = rotated.document({ keys: [...rest, authenticationKey('recovery', newRecovery)] })
  const previousTxid = made.transactions[1]?.txid ?? ''
  book.make({
    operations: [
      // By the key that it replaces, under the same name.
      buildUpdate(turned, { ...own, previousTxid }, signer(rotated.recovery)),
      buildDeactivate(ended.did, own, signer(ended.recovery)),
      buildDeactivate(delegated.did, { specification, verificationMethod: '#delegate' }, signer(delegate)),
      buildDidTransfer(
        namedDocument('shop', { by: [rotated], ...ofShop }),
        {
          ...byOwn,
          ticket: ticketOf('shop', {
            to: rotated,
            txid: made.transactions.at(-1)?.txid ?? '',
            signers: [twin, rotated],
          }),
        },
        signer(ownKey),
      ),
    ],
  })
  for (let i = 0; i < 7; i++) book.make()
  const height = isMined ? book.tip.height - 6 : book.tip.height
  const ways = isMined ? { headers: book.headers(1, 1000) } : { changes: book.changes(0).changes }
  const bundle = (asked: Json, answer: Json) => ({ format: 'didledger/bundle/1', asked, answer, ...ways })
  const ofDid = (did: string, asked: Json = {}) => bundle({ did, ...asked }, book.answer(did, { ...asked, height }))
  const ofCredential = (id: string, asked: Json = {}) =>
    bundle({ id, ...asked }, book.credential(id, { ...asked, height }))
  const light = new LightResolver({
    servers: [],
    trust: book.trust(),
    now: () => book.tip.time * 1000,
    allowOldRoot: true,
  })
  const verify = (file: Json) => light.verifyBundle(file) as Promise<Json>
  const [first = '', second = ''] = versions

  const bundles: readonly (readonly [string, Json, readonly (string | undefined)[]])[] = [
    ['a create', ofDid(carol.did), ['#primary']],
    ['an update alone, whose earlier document is not shown', ofDid(alice.did), [undefined]],
    ['every version', ofDid(alice.did, { all: true }), ['#primary', '#primary', '#primary']],
    ['the first version', ofDid(alice.did, { versionId: first }), ['#primary', undefined, undefined]],
    ['a version between', ofDid(alice.did, { versionId: second }), [undefined, undefined]],
    ['by all entries', ofDid(alice.did, { proof: 'history' }), [undefined, undefined, undefined]],
    ['a deactivation alone', ofDid(bob.did), [undefined]],
    ['a deactivation by the owner', ofDid(ended.did, { all: true }), ['#primary', '#recovery']],
    ['a deactivation by a delegate', ofDid(delegated.did, { all: true }), ['#primary', '#delegate']],
    ['a key that replaces itself', ofDid(rotated.did, { all: true }), ['#primary', '#recovery']],
    ['a key that replaced itself', ofDid(rotated.did), [undefined]],
    ['a key by its name in full', ofDid(twin.did), ['#primary']],
    ['a transfer', ofDid(named('shop')), ['#own']],
    ['a transfer with what it follows', ofDid(named('shop'), { all: true }), [undefined, '#own']],
    ['no such DID', ofDid('did:ledger:nobody'), []],
    ['no such version', ofDid(alice.did, { versionId: '00'.repeat(32) }), [undefined, undefined, undefined]],
    ['a declared credential', ofCredential(kept), []],
    ['a revoked credential', ofCredential(revoked), []],
    ['no such credential', ofCredential(`${bob.did}#none`, { issuer: alice.did }), []],
  ]

  it.each(bundles)('says who signed where that was checked: %s', async (_, file, signers) => {
    const { proved } = await verify(file)
    expect((proved.history?.entries ?? []).map(({ signedBy }: Json) => signedBy)).toEqual(signers)
    const given = file.asked.did === undefined ? undefined : await verifyAnswer(file)
    if (given !== undefined) expect(given.proved.history).toEqual(proved.history)
  })

  /** The same answer where servers are asked for what followed. */
  async function verifyAnswer({ asked, answer }: Json): Promise<Json | undefined> {
    const { did, proof, ...version } = asked
    if (isMined || ways.changes === undefined) return undefined
    const asking = new LightResolver({
      servers: ['http://node'],
      trust: book.trust(),
      now: () => book.tip.time * 1000,
      fetch: (url) =>
        Promise.resolve(
          new Response(JSON.stringify(url.includes('/changes/') ? book.changes(Number(url.split('/').at(-1))) : {})),
        ),
    })
    return asking.verifyAnswer(did, answer, { ...version, ...(proof === 'history' && { history: true }) })
  }

  it('has every member of a result in the table', async () => {
    const found = new Set<string>()
    for (const [, file] of bundles) for (const [path] of leavesIn(await verify(file))) found.add(path)
    expect([...found].filter((path) => !by.has(path))).toEqual([])
    const others = ['proved.servers[]', 'proved.oldRoot', 'proved.witnesses[]']
    expect([...by.keys()].filter((path) => !found.has(path) && !others.includes(path))).toEqual([])
  })

  it.each(bundles)('nothing that is proved changes with any member: %s', async (_, file) => {
    const right = presented(await verify(file))
    let refused = 0
    let tried = 0
    for (const changed of changesOf(file)) {
      tried++
      try {
        expect(presented(await verify(changed))).toBe(right)
      } catch (error) {
        if (!(error instanceof LightError)) throw error
        refused++
      }
    }
    expect(tried).toBeGreaterThan(60)
    expect(refused).toBeGreaterThan(tried / 3)
  })
})

/** A value with one change, for each member of it. */
function* changesOf(file: Json): Generator<Json> {
  const usual = oneIn(449)
  let number = 0
  for (const [i, [, value, keys]] of leavesIn(file).entries()) {
    // A change of the question asks another one; its parameters are tested by themselves.
    if (keys[0] === 'asked') continue
    // Those behind the answer are alike in all bundles.
    if (keys[0] !== 'answer' && i % oneIn(3) !== 0) continue
    // Blocks behind the answer are many, and checked in their order.
    const step = keys[0] === 'answer' ? usual : usual * 4
    for (const other of otherValues(value, (number += 7), step)) yield withValue(file, keys, other)
  }
  for (const keys of containersIn(file)) {
    yield withValue(file, [...keys, 'unknown'], 'member')
    const found = valueAt(file, keys)
    if (!Array.isArray(found) || found.length < 2) continue
    yield withValue(file, keys, [...found].reverse())
    yield withValue(file, keys, found.slice(1))
    yield withValue(file, keys, found.slice(0, -1))
    yield withValue(file, keys, [...found, found[0]])
  }
}

function* otherValues(value: unknown, from: number, step: number): Generator<unknown> {
  yield* [undefined, 1, {}]
  if (typeof value === 'number') yield* [value + 1, value - 1, -value, value + 0.5, 2 ** 32, String(value)]
  if (typeof value === 'boolean') yield !value
  if (typeof value !== 'string') return
  const stride = Math.min(step, value.length < 100 ? 23 : step)
  for (let at = from % stride; at < value.length; at += stride) {
    const put = value[at] === 'A' ? '0' : 'A'
    yield value.slice(0, at) + put + value.slice(at + 1)
  }
  yield* ['', `${value}A`, value.slice(0, -1), value.toUpperCase(), `did:ledger:x${value}`, '#recovery']
}

function containersIn(value: Json, keys: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null || keys[0] === 'asked') return []
  return [keys, ...Object.entries(value).flatMap(([name, one]) => containersIn(one, [...keys, name]))]
}

function valueAt(value: Json, keys: readonly (string | number)[]): Json {
  return keys.reduce<Json>((found, key) => found[key], value)
}

function withValue(file: Json, keys: readonly (string | number)[], value: unknown): Json {
  const [key, ...rest] = keys
  if (key === undefined) return value
  const copy = Array.isArray(file) ? [...file] : { ...file }
  copy[key] = withValue(file[key], rest, value)
  return copy
}
