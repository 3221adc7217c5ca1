import { getResolver } from 'didledger-client/resolver'
import { accountSource, generateMnemonic, systemRandom } from 'didledger-client/wallet'
import { Ledger } from '../ledger.js'

/** Makes a wallet, gets coins for it from the faucet of a devnet, registers its DID and resolves it as the W3C has it. */
export async function createFundedDid(node) {
  const ledger = new Ledger(node)
  const mnemonic = generateMnemonic(systemRandom)
  const account = accountSource({ kind: 'mnemonic', mnemonic })(0)
  await ledger.mined(await ledger.call('dev_faucet', { address: account.address, amount: '1' }))
  const did = await ledger.createDid(account)
  const [, method, id] = did.split(':')
  const { didDocument, didResolutionMetadata } = await getResolver(ledger.resolver)[method](did, { method, id })
  if (didDocument === null) throw new Error(didResolutionMetadata.message ?? didResolutionMetadata.error)
  return { mnemonic, did, document: didDocument }
}
