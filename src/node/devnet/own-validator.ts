import { BlockRunError } from '../../ledger/chain/block-run.js'
import type { IncomingBlock } from '../../ledger/chain/chain-change.js'
import { checkConfirm } from '../../ledger/consensus/check-confirm.js'
import { sign } from '../../base/crypto/keys.js'
import { quickSigner } from '../../base/crypto/quick-signer.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { prefix, type ProgramHash, programHash, singleKeyCode } from '../../base/primitives/address.js'
import type { Block } from '../../base/primitives/block.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { confirmBytes } from '../../base/primitives/confirm.js'
import type { Header } from '../../base/primitives/header.js'
import type { OwnValidator } from '../../ledger/production/mining.js'
import { type KeySigner, soloConfirmBy } from '../../voting/sign-message.js'
import { devnetValidatorKey } from '../../clients/wallet/devnet-accounts.js'
import type { DevnetParts } from './devnet-parts.js'

export interface DevnetValidatorOptions extends Pick<DevnetParts, 'chain' | 'clock' | 'random'> {
  /** Whether blocks are made without a request for each. */
  readonly automatic: boolean
}

/** The lone validator of a devnet: confirms blocks and hands them to the chain. */
export class DevnetValidator implements OwnValidator {
  readonly payTo: ProgramHash
  readonly automatic: boolean
  readonly #options: DevnetValidatorOptions
  /** Four times as fast as one that gives the same bytes each time, which a public key does not need. */
  readonly #signer: KeySigner
  /** The block signed last: no other of that height is signed unless the chain is rewound. */
  #signed: Header | undefined

  constructor(options: DevnetValidatorOptions) {
    this.#options = options
    this.automatic = options.automatic
    const { publicKey, privateKey } = devnetValidatorKey()
    const { repeats = false } = options.random
    this.#signer = repeats ? { publicKey, sign: (message) => sign(message, privateKey) } : quickSigner(privateKey)
    this.payTo = programHash(prefix.standard, singleKeyCode(publicKey))
  }

  time(): number {
    const { chain, clock } = this.#options
    return clock.blockTime(chain.tip.header.time)
  }

  async offer(block: Block): Promise<void> {
    const { chain } = this.#options
    const { bytes, header } = block
    await this.#signing(header, header, () => chain.acceptBlock(bytes, this.#confirmOf(header)))
  }

  /** Submits blocks that follow one another, in one batch; resolves when the last one is the tip. */
  async offerRun(blocks: readonly Block[]): Promise<void> {
    const [first, last] = [blocks[0], blocks.at(-1)]
    if (first === undefined || last === undefined) return
    const { chain } = this.#options
    await this.#signing(first.header, last.header, async () => {
      try {
        await chain.acceptBlocks(blocks.map((block) => this.confirmed(block)))
      } catch (error) {
        throw error instanceof BlockRunError ? error.rule : error
      }
    })
  }

  /** One of many blocks as the chain takes it. Its signatures do not count until it is submitted. */
  confirmed({ header, bytes }: Block): Required<Pick<IncomingBlock, 'block' | 'confirm'>> {
    return { block: bytes, confirm: this.#confirmOf(header) }
  }

  /** Signs a block; the chain need not verify what its own validator signed just now. */
  #confirmOf(header: Header): Uint8Array {
    const { spec, confirmSignatures } = this.#options.chain
    const confirm = soloConfirmBy(this.#signer, header.hash, 0)
    confirmSignatures.add(checkConfirm(spec, header, confirm))
    return confirmBytes(confirm)
  }

  /** The chain was rewound: heights signed before are signed again. */
  forget(): void {
    this.#signed = undefined
  }

  /** Submits blocks from `first` to `last`, of which no other one may have been signed at their heights. */
  async #signing(first: Header, last: Header, submit: () => Promise<unknown>): Promise<void> {
    const before = this.#signed
    if (before !== undefined && before.height >= first.height && !equalBytes(before.hash, first.hash)) {
      throw new RuleError('block-stale', `the validator has signed ${before.id} at height ${before.height}`)
    }
    this.#signed = last
    try {
      await submit()
    } catch (error) {
      // The signature was not published.
      if (this.#signed === last) this.#signed = before
      throw error
    }
  }
}
