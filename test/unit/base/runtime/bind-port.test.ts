import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, expect, it } from 'vitest'
import { type BindOptions, bindPort, closeServer } from '../../../../src/base/runtime/bind-port.js'

const open = new Set<Server>()
afterEach(async () => {
  await Promise.all([...open].map((server) => closeServer(server)))
  open.clear()
})

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

function made(): Server {
  const server = createServer((socket) => socket.end())
  open.add(server)
  return server
}

async function bind(hosts: readonly string[], options: Partial<BindOptions> = {}) {
  const { port, servers } = await bindPort({ hosts, port: 0, ...options }, made)
  const addresses = [...servers.values()].map((server) => (server.address() as AddressInfo).address)
  return { port, hosts: [...servers.keys()], addresses }
}

async function isReached(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

it('binds one port on all of both families', async () => {
  for (const hosts of [
    ['0.0.0.0', '::'],
    ['::', '0.0.0.0'],
    ['::', '127.0.0.1'],
  ]) {
    const { port, addresses } = await bind(hosts)
    expect(addresses).toHaveLength(hasIpv6 ? 2 : 1)
    expect(await isReached('127.0.0.1', port)).toBe(true)
    expect(await isReached('::1', port)).toBe(hasIpv6)
  }
})

it('takes IPv4 by :: alone, unless that is for IPv6 only', async () => {
  if (!hasIpv6) return expect(bind(['::'])).rejects.toThrow('none of the addresses :: exists here')
  expect(await isReached('127.0.0.1', (await bind(['::'])).port)).toBe(true)
  expect(await isReached('127.0.0.1', (await bind(['::'], { ipv6Only: true })).port)).toBe(false)
})

it.each([
  [['127.0.0.1', '127.0.0.1'], ['127.0.0.1']],
  [['127.0.0.1', '::ffff:127.0.0.1'], ['127.0.0.1']],
  [['::FFFF:7f00:1', '127.0.0.1'], ['127.0.0.1']],
  [['127.0.0.1', '0.0.0.0'], ['0.0.0.0']],
  [['::ffff:0.0.0.0', '127.0.0.2', '127.0.0.1'], ['0.0.0.0']],
  [
    ['127.0.0.2', '127.0.0.1'],
    ['127.0.0.2', '127.0.0.1'],
  ],
  ...(hasIpv6
    ? [
        [['::1', '0:0:0:0:0:0:0:1', '[::1]', '0::1'], ['::1']],
        [['::1', '::'], ['::']],
        [['0::0', '::'], ['::']],
      ]
    : []),
])('binds an address once, however it is written: %j', async (hosts, expected) => {
  expect((await bind(hosts)).addresses).toEqual(expected)
})

it('counts a name as the address that it has, and keeps it as the name of its server', async () => {
  const { addresses, hosts } = await bind(['localhost', '127.0.0.1', '::1'])
  expect(new Set(addresses).size).toBe(addresses.length)
  expect(hosts).toContain('localhost')
})

it('says what is wrong, and leaves nothing open', async () => {
  const taken = made().listen(0, '127.0.0.2')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  await expect(bind(['127.0.0.1', '127.0.0.2'], { port, portFlag: '--port N' })).rejects.toThrow(
    `port ${port} of 127.0.0.1 or 127.0.0.2 is in use; stop what listens there, or use --port N`,
  )
  expect(await isReached('127.0.0.1', port)).toBe(false)
  await expect(bind(['192.0.2.1'])).rejects.toThrow('the address 192.0.2.1 does not exist on this machine')
  await expect(bind(['no-such-host.invalid'])).rejects.toThrow('the name no-such-host.invalid cannot be resolved')
})

it.runIf(hasIpv6)('asks for the interface of an address that each of them may have', async () => {
  await expect(bind(['fe80::1'])).rejects.toThrow(
    'the address fe80::1 is one of each interface: name which, as fe80::1%eth0',
  )
})
