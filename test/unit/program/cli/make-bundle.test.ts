import { describe, expect, it } from 'vitest'
import { type AskedNode, makeBundle } from '../../../../src/program/cli/make-bundle.js'

/** A node of one chain, whose methods answer as given. */
function nodeOf(answers: Readonly<Record<string, (params: { from: number }) => unknown>>): AskedNode {
  return {
    rest: 'http://node',
    rpc: (method, params) => Promise.resolve(answers[method]?.(params as { from: number })),
  }
}

const proved = (confirm: object) => () => ({ did: 'x', status: 3, proof: { anchor: { header: '', ...confirm } } })
const asked = { did: 'did:ledger:x', all: false }

describe('a bundle', () => {
  it('has all headers of a node, which may send fewer than asked for', async () => {
    const headers = ['a', 'b', 'c']
    const light_headers = ({ from }: { from: number }) => headers.slice(from - 1, from + 1)
    const bundle = await makeBundle(nodeOf({ resolvedid: proved({}), light_headers }), asked)
    expect(bundle).toMatchObject({ format: 'didledger/bundle/1', asked, headers })
    expect(bundle).not.toHaveProperty('changes')
  })

  it('has all changes of a node, in as many answers as it takes', async () => {
    const light_changes = ({ from }: { from: number }) => ({ changes: [{ height: from + 1 }], more: from < 3 })
    const bundle = await makeBundle(nodeOf({ resolvedid: proved({ confirm: '' }), light_changes }), asked)
    expect(bundle.changes).toEqual([{ height: 2 }, { height: 3 }, { height: 4 }])
  })

  it('is given up where a node sends headers without end', async () => {
    const page = Array.from({ length: 2000 }, () => 'x'.repeat(50_000))
    const endless = nodeOf({ resolvedid: proved({}), light_headers: () => page })
    await expect(makeBundle(endless, asked)).rejects.toThrow(/sends more than a bundle holds/)
  })

  it.each([
    ['no proof', { resolvedid: () => ({ did: 'x', status: 3 }) }, /without a proof/],
    ['no headers', { resolvedid: proved({}), light_headers: () => 'none' }, /gives no headers/],
    ['no changes', { resolvedid: proved({ confirm: '' }), light_changes: () => ({}) }, /no changes/],
    [
      'changes that do not rise',
      { resolvedid: proved({ confirm: '' }), light_changes: () => ({ changes: [{ height: 1 }], more: true }) },
      /and not when/,
    ],
  ])('is refused with %s', async (_, answers, words) => {
    await expect(makeBundle(nodeOf(answers), asked)).rejects.toThrow(words)
  })
})
