import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  DefaultDIDAdapter,
  DID,
  DIDBackend,
  type DIDDocument,
  DIDStore,
  RootIdentity,
} from '@elastosfoundation/did-js-sdk'
import { NodeProcess } from '../../support/process/spawn.js'
import { publish } from '../support/publish.js'

/** Of every store. */
export const storePassword = 'a password'
const mnemonic = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'

/** Asks a node, and has the command put operations on its chain. */
class LedgerAdapter extends DefaultDIDAdapter {
  constructor(readonly node: NodeProcess) {
    // Endpoints of the SDK end in a path.
    super(`${node.line.rpc}/eid`)
  }

  override async createIdTransaction(operation: string): Promise<void> {
    await publish(this.node, operation)
  }
}

interface Wallet {
  readonly store: DIDStore
  readonly identity: RootIdentity
}

/** The SDK, with the keys of one mnemonic, against a devnet of its own. */
export class Sdk implements Wallet {
  private constructor(
    readonly node: NodeProcess,
    readonly store: DIDStore,
    readonly identity: RootIdentity,
    private readonly directory: string,
  ) {}

  static async start(): Promise<Sdk> {
    const node = await NodeProcess.start('devnet')
    DID.METHOD = 'ledger'
    DIDBackend.initialize(new LedgerAdapter(node))
    const directory = mkdtempSync(join(tmpdir(), 'didledger-sdk-'))
    const { store, identity } = await walletIn(directory)
    return new Sdk(node, store, identity, directory)
  }

  async stop(): Promise<void> {
    await this.node.stop()
    rmSync(this.directory, { recursive: true, force: true })
  }

  /** A DID that is on the chain: the next one of the mnemonic. */
  async published(): Promise<DIDDocument> {
    const document = await this.identity.newDid(storePassword)
    await document.publish(storePassword)
    return document
  }

  /** The document of a builder, signed and in the store. */
  async sealed(builder: DIDDocument.Builder): Promise<DIDDocument> {
    const document = await builder.seal(storePassword)
    await this.store.storeDid(document)
    return document
  }

  /** Publishes an update with a previous transaction that the SDK would not choose. */
  async updateOnTopOf(document: DIDDocument, previousTxid: string): Promise<void> {
    const key = document.getDefaultPublicKeyId()
    await DIDBackend.getInstance().updateDid(document, previousTxid, key, storePassword, new LedgerAdapter(this.node))
  }

  /** A second store with the same mnemonic, and without DIDs. */
  emptyStore(): Promise<Wallet> {
    return walletIn(mkdtempSync(join(this.directory, 'store-')))
  }
}

async function walletIn(directory: string): Promise<Wallet> {
  const store = await DIDStore.open(join(directory, 'data'))
  return { store, identity: await RootIdentity.createFromMnemonic(mnemonic, '', store, storePassword) }
}
