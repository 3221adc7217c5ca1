import { describe, expect, it } from 'vitest'
import { HeightGate } from '../../../../../src/answers/api/http/height-gate.js'
import { heightChain } from '../../../../support/fakes/height-chain.js'
import { rest } from '../../../../support/fakes/manual-time.js'

const limits = { heightWait: 60_000, heightWaiting: 4, heightBody: 100 }
const behind = { code: 'behind-height' }

function gated() {
  const { chain, rise } = heightChain()
  const gate = new HeightGate(chain, limits)
  const ended: string[] = []
  const abort = new AbortController()
  const wait = (share: string, height = 1) =>
    void (gate.wait(height, () => ({ share, signal: abort.signal })) ?? Promise.resolve()).then(
      () => ended.push(share),
      (error: { code: string }) => ended.push(`${share} ${error.code}`),
    )
  return { gate, chain, rise, ended, wait, abort }
}

describe('HeightGate', () => {
  it('lets each request pass at its height', async () => {
    const { gate, chain, rise, ended, wait } = gated()
    wait('two', 2)
    wait('one')
    rise(1)
    await rest()
    expect(ended).toEqual(['one'])
    expect(gate.text).toBe('1')
    rise(3)
    await rest()
    expect(ended).toEqual(['one', 'two'])
    expect(chain.events.listenerCount('change')).toBe(0)
    expect(gate.wait(3, () => expect.fail())).toBeUndefined()
  })

  it('gives the place of the client with most of them to one that has fewer', async () => {
    const { rise, ended, wait } = gated()
    for (const share of ['a', 'a', 'a', 'b', 'b']) wait(share)
    await rest()
    expect(ended).toEqual(['a behind-height'])
    // Both have two: neither gives way to the other, nor to itself.
    wait('b')
    wait('a')
    await rest()
    expect(ended).toEqual(['a behind-height', 'b behind-height', 'a behind-height'])
    wait('c')
    rise(1)
    await rest()
    expect(ended.slice(3).sort()).toEqual(['a', 'a behind-height', 'b', 'b', 'c'])
  })

  it('ends with its client, also with one that left before', async () => {
    const { chain, ended, wait, abort } = gated()
    wait('one')
    abort.abort(Object.assign(new Error('gone'), { code: 'gone' }))
    wait('two')
    await rest()
    expect(ended).toEqual(['one gone', 'two gone'])
    expect(chain.events.listenerCount('change')).toBe(0)
  })

  it('refuses a body that is too long to wait at once', async () => {
    const { gate } = gated()
    const client = () => ({ share: 'one', signal: new AbortController().signal })
    await expect(gate.wait(1, client, 101)).rejects.toMatchObject(behind)
  })
})
