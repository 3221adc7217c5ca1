/** Proofs of answers about DIDs, as a node writes them and a light resolver reads them (docs/format.md). */

/** The block that an answer is as of. Texts are base64url; `root` is hex. */
export interface AnchorJson {
  /** 84 bytes. */
  readonly header: string
  /** The unsigned part. */
  readonly coinbase: string
  /** 32 bytes for each level: the way of the coinbase to the merkle root. */
  readonly branch: string
  /** On a chain with validators: a quorum of them, without what follows from the header and their keys. */
  readonly confirm?: string
  /** The map root, where no map proof follows. */
  readonly root?: string
  /** Lines of witnesses over this block, as C2SP signed-note has them. */
  readonly cosignatures?: readonly string[]
}

/** Proof of a key's way through the map: it ends with a leaf of another key, a history of this one, or neither for an empty place. */
export interface MapProofJson {
  readonly depth: number
  /** base64url: a bitmap of the depths whose sibling is not empty, then those siblings, the one below the root first. */
  readonly path: string
  /** base64url: key and value of another leaf. */
  readonly leaf?: string
  readonly history?: {
    readonly state: number
    readonly count: number
    /** base64url: the last ones, oldest first, 73 bytes each. */
    readonly entries: string
    /** Hex: the digest of those before. */
    readonly base?: string
  }
}

/** Proof of an answer, up to the validators who confirmed its block, or to the work on it. */
export interface StateProof {
  readonly format: 'didledger/proof/1'
  /** Hash of the genesis block, display hex. */
  readonly chain: string
  readonly anchor: AnchorJson
  /** One for a DID; for a credential those of its owner, its issuer and the DID in the request, as far as they differ. */
  readonly maps: readonly MapProofJson[]
}

/** How an answer is proved. */
export interface ProofOptions {
  /** `true`: the operations from the oldest one in the answer on; `history`: all. */
  readonly proof?: true | 'history'
  /** With `proof`, one of two: as of so many blocks below the tip; by default 0, and 6 on a chain without validators. */
  readonly depth?: number
  /** As of the block of this height. */
  readonly height?: number
}

/** A list of validators and the block that names it. */
export interface ChangeJson {
  /** The first block that they confirm. */
  readonly height: number
  /** Hex, in duty order; absent on a chain without validators. */
  readonly validators?: readonly string[]
  /** Anchor of the block before, with its map root. */
  readonly anchor: AnchorJson
}

/** Changes of validators, ascending. */
export interface ChangesJson {
  readonly format: 'didledger/changes/1'
  readonly chain: string
  /** Height of the tip. */
  readonly tip: number
  readonly changes: readonly ChangeJson[]
  /** Whether there are later ones. */
  readonly more: boolean
}
