import { accountSource } from '../../../src/clients/wallet/accounts.js'
import { repositoryFile } from '../assert/markdown.js'
import { issueCredential } from '../builders/did.js'
import { quickSigner } from '../builders/signatures.js'
import { mnemonic, type ScenarioInput } from './scenario.js'

/** The published vectors, the spec of the devnet, and a credential that account 0 signs for itself. */
export function scenarioInput(): ScenarioInput {
  const vectors = <T>(name: string) => {
    return (JSON.parse(repositoryFile(`test/vectors/${name}.json`)) as { vectors: T }).vectors
  }
  const { did, privateKey } = accountSource({ kind: 'mnemonic', mnemonic })(0)
  return {
    documents: vectors('did-documents'),
    credentials: vectors('credentials'),
    operations: vectors('did-operations'),
    transactions: vectors('transactions'),
    spec: repositoryFile('genesis/devnet.json'),
    credentialOfAda: issueCredential(did, quickSigner(privateKey), did, {}),
  }
}
