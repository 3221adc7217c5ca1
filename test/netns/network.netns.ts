import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { devnetAccount } from '../../src/wallet/devnet-accounts.js'
import { Dice, Payer } from '../support/load.js'
import { type Member, TestNetwork, until } from '../support/network.js'
import { Directories } from '../support/process.js'
import { Lab } from './lab.js'

const directories = new Directories()
afterAll(() => directories.remove())

/** Seconds in which a quorum that can talk confirms a transaction: some views whose sponsors cannot be reached among them. */
const patience = 90

let lab: Lab
let network: TestNetwork
const payer = new Payer(new Dice(11), 'localnet')

async function pay(through: Member, account: number): Promise<string> {
  const { client } = through.node
  const transfer = await payer.transfer(client, account, devnetAccount(9).address, 100_000_000n)
  return client.sendRawTransaction(transfer.toHex())
}

async function mined(txid: string, members: readonly Member[]): Promise<void> {
  await until(`${txid} in a block`, patience, async () => {
    const found = await Promise.all(members.map(({ node }) => node.client.transaction(txid)))
    return found.every((one) => (one?.confirmations ?? 0) > 0) ? true : 'not everywhere'
  })
}

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
    await mined(await pay(one, 0), network.members)

    lab.join([0, 1], [2, 3])
    const waiting = await pay(one, 1)
    const other = await pay(three, 2)
    // What was under way when the cable was cut may still be confirmed; then nothing is.
    await new Promise((resolve) => setTimeout(resolve, 3000))
    const before = await Promise.all(network.members.map((member) => member.height()))
    await new Promise((resolve) => setTimeout(resolve, 15_000))
    expect(await Promise.all(network.members.map((member) => member.height()))).toEqual(before)
    lab.join([0, 1, 2, 3])
    await mined(waiting, network.members)
    await mined(other, network.members)

    lab.join([0, 1, 2])
    const alone = await four.height()
    await mined(await pay(two, 3), [one, two, three])
    expect(await four.height()).toBeLessThanOrEqual(alone + 1)
    lab.join([0, 1, 2, 3])
    await mined(await pay(four, 4), network.members)
    await expectSameBlocks(network.members)
  })

  it('go on where every frame takes 100 ms and two of a hundred are lost', async () => {
    const [one, two, three, four] = network.members as [Member, Member, Member, Member]
    await mined(await pay(one, 0), network.members)
    await lab.slowDown(100, 2)
    const sent = [await pay(two, 1), await pay(three, 2), await pay(four, 3)]
    for (const txid of sent) await mined(txid, network.members)
    const height = await one.height()
    await mined(await pay(one, 4), network.members)
    expect(await one.height()).toBeGreaterThan(height)
    await expectSameBlocks(network.members)
  })
})
