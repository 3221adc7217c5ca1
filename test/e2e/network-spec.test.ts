import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { toHex } from '../../src/primitives/bytes.js'
import { devnetAccount, devnetValidatorKey } from '../../src/wallet/devnet-accounts.js'
import { mine } from '../support/miner.js'
import { type Member, TestNetwork, until } from '../support/network.js'
import { Directories } from '../support/process.js'

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

let network: TestNetwork
beforeEach(() => {
  network = new TestNetwork(directories)
})
afterEach(() => network.close())

describe('a chain whose blocks are mined', () => {
  it('confirms what a miner finds at a node that does not vote', { timeout: 180_000 }, async () => {
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
    const { sponsor, votes } = (body as unknown as { result: { sponsor: string; votes: unknown[] } }).result
    expect(validators).toContain(sponsor)
    expect(votes.length).toBeGreaterThanOrEqual(3)
  })
})

describe('an upgrade of the validators', () => {
  const three = validators.slice(0, 3)
  const upgraded = { name: 'upgraded', upgrades: [{ height: 3, name: 'three', parameters: { validators: three } }] }

  it(
    'takes effect at its height, and parts the nodes that know it from those that do not',
    { timeout: 180_000 },
    async () => {
      const timing = { ...(JSON.parse(localnet) as { timing: object }).timing, emptyInterval: 1000 }
      const genesis = specFile({ ...upgraded, timing })
      const before = specFile({ ...upgraded, timing, upgrades: [] })
      for (const validator of [0, 1, 2]) await network.join(`validator${validator}`, { validator, genesis })
      const behind = await network.join('behind', { validator: 3, genesis: before, args: ['--log-level', 'info'] })
      const members = network.members.slice(0, 3)
      await network.reach(6, members)
      // It cannot follow beyond the last block that its own spec allows, and says why.
      expect(await behind.height()).toBeLessThan(3)
      await until('the reason', 60, async () => {
        const { err } = behind.node.process
        return /peer-upgrades|coinbase-validators/.test(err) ? true : err.slice(-500)
      })
      const { body } = await network.at(0).node.get('confirm/details/height/5')
      const { votes } = (body as unknown as { result: { votes: { signer: string }[] } }).result
      expect(votes.map(({ signer }) => signer).sort()).toEqual([...three].sort())

      // With the new spec it is one of them again, and follows: its key is no validator's any more.
      await behind.stop()
      const follower: Member = await network.join('follower', { genesis })
      await network.reach(await network.at(0).height(), [follower])
    },
  )
})
