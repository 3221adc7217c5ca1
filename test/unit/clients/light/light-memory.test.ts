import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { loadMemory, memoryText } from '../../../../src/clients/light/light-memory.js'
import { Signatures } from '../../../../src/clients/light/signatures.js'
import { readTrust } from '../../../../src/identity/proofs/trust-root.js'
import { failureOf, lightOver, lightWorld } from '../../../support/builders/light-world.js'
import { keysOf } from '../../../support/builders/light-scene.js'
import type { Json } from '../../../support/fakes/light-server.js'

/** The state that a resolver keeps after an answer. */
async function stateOf({ book, alice }: ReturnType<typeof lightWorld>): Promise<Json> {
  let state = ''
  const answer = book.teams.length > 0 ? {} : { answer: () => book.answer(alice.did, { height: book.tip.height - 6 }) }
  await lightOver(book, answer, { save: (text) => void (state = text) }).resolve(alice.did)
  return JSON.parse(state) as Json
}

const [validators, miners] = [lightWorld({ changeAt: 9 }), lightWorld({ miners: true })]
const states = { validators: await stateOf(validators), miners: await stateOf(miners) }
const worlds = { validators, miners }
type Kind = keyof typeof states

const load = (kind: Kind, changes: object = {}, book = worlds[kind].book) =>
  loadMemory(JSON.stringify({ ...states[kind], ...changes }), {
    trust: readTrust(book.trust()),
    signatures: new Signatures(),
  })

describe.each(Object.keys(states) as Kind[])('the memory of a chain of %s', (kind) => {
  it('is the same after it was kept', async () => {
    const memory = await load(kind)
    expect(memoryText(memory, worlds[kind].book.genesis)).toBe(JSON.stringify(states[kind]))
    const names = 'format chain height hash time header'.split(' ')
    const more = kind === 'miners' ? ['lists', 'headers', 'work'] : ['confirm', 'lists']
    expect(Object.keys(states[kind])).toEqual([...names, ...more])
    expect([memory.lists.length, memory.headers.length > 0]).toEqual(kind === 'miners' ? [0, true] : [2, false])
    expect([memory.seen.confirm !== undefined, memory.work > 0n]).toEqual(
      kind === 'miners' ? [false, true] : [true, false],
    )
  })

  const { height, time } = states[kind] as Json
  it.each<[string, string, object]>([
    ['another format', 'form', { format: 'didledger/light/2' }],
    ['another chain', 'chain', { chain: '11'.repeat(32) }],
    ['another height', 'form', { height: height + 1 }],
    ['another hash', 'form', { hash: '11'.repeat(32) }],
    ['another time', 'form', { time: time + 1 }],
    ['no header', 'form', { header: undefined }],
    ['a header of another length', 'form', { header: `${states[kind].header}00` }],
    ['nothing that is remembered', 'form', { lists: [], headers: [] }],
    ['a confirm that is none', 'form', { confirm: '00' }],
    ['a confirm that is no hex', 'form', { confirm: 'x' }],
  ])('is refused with %s: %s', async (_, failure, changes) => {
    expect(await failureOf(load(kind, changes))).toBe(failure)
  })
})

describe('the memory of a chain of validators', () => {
  const { lists, confirm } = states.validators as Json
  const [first, second] = lists as Json[]

  it.each<[string, object]>([
    ['lists that descend', { lists: [{ ...first, height: second.height + 1 }, second] }],
    ['two lists of one height', { lists: [{ ...first, height: second.height }, second] }],
    ['a list of no key', { lists: [{ height: 1, validators: ['00'] }] }],
    ['no lists', { lists: undefined }],
    ['a confirm that does not hold', { confirm: `${confirm.slice(0, -4)}0000` }],
    ['a confirm by others', { lists: [{ height: 1, validators: keysOf(4) }] }],
  ])('is refused with %s', async (what, changes) => {
    const failure = await failureOf(load('validators', changes))
    expect(failure).toMatch(what.endsWith('by others') ? /^(form|confirm-)/ : /^form$/)
  })

  it('may have one list, or a block that is believed without a confirm', async () => {
    expect((await load('validators', { lists: [second] })).lists).toHaveLength(1)
    expect((await load('validators', { confirm: undefined })).seen.confirm).toBeUndefined()
  })

  it('has no lists from long before the block, but the one in force then', async () => {
    const { seen } = await load('validators')
    const keys = validators.book.keys(1)
    const at = (...heights: number[]) => heights.map((height) => ({ height, keys }))
    const { header } = seen
    const later = { ...seen, header: { ...header, height: 1_000, hash: header.hash, bytes: header.bytes } as never }
    const kept = (...heights: number[]) => {
      const text = memoryText({ seen: later, lists: at(...heights), headers: [], work: 0n }, validators.book.genesis)
      return (JSON.parse(text) as Json).lists.map((list: Json) => list.height)
    }
    expect(kept(1, 5, 800)).toEqual([5, 800])
    expect(kept(1, 711, 712, 713)).toEqual([712, 713])
    expect(kept(900, 950)).toEqual([900, 950])
  })
})

describe('the memory of a chain of miners', () => {
  const { headers, work } = states.miners as Json

  it.each<[string, object]>([
    ['no headers', { headers: undefined }],
    ['a header that is none', { headers: ['00'] }],
    ['no work', { work: undefined }],
    ['work that is no number', { work: '1e5' }],
    ['work without digits', { work: '' }],
    ['negative work', { work: '-1' }],
    ['work of 81 digits', { work: '1'.repeat(81) }],
  ])('is refused with %s', async (_, changes) => {
    expect(await failureOf(load('miners', changes))).toBe('form')
  })

  it('may have one header, and work of 80 digits', async () => {
    const memory = await load('miners', { headers: headers.slice(-1), work: '1'.repeat(80) })
    expect([memory.headers.length, memory.work, toHex(memory.seen.header.bytes)]).toEqual([
      ...[1, BigInt('1'.repeat(80))],
      states.miners.header,
    ])
    expect((JSON.parse(memoryText(memory, miners.book.genesis)) as Json).headers).toEqual(headers.slice(-1))
    expect(BigInt(work)).toBeGreaterThan(0n)
  })
})
