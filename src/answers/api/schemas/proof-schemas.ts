import { Type } from '@sinclair/typebox'
import { closed, hash, publicKey, uint32 } from './common-schemas.js'

/** Proofs of answers, and what light resolvers follow a chain by (docs/format.md). */

function base64url(description: string) {
  return Type.String({ pattern: '^[A-Za-z0-9_-]*$', description: `${description}, in base64url` })
}

const digest = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description })

const cosignatures = (what: string) =>
  Type.Array(Type.String(), { maxItems: 16, description: `lines of witnesses ${what}, as C2SP signed-note has them` })

const anchor = closed(
  {
    header: base64url('84 bytes'),
    coinbase: base64url('its unsigned part'),
    branch: base64url('hashes that lead from its txid to the merkle root of the header'),
    confirm: Type.Optional(
      base64url('on a chain with validators: view, signature of the proposal, voters, their signatures'),
    ),
    root: Type.Optional(digest('root of the map of DIDs, where no map proof follows')),
    cosignatures: Type.Optional(cosignatures('over this block')),
  },
  'the block as of which the answer is',
)

const mapProof = closed(
  {
    depth: Type.Integer({ minimum: 0, maximum: 256, description: 'siblings on the way of the key' }),
    path: base64url('a bitmap of the depths whose sibling is not empty, then those siblings from the root on'),
    leaf: Type.Optional(base64url('key and value of another leaf at the end of the way')),
    history: Type.Optional(
      closed(
        {
          state: Type.Integer({ minimum: 1, maximum: 2, description: '2: deactivated, or revoked' }),
          count: Type.Integer({ minimum: 1, description: 'operations' }),
          entries: base64url('the last of them, oldest first, 73 bytes each'),
          base: Type.Optional(digest('digest of the operations before these')),
        },
        'the operations of the key',
      ),
    ),
  },
  'what the map of DIDs has of a key; neither leaf nor history: nothing is there',
)

export const stateProof = closed(
  {
    format: Type.Literal('didledger/proof/1'),
    chain: hash('of the genesis block, display order'),
    anchor,
    maps: Type.Array(mapProof, { minItems: 1, maxItems: 3 }),
  },
  'leads from the answer to the validators who confirmed the block, or to the work on it',
)

export const change = closed({
  height: uint32('the first block that they confirm'),
  validators: Type.Optional(Type.Array(publicKey('in duty order'))),
  anchor,
})

export const changes = closed({
  format: Type.Literal('didledger/changes/1'),
  chain: hash('of the genesis block, display order'),
  tip: uint32('its height'),
  changes: Type.Array(change, { maxItems: 100, description: 'ascending' }),
  more: Type.Boolean({ description: 'whether there are later ones' }),
})

export const witnessed = closed({
  format: Type.Literal('didledger/witnessed/1'),
  chain: hash('of the genesis block, display order'),
  heads: Type.Array(closed({ height: uint32('of a block'), cosignatures: cosignatures('over it') }), { maxItems: 16 }),
})

/** A head as it is sent to be compared. */
export const head = Type.Object({ chain: hash('of the genesis block, display order'), anchor })

const seconds = (description: string) => Type.Integer({ minimum: 0, description: `seconds ${description}` })

export const trust = closed({
  format: Type.Literal('didledger/trust/1'),
  chain: hash('of the genesis block, display order'),
  header: base64url('84 bytes of genesis'),
  devnet: Type.Boolean({ description: 'a chain with a virtual clock, whose keys are public' }),
  validators: Type.Optional(Type.Array(publicKey('who confirm block 1, in duty order'))),
  powLimitBits: Type.Optional(uint32('this and the next two without validators, as in the spec')),
  retarget: Type.Optional(closed({ interval: uint32('blocks'), spacing: seconds('between two blocks') })),
  auxpowChainId: Type.Optional(uint32('of merge-mining')),
  maxAge: seconds('that the newest block of a chain is old at most'),
  maxDrift: seconds('that its time is ahead at most'),
})

export const headers = Type.Array(base64url('84 bytes, the AuxPow, 01'), { maxItems: 2000 })

/** Parameters. */

export const proofParam = Type.Optional(
  Type.Union([Type.Literal(true), Type.Literal('history')], {
    description: '`true`: with a proof by the operations from the oldest in the answer on; `"history"`: by all',
  }),
)

/** The block as of which is proved; one of them at most. */
export const blockParams = {
  depth: Type.Optional(
    uint32('of the block as of which is proved, below the tip; 0 by default, 6 on a chain without validators'),
  ),
  height: Type.Optional(uint32('of that block')),
}

/** The same beside `proof`. */
export const proofParams = { proof: proofParam, ...blockParams }
