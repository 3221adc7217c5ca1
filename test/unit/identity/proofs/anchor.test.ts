import { describe, expect, it } from 'vitest'
import { encodeBase64url } from '../../../../src/identity/did/base64url.js'
import { concat } from '../../../../src/base/primitives/bytes.js'
import type { Hash } from '../../../../src/base/primitives/hash.js'
import {
  committedBlock,
  headerOf,
  type KnownChain,
  readAnchor,
  standingBlock,
} from '../../../../src/identity/proofs/anchor.js'
import { settle } from '../../../support/assert/settle.js'
import { failureOf, lightWorld } from '../../../support/builders/light-world.js'

const { book } = lightWorld()
/** A block of the same height, with the same validators after it. */
const other = lightWorld({ plan: (height) => (height === 9 ? { padding: 3 } : {}) }).book
const of = (height: number, from = book) => readAnchor(from.anchor(height), true)
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'))

const outcome = (check: () => unknown) => failureOf(Promise.resolve().then(check))

describe('the coinbase of an anchor', () => {
  const branch = bytesOf(book.anchor(9).branch)
  const committed = (changed: Uint8Array) =>
    outcome(() => {
      const anchor = { ...of(9), branch: encodeBase64url(changed) }
      return committedBlock(anchor, headerOf(anchor), true).didRoot
    })

  it('is the first transaction of the block, by a branch of whole hashes', async () => {
    expect(branch.length).toBe(64)
    expect(await committed(branch)).toBeInstanceOf(Uint8Array)
  })

  it.each<[string, Uint8Array]>([
    ['a cut hash', branch.subarray(0, -1)],
    ['a byte more', concat(branch, Uint8Array.of(0))],
    ['a hash less', branch.subarray(0, -32)],
    ['a hash more', concat(branch, branch.subarray(32))],
    ['its hashes swapped', concat(branch.subarray(32), branch.subarray(0, 32))],
    ['fifteen hashes', new Uint8Array(15 * 32)],
  ])('is none by a branch with %s', async (_, changed) => {
    expect(await committed(changed)).toBe('anchor-branch')
  })
})

describe('a block whose validators are not known', () => {
  const keysAt = (height: number) => (height > 9 ? book.keys(height) : undefined)
  const stands = (from: typeof book, height: number, believed?: Hash) =>
    outcome(() => {
      const anchor = of(height, from)
      const known: KnownChain = { genesis: book.genesis, keysAt, ...(believed && { believed }) }
      return settle(standingBlock(anchor, committedBlock(anchor, headerOf(anchor), true), known)).header.height
    })
  const checkpoint = book.page(9).block.header.hash

  it('stands where it is the one that is believed', async () => {
    expect(await stands(book, 9, checkpoint)).toBe(9)
    expect(await stands(book, 10, checkpoint)).toBe(10)
  })

  it('is refused where another one is believed, or none', async () => {
    expect(await stands(other, 9, checkpoint)).toBe('changes-missing')
    expect(await stands(book, 8, checkpoint)).toBe('changes-missing')
    expect(await stands(book, 9)).toBe('changes-missing')
  })
})
