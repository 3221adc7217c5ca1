import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Member, TestNetwork } from '../support/network/test-network.js'
import { busyness } from '../support/process/patience.js'
import { Directories } from '../support/process/spawn.js'
import { Lab } from './lab.js'

const directories = new Directories()
afterAll(() => directories.remove())

let lab: Lab
let network: TestNetwork

async function expectSameBlocks(members: readonly Member[]): Promise<void> {
  const heights = await Promise.all(members.map((member) => member.height()))
  for (let height = 0; height <= Math.min(...heights); height++) {
    const [first, ...others] = await Promise.all(members.map(({ node }) => node.hashAt(height)))
    for (const hash of others) expect(hash).toBe(first)
  }
}

describe('four validators on machines of their own', () => {
  beforeEach(async () => {
    lab = await Lab.open(4)
    network = new TestNetwork(directories)
    for (const [validator, { address, management, through }] of lab.machines.entries()) {
      const args = ['--p2p-host', address, '--host', management]
      await network.join(`machine${validator}`, { validator, through, args })
    }
  })
  afterEach(async () => {
    await network.close()
    lab.close()
  })

  it('stop while they are two and two, go on as three and one, and are one chain again', async () => {
    const [one, two, three, four] = network.members as [Member, Member, Member, Member]
    await network.mined(await network.pay(one, 0), network.members)

    lab.join([0, 1], [2, 3])
    const waiting = await network.pay(one, 1)
    const other = await network.pay(three, 2)
    // What was under way when the cable was cut may still be confirmed; then nothing is.
    await new Promise((resolve) => setTimeout(resolve, 3000 * busyness()))
    const before = await Promise.all(network.members.map((member) => member.height()))
    await new Promise((resolve) => setTimeout(resolve, 15_000))
    expect(await Promise.all(network.members.map((member) => member.height()))).toEqual(before)
    lab.join([0, 1, 2, 3])
    await network.mined(waiting, network.members)
    await network.mined(other, network.members)

    lab.join([0, 1, 2])
    const alone = await four.height()
    await network.mined(await network.pay(two, 3), [one, two, three])
    expect(await four.height()).toBeLessThanOrEqual(alone + 1)
    lab.join([0, 1, 2, 3])
    await network.mined(await network.pay(four, 4), network.members)
    await expectSameBlocks(network.members)
  })

  it('go on where every frame takes 100 ms and two of a hundred are lost', async () => {
    const [one, two, three, four] = network.members as [Member, Member, Member, Member]
    await network.mined(await network.pay(one, 0), network.members)
    const pings = 300
    const before = lab.ping(0, 1, pings)
    expect(before.received).toBe(pings)
    expect(before.fastest).toBeLessThan(100)
    await lab.slowDown(100, 2)
    // This process saw nothing while it waited for the pings: connections that nodes have closed meanwhile end now.
    const slow = lab.ping(0, 1, pings)
    await new Promise((resolve) => setTimeout(resolve, 100))
    // There and back: of 300, all of which come back once in 200 000 times.
    expect(slow.fastest).toBeGreaterThanOrEqual(200)
    expect(slow.received).toBeGreaterThan(pings / 2)
    expect(slow.received).toBeLessThan(pings)
    const sent = [await network.pay(two, 1), await network.pay(three, 2), await network.pay(four, 3)]
    for (const txid of sent) await network.mined(txid, network.members)
    const height = await one.height()
    await network.mined(await network.pay(one, 4), network.members)
    expect(await one.height()).toBeGreaterThan(height)
    await expectSameBlocks(network.members)
  })
})
