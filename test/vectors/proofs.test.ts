import { afterAll, describe, expect, it } from 'vitest'
import { checkCommitment, checkDidRoot, namesNextValidators } from '../../src/ledger/consensus/commitment.js'
import { equalBytes, hex, parseDisplayHash, toHex } from '../../src/base/primitives/bytes.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { operationForms, type OperationName } from '../../src/base/primitives/did-operation.js'
import { coinbaseInput } from '../../src/base/primitives/input.js'
import { attributeUsage, Transaction } from '../../src/base/primitives/transaction.js'
import { sha256 } from '../../src/base/primitives/hash.js'
import { decodeCommitments, isCommitments } from '../../src/identity/proofs/commitment.js'
import {
  emptyHistory,
  entryBytes,
  extendHistory,
  readEntry,
  valueOfHistory,
} from '../../src/identity/proofs/history.js'
import { credentialOrder, didOrder } from '../../src/identity/proofs/history-order.js'
import { checkMapProof, mapProofJson } from '../../src/identity/proofs/map-proof.js'
import { credentialMapKey, didMapKey, didRoot } from '../../src/identity/proofs/map-tree.js'
import { ProofError } from '../../src/identity/proofs/proof-failure.js'
import { changeMapSteps, inKeyOrder, type LeafChange } from '../../src/ledger/storage/rows/map/change-map.js'
import { readWay } from '../../src/ledger/storage/rows/map/read-way.js'
import { finish } from '../../src/base/primitives/steps.js'
import { codeOf } from '../support/assert/code-of.js'
import { oneValidator, withoutValidators } from '../support/builders/chain.js'
import { memoryPages } from '../support/builders/map-pages.js'
import { testSpec } from '../support/builders/spec.js'
import { openVectors } from '../support/builders/vectors.js'

interface MapVector {
  readonly description: string
  readonly genesis: string
  readonly blocks: readonly {
    readonly height: number
    readonly time: number
    readonly operations: readonly {
      readonly operation: OperationName
      readonly did?: string
      readonly credential?: string
      readonly signer?: string
      readonly txid: string
      readonly payload: string
      readonly key: string
      readonly entry: string
      readonly historyDigest: string
      readonly leafValue: string
    }[]
    readonly mapRoot: string
    readonly didRoot: string
  }[]
  readonly proofs: readonly {
    readonly afterHeight: number
    readonly about: string
    readonly did?: string
    readonly credential?: string
    readonly signer?: string
    readonly kind: string
    readonly proof: { readonly depth: number; readonly path: string; readonly leaf?: string; readonly history?: object }
  }[]
}

interface Vectors {
  readonly maps: readonly MapVector[]
  readonly refused: {
    readonly genesis: string
    readonly didRoot: string
    readonly cases: readonly { about: string; did: string; genesis?: string; proof: unknown; expected: string }[]
  }
  readonly pure: {
    readonly steps: readonly {
      readonly change: 'put' | 'delete'
      readonly key: string
      readonly value?: string
      readonly mapRoot: string
      readonly asked: string
      readonly depth: number
      readonly path: string
      readonly leaf?: string
    }[]
  }
  readonly commitments: {
    readonly witnessRoot: string
    readonly didRoot: string
    readonly nextValidatorsHash: string
    readonly cases: readonly {
      about: string
      validators: boolean
      didRoot: boolean
      data: string
      expected: string
    }[]
  }
}

const file = openVectors<Vectors>('proofs.json', { descriptive: ['about', 'description'] })
const vectors = file.data
afterAll(() => file.finish())

const keyOf = ({ did, credential, signer }: { did?: string; credential?: string; signer?: string }) =>
  credential === undefined ? didMapKey(did as string) : credentialMapKey(credential, signer as string)
const internal = (display: string) => parseDisplayHash(display) as Uint8Array

