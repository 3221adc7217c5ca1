import { didOf } from '../../base/primitives/did-key.js'
import type { ChangeJson, ChangesJson, StateProof } from '../../identity/did/state-proof.js'
import type { TrustJson } from '../../identity/proofs/make-trust.js'
import { provedEntry } from '../prover/map-proofs.js'
import type { WantedBlock } from '../prover/prover.js'
import { askedCredential, type CredentialAnswers, type CredentialAnswersOptions } from './credential-answers.js'
import { existingKey, identifierOf } from './did-key.js'
import { readWantedBlock } from './resolve-request.js'

export interface ProofAnswersOptions extends Pick<CredentialAnswersOptions, 'prover' | 'reader' | 'gate'> {
  readonly credentials: Pick<CredentialAnswers, 'prove'>
}

/**
 * Proofs of the state of the chain, for documents from any source, and data by which light resolvers follow a chain. Each is as of the tip,
 * of a block so many below, or of one height; `proof-unavailable` if this node has none. Each names its block, and so its age.
 */
export class ProofAnswers {
  readonly #options: ProofAnswersOptions

  constructor(options: ProofAnswersOptions) {
    this.#options = options
  }

  /**
   * The latest state of a DID, or that there is none; `history`: all of its operations. Undefined where they have more than `most`
   * bytes.
   */
  async did(
    text: string,
    { history = false, most = Infinity, ...wanted }: WantedBlock & { history?: boolean; most?: number },
  ): Promise<StateProof | undefined> {
    const identifier = identifierOf(text)
    const asked = { did: didOf(identifier), key: existingKey(identifier), from: history ? 0 : Infinity }
    const checked = readWantedBlock(wanted)
    const { prover, reader, gate } = this.#options
    gate.require(true)
    return reader.read(async (tip) => {
      const block = await prover.block(tip, checked)
      if (history && prover.operationCount(block, asked.key) * provedEntry > most) return undefined
      return this.#present(prover.proof(block, [await prover.didMap(block, asked)]))
    })
  }

  /** Proves the operations that count for a credential, by its id in full. */
  async credential(
    id: string,
    { issuer, ...wanted }: WantedBlock & { issuer?: string | undefined },
  ): Promise<StateProof> {
    const asked = askedCredential(id, issuer)
    const checked = readWantedBlock(wanted)
    const { credentials, reader, gate } = this.#options
    gate.require(true)
    return reader.read((tip) => this.#present(credentials.prove(tip, asked, checked)))
  }

  /** A proof which shows that something is there; one that nothing is there needs a node in step. */
  async #present(made: Promise<StateProof>): Promise<StateProof> {
    const proof = await made
    if (proof.maps.every(({ history }) => history === undefined)) this.#options.gate.requireAll()
    return proof
  }

  /** The trust root of the chain by this node: for clients that trust the node at first, and watch whether the root changes. */
  trust(): TrustJson {
    return this.#options.prover.trust()
  }

  /** The validators after a block, with the anchor of that block. */
  async anchor(wanted: WantedBlock): Promise<ChangeJson> {
    const checked = readWantedBlock(wanted)
    const { prover, reader, gate } = this.#options
    gate.require(true)
    return reader.read((tip) => prover.change(tip, checked))
  }

  /** The changes of validators with heights above one, at most 100. */
  async changes(from: number): Promise<ChangesJson> {
    const { prover, reader, gate } = this.#options
    gate.require(true)
    return reader.read((tip) => prover.changes(tip, from))
  }

  /** Headers with their work from a height on, at most 2000, in base64url. */
  async headers(from: number, count: number): Promise<string[]> {
    const { prover, reader, gate } = this.#options
    gate.require(true)
    return reader.read(() => prover.headers(from, count))
  }
}
