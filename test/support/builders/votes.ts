import { concat, fromUtf8 } from '../../../src/base/primitives/bytes.js'
import { type Hash, sha256, zeroHash } from '../../../src/base/primitives/hash.js'
import { Header } from '../../../src/base/primitives/header.js'
import type {
  NilPrecommitMessage,
  PrecommitMessage,
  PrevoteMessage,
  ProposalMessage,
} from '../../../src/voting/tendermint/message.js'

/** Voting messages with keys and signatures that are only as long as real ones, for what never verifies them. */

export function fakeKeys(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, place) => concat(Uint8Array.of(2), sha256(`key ${place}`)))
}

export function fakeSignature(about: string): Uint8Array {
  const half = sha256(about)
  return concat(half, half)
}

/** A header of a height, another one for every `name`. */
export function fakeHeader(height: number, name: string): Header {
  const merkleRoot = sha256(fromUtf8(name))
  return new Header({ version: 0, previous: zeroHash, merkleRoot, time: 0, bits: 0x207fffff, nonce: 0, height })
}

/** The messages that the validators of one height can send. */
export class Voters {
  readonly keys: readonly Uint8Array[]
  readonly height: number

  constructor(count: number, height: number) {
    this.keys = fakeKeys(count)
    this.height = height
  }

  sponsorOf(view: number): number {
    return (this.height + view) % this.keys.length
  }

  key(place: number): Uint8Array {
    const key = this.keys[place]
    if (key === undefined) throw new RangeError(`no validator ${place}`)
    return key
  }

  proposal(view: number, header: Header, prevotes: readonly PrevoteMessage[] = []): ProposalMessage {
    const sponsor = this.key(this.sponsorOf(view))
    const signature = fakeSignature('proposal')
    const proposal = { sponsor, blockHash: header.hash, viewOffset: view, signature }
    const validView = prevotes[0]?.view ?? -1
    return { kind: 'proposal', height: this.height, validView, header, proposal, signature, prevotes }
  }

  prevote(place: number, view: number, blockHash: Hash | undefined): PrevoteMessage {
    const signature = fakeSignature('prevote')
    return { kind: 'prevote', height: this.height, view, blockHash, signer: this.key(place), signature }
  }

  precommit(place: number, view: number, header: Header): PrecommitMessage {
    const { proposal, signature } = this.proposal(view, header)
    return { kind: 'precommit', height: this.height, header, proposal, signer: this.key(place), signature }
  }

  nilPrecommit(place: number, view: number): NilPrecommitMessage {
    const signature = fakeSignature('precommit')
    return { kind: 'precommit-nil', height: this.height, view, signer: this.key(place), signature }
  }
}
