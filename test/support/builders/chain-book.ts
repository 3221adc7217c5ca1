import { quickSigner } from '../../../src/base/crypto/quick-signer.js'
import { paramsAt, validatorChanges } from '../../../src/base/primitives/spec.js'
import { craftBlock } from './blocks.js'
import type { TestChain } from './chain.js'
import { ProofBook, type Team } from './proof-book.js'
import { testKey } from './spec.js'

/** The active chain as its proofs show it. Its validators are test persons, from the first one on. */
export async function bookOf({ chain, reader, spec }: TestChain): Promise<ProofBook> {
  const heights = spec.hasValidators ? [1, ...validatorChanges(spec)] : []
  const teams = heights.map((height): Team => {
    const count = paramsAt(spec, height).validators.length
    return { height, signers: Array.from({ length: count }, (_, person) => quickSigner(testKey(person))) }
  })
  const book = new ProofBook(chain.genesis, teams)
  for (let height = 1; height <= chain.tip.header.height; height++) {
    const known = chain.headers.active(height)
    if (known === undefined) throw new RangeError(`no block at height ${height}`)
    book.push(await reader.block(known), reader.confirm(known.header.hash))
  }
  return book
}

/** Replaces the last blocks by one block more. */
export async function shorten(test: TestChain, depth: number): Promise<void> {
  let parent = test.activeHeader(test.chain.tip.header.height - depth)
  for (let i = 0; i <= depth; i++) {
    const block = craftBlock(test.chain, { parent })
    await test.accept(block)
    parent = test.knownHeader(block.header.hash)
  }
}
