import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createNode, type LedgerNode } from '../../../src/index.js'

/** Signing in the page of a devnet, against one whose accounts are of an own mnemonic, and whose blocks are made by hand. */

/** As `src/explorer/sign/devnet-wallet.ts` has it, which only browsers can type. */
interface DevnetWallet {
  send(index: number, to: string, amount: string): Promise<string>
  createDid(index: number): Promise<string>
  issue(index: number, credential: object): Promise<string>
  declare(index: number, credential: string): Promise<string>
}

const mnemonic = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
let node: LedgerNode
let wallet: DevnetWallet
const account = (index: number) => node.wallet.account(index)
const credential = { types: ['DegreeCredential'], claims: { degree: 'BSc' } }

beforeAll(async () => {
  node = await createNode({ network: 'devnet', api: { portBase: 0 }, mining: 'manual', mnemonic })
  vi.stubGlobal('document', { baseURI: `${node.api?.rest}/` })
  wallet = (await import(
    fileURLToPath(new URL('../../../src/explorer/sign/devnet-wallet.ts', import.meta.url))
  )) as DevnetWallet
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await node.close()
})

async function mined(...txids: string[]): Promise<void> {
  await node.devnet?.mine(1)
  for (const txid of txids) expect(node.chain.transaction(txid)?.height).toBe(node.chain.height)
}

describe('the page of a devnet', () => {
  it('sends twice before a block, and to the address of a DID', async () => {
    const before = node.chain.balance(account(1).address)
    await mined(await wallet.createDid(1))
    const created = before - node.chain.balance(account(1).address)
    await mined(await wallet.send(0, account(1).did, '1.5'), await wallet.send(0, ` ${account(1).address} `, '2'))
    expect(node.chain.balance(account(1).address)).toBe(before - created + 350_000_000n)
  })

  it('sends ten times at once, and no payment takes the place of another', async () => {
    const before = node.chain.balance(account(4).address)
    const sent = await Promise.all(Array.from({ length: 10 }, () => wallet.send(3, account(4).address, '1')))
    expect(node.mempool.entries().map(({ transaction }) => transaction.txid)).toEqual(expect.arrayContaining(sent))
    await mined(...sent)
    expect(node.chain.balance(account(4).address)).toBe(before + 1_000_000_000n)
  })

  it('registers a DID with its second key, issues in its name, and declares', async () => {
    await mined(await wallet.createDid(2))
    const text = await wallet.issue(2, { ...credential, subject: account(1).did })
    const { id, issuer } = JSON.parse(text) as { id: string; issuer: string }
    expect([id, issuer]).toEqual([expect.stringMatching(`^${account(1).did}#degree-[0-9a-f]{8}$`), account(2).did])
    await mined(await wallet.declare(1, text))
    expect(await node.resolver.resolveCredential(id)).toMatchObject({ status: 0 })
    await node.wallet.deactivateDid({ account: account(2) })
    await mined()
    await expect(wallet.issue(2, credential)).rejects.toThrow('is deactivated')
  })

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['an amount', () => wallet.send(0, account(1).address, 'much'), /^much is no amount/],
    ['more than there is', () => wallet.send(0, account(1).address, '20000'), /^not enough coins/],
    ['a payee', () => wallet.send(0, 'Ada', '1'), /^Ada is neither an address nor a DID/],
    ['a DID without a key to pay', () => wallet.send(0, account(5).did, '1'), /is not registered/],
    ['an issuer without a DID', () => wallet.issue(5, credential), /is not registered: create it first/],
    ['an account that is not shown', () => wallet.createDid(10), /shows no account 10/],
  ])('names %s that is refused', async (_, call, reason) => {
    await expect(call()).rejects.toThrow(reason)
  })

  it('hands on the words of the node', async () => {
    await expect(wallet.createDid(1)).rejects.toMatchObject({
      code: -32000,
      detail: expect.stringContaining('is created already'),
    })
  })

  it('declares in the name of the holder alone', async () => {
    await mined(await wallet.createDid(3))
    const text = await wallet.issue(3, credential)
    await expect(wallet.declare(1, text)).rejects.toThrow(`only its holder ${account(3).did} can declare`)
  })
})
