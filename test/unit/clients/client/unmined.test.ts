import { expect, it } from 'vitest'
import { type AskedNode, stallSentence, whyUnmined } from '../../../../src/clients/client/unmined.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'

/** A node that answers so about its vote, and may be a devnet. */
function node(vote: unknown, devnet = false): AskedNode {
  return {
    rpc: () => (vote === undefined ? Promise.reject(new UserError('no such method')) : Promise.resolve(vote)),
    devnetTime: () => (devnet ? Promise.resolve(1) : Promise.reject(new UserError('no answer'))),
  }
}

const stalled = { reason: 'no-quorum', since: 1, detail: 'validator 3 is missing' }

it.each<[string, unknown, boolean, string]>([
  ['a stalled chain', { validators: 4, heard: 2, stalled }, false, 'the chain is stalled, validator 3 is missing'],
  [
    'a devnet',
    { validators: 1, heard: 0 },
    true,
    'it is a devnet, and one with --no-automine makes blocks on dev_mine only',
  ],
  [
    'a chain of miners',
    { validators: 0, heard: 0 },
    false,
    'the blocks of this chain come from miners, and none of them has made one with it',
  ],
  [
    'a chain of validators',
    { validators: 4, heard: 1 },
    false,
    'the validators have confirmed no block with it; votes of 1 of 4 have arrived for the next one',
  ],
  ['a node of another kind', undefined, false, 'the node does not say why'],
  ['an older node', { arbiters: [] }, false, 'the node does not say why'],
  ['nonsense', { validators: 'many', heard: {} }, false, 'the node does not say why'],
  ['an odd answer', 7, false, 'the node does not say why'],
])('says why a transaction waits on %s', async (_, vote, devnet, why) => {
  expect(await whyUnmined(node(vote, devnet))).toBe(why)
})

it('finds the sentence of a stall, and none where there is none', async () => {
  expect(await stallSentence(node({ stalled }))).toBe('validator 3 is missing')
  for (const vote of [{}, { stalled: null }, { stalled: {} }, { stalled: { detail: 5 } }, undefined]) {
    expect(await stallSentence(node(vote))).toBeUndefined()
  }
})

it('lets a hostile node write nothing to the terminal but a bounded line', async () => {
  const detail = `\u001b[2J\r\n\u009b31m\u202e${'x'.repeat(100_000)}`
  const sentence = (await stallSentence(node({ stalled: { detail } }))) ?? ''
  expect(sentence).toMatch(/^ \[2J 31m x+$/)
  expect(sentence.length).toBeLessThanOrEqual(2_000)
})

it('does not hide a defect of this program', async () => {
  const broken: AskedNode = { ...node(undefined), rpc: () => Promise.reject(new TypeError('broken')) }
  await expect(whyUnmined(broken)).rejects.toThrow('broken')
})
