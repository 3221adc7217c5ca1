import { publicKeyFromRaw } from '@libp2p/crypto/keys'
import { peerIdFromPublicKey } from '@libp2p/peer-id'
import { ed25519 } from '@noble/curves/ed25519.js'
import { describe, expect, it } from 'vitest'
import { addressHint, isPeerAddress } from '../../../../src/network/address/address-text.js'
import { keyOfPeerName, peerName } from '../../../../src/network/address/peer-identity.js'
import { parseAssumed } from '../../../../src/network/assumed-block.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'

const publicKey = ed25519.getPublicKey(new Uint8Array(32).fill(9))
const name = peerName(publicKey)

/** A name of so many characters. */
const nameOf = (length: number) => 'a.'.repeat(126).padEnd(length, 'a').slice(0, length)

describe('an address of a node', () => {
  it('has a name of at most 253 characters, and a dot behind them', () => {
    for (const host of [nameOf(253), `${nameOf(253)}.`]) expect(isPeerAddress(`${host}:1`), host).toBe(true)
    for (const host of [nameOf(254), `${nameOf(254)}.`]) expect(isPeerAddress(`${host}:1`), host).toBe(false)
  })

  it.each([
    '192.0.2.7:20338',
    '[2001:db8::7]:20338',
    'node-1.example.org:1',
    'localhost:65535',
    'node_1:20338',
    '_p2p.example.org:1',
    'node-1.example.org.:1',
    '/dns/stack_node-1/tcp/1',
    '/ip4/192.0.2.7/tcp/20338',
    `/ip4/192.0.2.7/tcp/20338/p2p/${name}`,
    `/ip6/::1/tcp/20338/p2p/${name}`,
    '/dns/example.org/tcp/1',
    '/dns4/example.org/tcp/1',
    '/dns6/example.org/tcp/1',
  ])('can be %s', (text) => expect(isPeerAddress(text)).toBe(true))

  it.each([
    '',
    '192.0.2.7',
    '192.0.2.7:',
    '192.0.2.7:0',
    '192.0.2.7:65536',
    '192.0.2.7:020338',
    '192.0.2:1',
    '192.0.2.256:1',
    '::1:20338',
    '[192.0.2.7]:1',
    '-a.example:1',
    'a..b:1',
    'a..:1',
    '192.0.2.7.:1',
    '[fe80::1]:1',
    '[fe80::1%eth0]:1',
    '/ip6/fe80::1/tcp/1',
    'a b:1',
    'http://192.0.2.7:20338',
    '/ip4/::1/tcp/1',
    '/ip6/192.0.2.7/tcp/1',
    '/ip4/192.0.2.7/udp/1',
    '/ip4/192.0.2.7/tcp/0',
    '/ip4/192.0.2.7/tcp/1/',
    '/ip4/192.0.2.7/tcp/1/p2p',
    '/ip4/192.0.2.7/tcp/1/p2p/0x',
    `/ip4/192.0.2.7/tcp/1/p2p/${name}/x`,
    '/ip4/192.0.2.7/tcp/1/ws',
    '/dns4/192.0.2.7/tcp/1',
  ])('cannot be %s', (text) => expect(isPeerAddress(text)).toBe(false))

  it.each([
    ['192.0.2.7', '192.0.2.7:20338'],
    ['192.0.2.7:', '192.0.2.7:20338'],
    ['node.example', 'node.example:20338'],
    ['2001:db8::7', '[2001:db8::7]:20338'],
    ['[2001:db8::7]', '[2001:db8::7]:20338'],
    ['/ip4/192.0.2.7', '/ip4/192.0.2.7/tcp/20338'],
    ['/dns/node.example', '/dns/node.example/tcp/20338'],
  ])('lacks a port as %s, and is one as %s', (text, whole) => {
    expect(addressHint(text)).toBe(`; with a port it is ${whole}`)
  })

  it.each(['', '192.0.2.7:1', '192.0.2.7:0', 'a b', '/ip4/192.0.2.7/tcp/', '/ip4/192.0.2.7/tcp/1', 'http://192.0.2.7'])(
    'lacks more than a port, or nothing, as %j',
    (text) => expect(addressHint(text)).toBe(''),
  )

  it.each(['[fe80::1%eth0]:20338', '[FE80::1]:20338', '/ip6/fe80::1/tcp/20338'])(
    'is none that is link-local: %s',
    (text) => expect(addressHint(text)).toMatch(/link-local .* cannot be dialled/),
  )

  it('ends in the name of a node, which is the one that libp2p gives its key', () => {
    expect(name).toBe(peerIdFromPublicKey(publicKeyFromRaw(publicKey)).toString())
    expect(toHex(keyOfPeerName(name) as Uint8Array)).toBe(toHex(publicKey))
    for (const text of ['', '192.0.2.7', `${name}0`, `${name}1`, name.slice(20), name.repeat(9)])
      expect(keyOfPeerName(text), text).toBeUndefined()
  })
})

describe('the block that signatures are trusted up to', () => {
  const hash = `${'ab'.repeat(31)}01`

  it('is a height and a hash in display order', () => {
    const assumed = parseAssumed(`12:${hash}`)
    expect(assumed?.height).toBe(12)
    expect(toHex(assumed?.hash as Uint8Array)).toBe(`01${'ab'.repeat(31)}`)
  })

  it.each([`0:${hash}`, `4294967296:${hash}`, `-1:${hash}`, `12:${hash}0`, '12', `12:${hash}\n`, `012:${hash}`, hash])(
    'is not %j',
    (text) => expect(parseAssumed(text)).toBeUndefined(),
  )
})
