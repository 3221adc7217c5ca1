import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Member, TestNetwork, until } from '../support/network/test-network.js'
import { Directories } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

// As a URL, which has no space.
const skewedClock = new URL('../support/tools/skewed-clock.mjs', import.meta.url).href
const localnet = fileURLToPath(new URL('../../genesis/localnet.json', import.meta.url))

let network: TestNetwork

/** The same hashes and transactions at every height that all the members have, and all of `sent` among them or in a pool. */
async function expectOneChain(members: readonly Member[], sent: readonly string[]): Promise<void> {
  const heights = await Promise.all(members.map((member) => member.height()))
  const known = new Set<string>()
  for (let height = 0; height <= Math.min(...heights); height++) {
    const blocks = await Promise.all(members.map((member) => member.block(height)))
    for (const block of blocks) expect(block).toEqual(blocks[0])
    blocks[0]?.tx.forEach((txid) => known.add(txid))
  }
  for (const { node } of members) for (const { txid } of await node.client.pool()) known.add(txid)
  expect(sent.filter((txid) => !known.has(txid))).toEqual([])
}

describe('four validators and two followers', () => {
  // Each test leaves all members running, on one chain.
  beforeAll(async () => {
    network = await TestNetwork.open(directories, 4, 2)
  })
  afterAll(() => network.close())

  it('leave a follower behind that its owner cuts off, and take it back', async () => {
    const [first, , , , follower, other] = network.members as [Member, Member, Member, Member, Member, Member]
    interface Known {
      readonly id: number
      readonly name: string
    }
    const peers = async () => (await follower.node.admin<{ peers: Known[] }>('getsyncstatus')).peers
    const met = () => until('all peers', 60, async () => (await peers()).length === 5 || String((await peers()).length))
    await met()

    // For a moment: all of them come back.
    const before = await peers()
    for (const { id } of before) expect(await follower.node.admin('disconnectpeer', { id })).toBe(true)
    await until('the end of a connection', 10, async () => (await peers()).length < 5 || 'all are there')
    const sent = [await network.pay(first, 0), await network.pay(other, 1)]
    for (const txid of sent) await network.mined(txid)
    await met()

    // For longer: nobody is let in, and the others go on.
    for (const { name } of before) expect(await follower.node.admin('addban', { peer: name })).toBe(true)
    await until('the end of all connections', 30, async () => (await peers()).length === 0 || 'still there')
    const alone = await follower.height()
    const rest = network.members.filter((member) => member !== follower)
    for (const account of [2, 3, 4]) {
      sent.push(await network.pay(first, account))
      await network.mined(sent.at(-1) as string, rest)
    }
    expect(await follower.height()).toBe(alone)
    expect(await first.height()).toBeGreaterThanOrEqual(alone + 3)
    for (const { name } of before) expect(await follower.node.admin('removeban', { peer: name })).toBe(true)
    sent.push(await network.pay(first, 5))
    await network.mined(sent.at(-1) as string)
    await network.reach(await first.height())
    await expectOneChain(network.members, sent)
  })

  it('go on with three, wait with two, and go on again', async () => {
    const [, second, third, fourth] = network.members as [Member, Member, Member, Member]
    await network.mined(await network.pay(second, 0))
    await fourth.stop('SIGKILL')
    await network.mined(await network.pay(second, 1))
    await third.stop('SIGKILL')
    const height = await second.height()
    const waiting = await network.pay(second, 2)
    await new Promise((resolve) => setTimeout(resolve, 8000))
    expect(await second.height()).toBeLessThanOrEqual(height + 1)
    expect((await second.node.client.transaction(waiting))?.confirmations).toBe(0)
    await network.start(third)
    await network.mined(waiting)
    await network.start(fourth)
    await network.reach(await second.height())
    await expectOneChain(network.live, [waiting])
  })

  it('are one chain, whatever happens to one of them', async () => {
    const [first, , third, fourth, follower, other] = network.members as [
      Member,
      Member,
      Member,
      Member,
      Member,
      Member,
    ]
    const sent = [await network.pay(follower, 0), await network.pay(first, 1)]
    for (const txid of sent) await network.mined(txid)

    // Killed while a transaction is on its way, and started again.
    sent.push(await network.pay(fourth, 2))
    await fourth.stop('SIGKILL')
    sent.push(await network.pay(other, 3))
    await network.mined(sent.at(-1) as string)
    await network.start(fourth)

    // Stopped for a while: its connections stay open, and it says nothing.
    third.signal('SIGSTOP')
    sent.push(await network.pay(follower, 4))
    const awake = network.live.filter((member) => member !== third)
    await network.mined(sent.at(-1) as string, awake)
    third.signal('SIGCONT')
    await network.reach(await first.height())

    // A proper restart of one validator and one follower.
    await first.stop()
    await follower.stop()
    sent.push(await network.pay(other, 5))
    await network.mined(sent.at(-1) as string)
    await network.start(first)
    await network.start(follower)

    // Somebody who comes late learns everything from genesis on.
    const late = await network.join('late')
    sent.push(await network.pay(late, 6))
    await network.mined(sent.at(-1) as string)
    await network.reach(await other.height())
    await expectOneChain(network.live, sent)
    expect((await late.node.get('node/state')).body.Result).toMatchObject({ Neighbors: { length: 6 } })
  })
})

describe('a node that does not fit', () => {
  beforeAll(async () => {
    network = await TestNetwork.open(directories, 4)
  })
  afterAll(() => network.close())

  it('of another chain is told so and left alone', async () => {
    const spec = JSON.parse(readFileSync(localnet, 'utf8')) as { time: number }
    const genesis = directories.fresh('other.json')
    writeFileSync(genesis, JSON.stringify({ ...spec, time: spec.time + 1 }))
    const stranger = await network.join('stranger', { genesis, args: ['--log-level', 'info'] })
    await until('the refusal', 30, async () => {
      const { err } = stranger.node.process
      return err.includes('peer-genesis') ? true : err
    })
    expect((await stranger.node.get('node/connectioncount')).body.Result).toBe(0)
    await network.mined(await network.pay(network.at(0), 0), network.members.slice(0, 4))
    expect(await stranger.height()).toBe(0)
    await stranger.stop()
  })

  it('whose clock is wrong follows all the same, and its proposals do no harm', async () => {
    const env = { NODE_OPTIONS: `--import=${skewedClock}`, SKEW_MS: String(3_600_000) }
    const fast = network.at(3)
    await fast.stop()
    const skewed = await network.join('skewed', { validator: 3, env })
    await network.reach(await network.at(0).height())
    const sent: string[] = []
    for (let account = 0; account < 6; account++) {
      sent.push(await network.pay(account % 2 === 0 ? skewed : network.at(0), account))
      await network.mined(sent.at(-1) as string)
    }
    const { time } = await network.at(0).node.client.blockAt(await network.at(0).height())
    expect(time).toBeLessThan(Date.now() / 1000 + 60)
    await expectOneChain(network.live, sent)
  })
})
