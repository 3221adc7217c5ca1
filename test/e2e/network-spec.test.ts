import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { toHex } from '../../src/base/primitives/bytes.js'
import { devnetAccount, devnetValidatorKey } from '../../src/clients/wallet/devnet-accounts.js'
import { mine } from '../support/builders/miner.js'
import { type Member, TestNetwork, until } from '../support/network/test-network.js'
import { Directories } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

const localnet = readFileSync(fileURLToPath(new URL('../../genesis/localnet.json', import.meta.url)), 'utf8')
const validators = [0, 1, 2, 3].map((index) => toHex(devnetValidatorKey(index).publicKey))

/** A spec like that of localnet, in a file. */
function specFile(changes: object): string {
  const file = directories.fresh('spec.json')
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(localnet) as object), ...changes }))
  return file
}

/** The name of a node, in which its address ends. */
function nameOf({ address }: Member): string {
  return address.split('/').at(-1) as string
}

let network: TestNetwork
beforeEach(() => {
  network = new TestNetwork(directories)
})
afterEach(() => network.close())

describe('a chain whose blocks are mined', () => {
  it('confirms what a miner finds at a node that does not vote', async () => {
    const genesis = specFile({ name: 'mined', producer: 'miners', auxpowChainId: 20399 })
    for (const validator of [0, 1, 2, 3]) await network.join(`validator${validator}`, { validator, genesis })
    const node = await network.join('follower', { genesis })
    const miner = devnetAccount(21).address
    const found = await mine(node.node.line.rpc, miner, 4, '--interval', '0')
    await network.reach(4)
    for (const member of network.live) {
      const hashes = await Promise.all([1, 2, 3, 4].map((height) => member.node.hashAt(height)))
      expect(found).toEqual(hashes.map((hash, i) => `height ${i + 1} ${hash}`))
    }
    expect(await network.at(0).node.client.balance(miner)).toBe(400_000_000n)
    const { body } = await network.at(1).node.get('confirm/details/height/4')
    const { sponsor, votes }: { sponsor: string; votes: unknown[] } = Reflect.get(body, 'result')
    expect(validators).toContain(sponsor)
    expect(votes.length).toBeGreaterThanOrEqual(3)
  })
})

describe('an upgrade of the validators', () => {
  const three = validators.slice(0, 3)
  const upgraded = { name: 'upgraded', upgrades: [{ height: 3, name: 'three', parameters: { validators: three } }] }

  it('takes effect at its height, and parts the nodes that know it from those that do not', async () => {
    const timing = { ...(JSON.parse(localnet) as { timing: object }).timing, emptyInterval: 1000 }
    const genesis = specFile({ ...upgraded, timing })
    const before = specFile({ ...upgraded, timing, upgrades: [] })
    const args = ['--log-level', 'info']
    for (const validator of [0, 1, 2]) await network.join(`validator${validator}`, { validator, genesis, args })
    const behind = await network.join('behind', { validator: 3, genesis: before, args })
    const members = network.members.slice(0, 3)
    await network.reach(6, members)
    // It cannot follow beyond the last block that its own spec allows, and says why. Where it is quick enough to be shown block 2,
    // it is that this names other validators for the next height, which is nobody's fault; otherwise the upgrade itself.
    expect(await behind.height()).toBeLessThan(3)
    await until('the reason', 60, async () => {
      const { err } = behind.node.process
      return /peer-upgrades|coinbase-validators/.test(err) ? true : err.slice(-500)
    })
    await behind.stop()
    // Whoever comes when the upgrade is in force is parted from everybody for that, and both sides say so.
    const late = await network.join('late', { genesis: before, args })
    const refused = ({ node }: Member, by: string, name: string) =>
      node.process.err
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as { by?: string; code?: string; peer?: string })
        .some((line) => line.by === by && line.code === 'peer-upgrades' && line.peer === name)
    const lateName = nameOf(late)
    await until('the refusals', 60, async () => {
      const waiting = members.filter(
        (member) => !refused(late, 'us', nameOf(member)) || !refused(member, 'them', lateName),
      )
      return waiting.length === 0 ? true : `not of ${waiting.map(({ name }) => name).join()}: ${late.node.process.err}`
    })
    expect(await late.height()).toBe(0)
    const connections = async () => (await late.node.get('node/connectioncount')).body.Result
    await until('the end of all connections', 30, async () => (await connections()) === 0 || 'some are there')
    const { body } = await network.at(0).node.get('confirm/details/height/5')
    const { votes }: { votes: { signer: string }[] } = Reflect.get(body, 'result')
    expect(votes.map(({ signer }) => signer).sort()).toEqual([...three].sort())

    // With the new spec it is one of them again, and follows: its key is no validator's any more.
    await late.stop()
    const follower: Member = await network.join('follower', { genesis })
    await network.reach(await network.at(0).height(), [follower])
  })
})
