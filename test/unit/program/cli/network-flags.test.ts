import { chmodSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { loadSpec } from '../../../../src/program/cli/load-spec.js'
import { peeringOf, validatorOf } from '../../../../src/program/cli/network-flags.js'
import { networkDefaults } from '../../../../src/network/network-options.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { devnetValidatorKey } from '../../../../src/clients/wallet/devnet-accounts.js'
import { configOf } from '../../../support/builders/config.js'
import { Workbench } from '../../../support/process/workbench.js'

const bench = new Workbench()
afterAll(() => bench.close())
const key = bench.write('validator.key', toHex(devnetValidatorKey(2).privateKey))
chmodSync(key, 0o600)

const [devnet, localnet, pow] = ['devnet', 'localnet', 'pow'].map(loadSpec) as [Spec, Spec, Spec]
type Spec = ReturnType<typeof loadSpec>
const config = (file: object) => configOf(JSON.stringify(file), { command: 'start' })

describe('how a node meets others', () => {
  it('is by listening everywhere, unless it is told otherwise', () => {
    const untold = config({})
    expect(peeringOf(untold, localnet)).toEqual({ port: 20338 })
    expect({ peers: [], ...untold.tuning.network }).toEqual(networkDefaults)
    expect(networkDefaults).toEqual({
      enabled: true,
      hosts: ['0.0.0.0', '::'],
      peers: [],
      mdns: false,
      outbound: 8,
      inbound: 32,
      inboundPerHost: 8,
    })
  })

  it('follows its configuration', () => {
    const hash = `${'00'.repeat(31)}ff`
    const network = { peers: ['192.0.2.7:1'], hosts: ['::1'], mdns: true, outbound: 0, inbound: 1, inboundPerHost: 8 }
    const file = { node: { portBase: 0 }, network: { ...network, assumeValid: `7:${hash}` } }
    expect(peeringOf(config(file), pow)).toEqual({ port: 0 })
    expect(config(file).tuning.network).toEqual({
      ...network,
      enabled: true,
      assumeValid: { height: 7, hash: new Uint8Array([0xff, ...new Uint8Array(31)]) },
    })
    expect(peeringOf(config({ node: { portBase: 30000 } }), pow)?.port).toBe(30008)
  })

  it('is not at all on a devnet, or when it is told so', () => {
    expect(peeringOf(config({}), devnet)).toBeUndefined()
    expect(peeringOf(config({ network: { enabled: false } }), localnet)).toBeUndefined()
  })

  it('is no question where peers are named in vain', () => {
    const peers = ['192.0.2.7:1']
    expect(() => peeringOf(config({ network: { peers } }), devnet)).toThrow(
      'network.peers (file node.json5:1) has no use: devnet is a devnet, and a devnet has one node',
    )
    expect(() => peeringOf(config({ network: { peers, enabled: false } }), pow)).toThrow('network.enabled is false')
  })
})

describe('what a node votes with', () => {
  const voting = config({ voting: { validatorKey: key }, storage: { dataDir: 'data' } })

  it('is the key in a file, and nothing without one', () => {
    expect(validatorOf(config({}), localnet, undefined)).toBeUndefined()
    const privateKey = Uint8Array.from(devnetValidatorKey(2).privateKey)
    expect(validatorOf(voting, localnet, undefined)).toEqual({ key: privateKey })
    expect(validatorOf(voting, localnet, 'now')).toEqual({ key: privateKey, resetSignState: 'now' })
  })

  it('has to be of use', () => {
    expect(() => validatorOf(voting, devnet, undefined)).toThrow('devnet is a devnet, which has its own')
    expect(() => validatorOf(voting, pow, undefined)).toThrow('pow is a chain without validators')
    expect(() => validatorOf(config({}), localnet, 'next')).toThrow('--reset-sign-state is for a node with a validator')
  })
})

describe('start', () => {
  it.each([
    [['--genesis', 'devnet', '--peer', '192.0.2.7:1'], 2, 'network.peers (flag --peer) has no use'],
    [['--genesis', 'localnet', '--peer', '192.0.2.7'], 2, '--peer: network.peers is not a list'],
    [['--genesis', 'localnet', '--p2p-host', 'localhost'], 2, '--p2p-host: network.hosts is not a list'],
    [['--genesis', 'localnet', '--p2p-host', 'fe80::1%eth0'], 2, 'of which none is link-local (fe80::…)'],
    [['--genesis', 'localnet', '--p2p-host', 'FE80::1'], 2, 'of which none is link-local (fe80::…)'],
    [
      ['--genesis', 'localnet', '--peer', '192.0.2.7:20338', 'node.example'],
      2,
      '"node.example"]; with a port it is node.example:20338',
    ],
    [
      ['--genesis', 'localnet', '--follow', '192.0.2.7'],
      2,
      '/ip4/192.0.2.7/tcp/20338; with a port it is 192.0.2.7:20338.',
    ],
    [['--genesis', 'localnet', '--assume-valid', '7'], 2, 'Not a height, a colon and the 64 hex digits'],
    [['--genesis', 'localnet', '--validator-key', bench.path('none')], 1, 'cannot read the validator key'],
    [['--genesis', 'localnet', '--validator-key', bench.spec], 1, 'others may read the validator key'],
    [['--genesis', 'localnet', '--reset-sign-state'], 2, 'is for a node with a validator key'],
    [['--genesis', 'localnet', '--reset-sign-state=then'], 2, 'Allowed choices are next, now'],
  ])('%j is refused before anything is opened', async (args, exitCode, message) => {
    const { code, err } = await bench.run('start', ...args)
    expect([code, err]).toEqual([exitCode, expect.stringContaining(message)])
  })

  it('takes peers one by one and together', async () => {
    const args = ['--peer', '192.0.2.7:1', '--peer', '192.0.2.8:1', '[::1]:2', '--genesis', 'pow', '--print-config']
    expect(await bench.json('start', ...args)).toMatchObject({
      network: { peers: ['192.0.2.7:1', '192.0.2.8:1', '[::1]:2'], hosts: ['0.0.0.0', '::'], mdns: false },
    })
  })
})
