import { createECDH, createHash, createPrivateKey, sign } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { NodeProcess } from '../support/process/spawn.js'

/**
 * A transfer written byte by byte from docs/format.md, with nothing of src/: what a stranger with another language
 * would send. Account 0 of the devnet pays account 1; both keys are printed by the devnet.
 */
const privateKey = 'f8a612a395a1d03b55a3b71ef23289052c4006efe377d0a0024c332e372cff0f'
const recipient = 'ENDyipsk2GW4bBAmpRoNBV3GKV55Nxw2RD'
const sender = 'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG'
const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

const sha256 = (data: Buffer) => createHash('sha256').update(data).digest()
const reversed = (hex: string) => Buffer.from(hex, 'hex').reverse()
const u64 = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(value)
  return bytes
}
const programHash = (address: string) => {
  const value = [...address].reduce((sum, letter) => sum * 58n + BigInt(alphabet.indexOf(letter)), 0n)
  return Buffer.from(value.toString(16).padStart(50, '0'), 'hex').subarray(0, 21)
}

it('a transfer built by hand from the format page is accepted and mined', async () => {
  const devnet = await NodeProcess.start('devnet')
  onTestFinished(async () => void (await devnet.stop('SIGTERM')))
  const rest = `${devnet.line.rest}/api/v1`
  const get = async (path: string) => ((await (await fetch(`${rest}/${path}`)).json()) as { Result: unknown }).Result
  const [group] = (await get(`asset/utxos/${sender}`)) as {
    AssetId: string
    Utxo: { Txid: string; Index: number; Value: string }[]
  }[]
  const coin = group?.Utxo[0]
  if (group === undefined || coin === undefined) throw new Error('account 0 has no coins')

  const pair = createECDH('prime256v1')
  pair.setPrivateKey(privateKey, 'hex')
  const point = pair.getPublicKey()
  const publicKey = pair.getPublicKey(null, 'compressed')
  const output = (value: bigint, address: string) =>
    Buffer.concat([reversed(group.AssetId), u64(value), Buffer.alloc(4), programHash(address)])
  const held = BigInt(coin.Value.replace('.', ''))
  const unsigned = Buffer.concat([
    Buffer.from('0200', 'hex'), // transfer, payload version 0
    Buffer.from('01000131', 'hex'), // one attribute: a nonce of one byte
    Buffer.from([1]),
    reversed(coin.Txid),
    Buffer.from([coin.Index, 0]),
    Buffer.from('ffffffff', 'hex'),
    Buffer.from([2]),
    output(150_000_000n, recipient),
    output(held - 150_000_000n - 100n, sender),
    Buffer.alloc(4), // lockTime
  ])
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: Buffer.from(privateKey, 'hex').toString('base64url'),
      x: point.toString('base64url', 1, 33),
      y: point.toString('base64url', 33, 65),
    },
  })
  const signature = sign('sha256', unsigned, { key, dsaEncoding: 'ieee-p1363' })
  const program = Buffer.concat([
    Buffer.from('014140', 'hex'), // one program; a parameter of 65 bytes: 40 and the signature
    signature,
    Buffer.from('2321', 'hex'), // a code of 35 bytes: 21, the key, ac
    publicKey,
    Buffer.from('ac', 'hex'),
  ])
  const data = Buffer.concat([unsigned, program]).toString('hex')
  const response = await fetch(`${rest}/transaction`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ Action: 'sendrawtransaction', data }),
  })
  const txid = sha256(sha256(unsigned)).reverse().toString('hex')
  expect(await response.json()).toEqual({ Desc: 'Success', Error: 0, Result: txid })
  const mined = async () => ((await get(`transaction/${txid}`)) as { confirmations: number }).confirmations
  while ((await mined()) === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  expect(await get(`asset/balances/${recipient}`)).toBe('10001.50000000')
})
