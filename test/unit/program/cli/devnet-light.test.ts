import { describe, expect, it } from 'vitest'
import { DevnetLight } from '../../../../src/program/cli/devnet-light.js'
import type { LightOptions } from '../../../../src/clients/light/light-resolver.js'
import { quietLog } from '../../../support/builders/chain.js'
import { failureOf, host, lightOver, lightWorld } from '../../../support/builders/light-world.js'
import { lightServers } from '../../../support/fakes/light-server.js'

/** A devnet that can go back, a resolver of it, what that one said, and what it keeps. */
function devnet(options: Partial<LightOptions> = {}) {
  const world = lightWorld()
  const warnings: string[] = []
  const log = { ...quietLog(), warn: (_: object, message: string) => void warnings.push(message) }
  let kept: string | undefined
  let begun = 0
  const save = (state: string) => void (kept = state)
  const trust = world.book.trust({ devnet: true })
  const open = (how: Partial<LightOptions>) => lightOver(world.book, {}, { trust, save, ...options, ...how })
  const anew = () => {
    begun++
    return Promise.resolve(open({}))
  }
  const start = () => new DevnetLight(open({ load: () => kept }), anew, log)
  const back = (blocks: number) => {
    for (let i = 0; i < blocks; i++) world.book.pop()
  }
  return { ...world, start, back, warnings, begun: () => begun }
}

describe('a light resolver of a devnet', () => {
  it('begins anew where the devnet goes back, and says so once', async () => {
    const { start, back, alice, book, warnings, begun } = devnet()
    const light = start()
    await light.resolve(alice.did)
    back(3)
    const both = await Promise.all([light.resolve(alice.did), light.resolveCredential(`${alice.did}#none`)])
    expect(both.map(({ proved }) => proved.height)).toEqual([book.tip.height, book.tip.height])
    expect(warnings).toEqual([expect.stringContaining('went back or began anew')])
    expect(begun()).toBe(1)
    expect(await light.resolve(alice.did)).toMatchObject({ status: 0 })
    expect(warnings).toHaveLength(1)
  })

  it('begins anew where another block stands at the height that was seen', async () => {
    const { start, back, alice, book, warnings } = devnet()
    const light = start()
    await light.resolve(alice.did)
    back(1)
    const { id } = book.make({ padding: 5 }).header
    expect(await light.resolve(alice.did)).toMatchObject({ proved: { hash: id } })
    expect(warnings).toHaveLength(1)
  })

  it('forgets what was kept by the process before', async () => {
    const { start, back, alice, book, warnings } = devnet()
    await start().resolve(alice.did)
    back(3)
    expect(await start().resolve(alice.did)).toMatchObject({ proved: { height: book.tip.height } })
    expect(warnings).toHaveLength(1)
    expect(await start().resolve(alice.did)).toMatchObject({ status: 0 })
    expect(warnings).toHaveLength(1)
  })

  it('begins anew where the only node that answers went back', async () => {
    const { start, back, alice, book, warnings } = devnet({
      servers: [host, 'http://gone'],
      fetch: (url, init) => lightServers({ node: { book } })(url, init),
    })
    const light = start()
    await light.resolve(alice.did)
    back(2)
    expect(await light.resolve(alice.did)).toMatchObject({ proved: { height: book.tip.height } })
    expect(warnings).toHaveLength(1)
  })

  it('tries again where it could not begin anew', async () => {
    const { book, alice } = lightWorld()
    const trust = book.trust({ devnet: true })
    const open = () => lightOver(book, {}, { trust })
    let hasFile = false
    const anew = async () => (hasFile ? open() : Promise.reject(new Error('no such file')))
    const light = new DevnetLight(open(), anew, quietLog())
    await light.resolve(alice.did)
    book.pop()
    await expect(light.resolve(alice.did)).rejects.toThrow('no such file')
    hasFile = true
    expect(await light.resolve(alice.did)).toMatchObject({ proved: { height: book.tip.height } })
  })

  it('keeps what it saw where an answer fails otherwise', async () => {
    const { start, alice, warnings, begun } = devnet({ servers: ['http://gone'] })
    expect(await failureOf(start().resolve(alice.did))).toBe('unreachable')
    expect(warnings).toEqual([])
    expect(begun()).toBe(0)
  })
})