describe.each(vectors.maps)('the map: $description', ({ genesis, blocks, proofs }) => {
  const histories = new Map<string, { digest: Uint8Array; count: number }>()
  const pages = memoryPages()
  const genesisHash = internal(genesis)
  for (const { height, time, operations, mapRoot, didRoot: root } of blocks) {
    it(`has the entries, leaves and root of height ${height}`, async () => {
      const leaves = new Map<string, LeafChange>()
      for (const operation of operations) {
        const key = keyOf(operation)
        expect(toHex(key)).toBe(operation.key)
        const number = operationForms[operation.operation].number
        const payloadHash = sha256(operation.payload)
        const entry = { operation: number, height, time, txid: internal(operation.txid), payloadHash }
        expect(toHex(entryBytes(entry))).toBe(operation.entry)
        expect(toHex(entryBytes(readEntry(hex(operation.entry))))).toBe(operation.entry)
        const before = histories.get(operation.key) ?? { digest: emptyHistory, count: 0 }
        const digest = extendHistory(before.digest, entryBytes(entry))
        expect(toHex(digest)).toBe(operation.historyDigest)
        const count = before.count + 1
        histories.set(operation.key, { digest, count })
        const value = valueOfHistory({ last: number, count, digest })
        expect(toHex(value)).toBe(operation.leafValue)
        leaves.set(operation.key, { key, value })
      }
      const found = finish(changeMapSteps(pages, inKeyOrder(leaves.values())))
      expect(toHex(found)).toBe(mapRoot)
      expect(toHex(didRoot(genesisHash, found))).toBe(root)
      for (const { proof, ...asked } of proofs.filter(({ afterHeight }) => afterHeight === height)) {
        const key = keyOf(asked)
        const order = asked.credential === undefined ? didOrder : credentialOrder
        const question = { key, order, genesis: genesisHash, didRoot: hex(root), height }
        const proved = checkMapProof(proof, question)
        expect(proved !== undefined).toBe(asked.kind === 'present')
        const { siblings, end } = await readWay(async (place) => pages.get(place), key)
        const { history, ...way } = proof
        const isOwn = end !== undefined && equalBytes(end.key, key)
        expect(isOwn).toBe(history !== undefined)
        expect(mapProofJson({ siblings, ...(end && !isOwn && { leaf: end }) })).toEqual(way)
      }
    })
  }
})

describe('proofs of the map', () => {
  it.each(vectors.refused.cases)('$about: $expected', ({ did, genesis = vectors.refused.genesis, proof, expected }) => {
    const { didRoot: root } = vectors.refused
    const question = {
      key: didMapKey(did),
      order: didOrder,
      genesis: internal(genesis),
      didRoot: hex(root),
      height: 0xffffffff,
    }
    let failure = 'ok'
    try {
      checkMapProof(proof, question)
    } catch (error) {
      if (!(error instanceof ProofError)) throw error
      failure = error.failure
    }
    expect(failure).toBe(expected)
  })
})

describe('leaves put and deleted by key', () => {
  it('give the roots and ways of the vectors', async () => {
    const pages = memoryPages()
    for (const { change, key, value, mapRoot, asked, ...way } of vectors.pure.steps) {
      const leaf = { key: hex(key), value: change === 'put' ? hex(value as string) : undefined }
      expect(toHex(finish(changeMapSteps(pages, [leaf])))).toBe(mapRoot)
      const { siblings, end } = await readWay(async (place) => pages.get(place), hex(asked))
      expect(mapProofJson({ siblings, ...(end && { leaf: end }) })).toEqual(way)
    }
  })
})

describe('commitments', () => {
  const { witnessRoot, didRoot: root, nextValidatorsHash, cases } = vectors.commitments

  it.each(cases)('$about: $expected', ({ validators, didRoot: isAsked, data, expected }) => {
    const overrides = { ...(validators ? oneValidator() : withoutValidators), didRoot: isAsked ? true : undefined }
    const spec = parseSpec(testSpec(overrides))
    const coinbase = new Transaction({
      version: 0,
      payloadVersion: 4,
      payload: { type: 0, data: new Uint8Array(0) },
      attributes: [{ usage: attributeUsage.memo, data: hex(data) }],
      inputs: [coinbaseInput],
      outputs: [],
      lockTime: 1,
      programs: [],
    })
    const check = () => {
      checkCommitment(spec, 1, coinbase, hex(witnessRoot))
      checkDidRoot(spec, 1, coinbase, hex(root))
    }
    if (expected === 'coinbase-validators') {
      expect(codeOf(check)).toBe(undefined)
      expect(namesHash(coinbase)).not.toBe(nextValidatorsHash)
      expect(namesNextValidators(spec, 1, coinbase)).toBe(false)
    } else {
      expect(codeOf(check) ?? 'ok').toBe(expected)
      if (expected === 'ok' && validators) expect(namesHash(coinbase)).toBe(nextValidatorsHash)
    }
  })

  function namesHash({ attributes }: Transaction): string | undefined {
    const data = attributes[0]?.data as Uint8Array
    const hash = isCommitments(data) ? decodeCommitments(data)?.get(3) : undefined
    return hash && toHex(hash)
  }
})
