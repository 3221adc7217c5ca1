import type { LookupAddress } from 'node:dns'
import { describe, expect, it } from 'vitest'
import { dialTargetsOf, parseDialAddress } from '../../../../src/network/transport/dial-target.js'

const records: readonly LookupAddress[] = [
  { address: '192.0.2.7', family: 4 },
  { address: '2001:db8::7', family: 6 },
]

/** Names as the system finds them: all addresses, or those of one IP version. */
const find = async (host: string, { family }: { family?: number | string | undefined }) => {
  const found = records.filter((record) => host !== 'four.example' || record.family === 4)
  const asked = found.filter((record) => family === 0 || record.family === family)
  if (asked.length === 0) throw new Error('ENOTFOUND')
  return asked
}

const targets = async (address: string, most = 9) =>
  (await dialTargetsOf(parseDialAddress(address), most, find)).map(({ host, port }) => `${host} ${port}`)

describe('the targets of an address', () => {
  it.each([
    ['node.example:1', ['192.0.2.7 1', '2001:db8::7 1']],
    ['/dns/node.example/tcp/1', ['192.0.2.7 1', '2001:db8::7 1']],
    ['/dns4/node.example/tcp/1', ['192.0.2.7 1']],
    ['/dns6/node.example/tcp/1', ['2001:db8::7 1']],
    ['/ip6/::1/tcp/1', ['::1 1']],
    ['[::1]:1', ['::1 1']],
    ['192.0.2.9:1', ['192.0.2.9 1']],
  ])('of %s are %j', async (address, expected) => {
    expect(await targets(address)).toEqual(expected)
  })

  it('are at most so many', async () => {
    expect(await targets('node.example:1', 1)).toEqual(['192.0.2.7 1'])
  })

  it('are missed in words, with the IP version that was asked for', async () => {
    await expect(targets('/dns6/four.example/tcp/1')).rejects.toThrow(
      'the host four.example has no known address of IPv6',
    )
    await expect(
      dialTargetsOf(parseDialAddress('gone.example:1'), 1, () => Promise.reject(new Error('ENOTFOUND'))),
    ).rejects.toThrow('the host gone.example is not known')
  })
})
