import { type TSchema, Type } from '@sinclair/typebox'
import { RuleError } from '../../../base/errors/rule-error.js'
import { maxHeaders } from '../../../identity/proofs/work.js'
import type { WantedBlock } from '../../prover/prover.js'
import type { ApiContext } from '../api-context.js'
import { readParameter } from '../parameters.js'
import { changeList, headerList, historyProof } from '../results/proof-results.js'
import { change, changes, headers, stateProof, trust } from '../schemas/proof-schemas.js'

/** Proofs by GET, for light resolvers and for caches in front of a node: one row a path. */

export const lightPrefix = '/light/1/'

/** The values of a request, by name. */
export interface LightRequest {
  /** Segments of the path, decoded. */
  readonly segments: Readonly<Record<string, string | undefined>>
  /** Parameters of the query. */
  readonly query: ReadonlyMap<string, string>
}

export interface LightRoute {
  /** Below {@link lightPrefix}, segments as `:name`. */
  readonly path: string
  /** One sentence for the reference. */
  readonly summary: string
  /** Names that its query can have, with their meaning. */
  readonly query: Readonly<Record<string, string>>
  readonly result: TSchema
  /** Whether an answer to this request holds for ever, on a chain whose blocks are confirmed. */
  isFixed(request: LightRequest): boolean
  /** The result, or the {@link StreamedAnswer} that writes it; refusals are RuleErrors. */
  run(context: ApiContext, request: LightRequest): Promise<unknown>
}

const block = {
  depth: 'of the block as of which is proved, below the tip; 0 by default, 6 on a chain without validators',
  height: 'of that block',
}
const hasHeight = ({ segments, query }: LightRequest) =>
  segments['height'] !== undefined || query.get('height') !== undefined

export const lightRoutes: readonly LightRoute[] = [
  {
    path: 'did/:did',
    summary: 'proves the latest state of a DID, or that it does not exist',
    query: { history: 'by all operations instead of the last; without a value, or true', ...block },
    result: stateProof,
    isFixed: hasHeight,
    run: async (context, { segments, query }) => {
      const [did, block] = [segments['did'] ?? '', blockIn(query)]
      return flagIn(query, 'history') ? historyProof(context, did, block) : context.resolver.proofs.did(did, block)
    },
  },
  {
    path: 'credential/:id',
    summary: 'proves what its owner, its issuer and a DID that is named said of a credential',
    query: { issuer: 'a DID whose revocation counts besides those of owner and issuer', ...block },
    result: stateProof,
    isFixed: hasHeight,
    run: async ({ resolver }, { segments, query }) =>
      resolver.proofs.credential(segments['id'] ?? '', { issuer: query.get('issuer'), ...blockIn(query) }),
  },
  {
    path: 'trust',
    summary: 'the trust root of the chain as this node has it; to believe it is to believe the node',
    query: {},
    result: trust,
    isFixed: () => false,
    run: async ({ resolver }) => resolver.proofs.trust(),
  },
  {
    path: 'anchor',
    summary: 'the validators after the newest block, and what proves that it names them',
    query: {},
    result: change,
    isFixed: hasHeight,
    run: async ({ resolver }) => resolver.proofs.anchor({}),
  },
  {
    path: 'anchor/:height',
    summary: 'the validators after a block, and what proves that it names them',
    query: {},
    result: change,
    isFixed: hasHeight,
    run: async ({ resolver }, { segments }) => resolver.proofs.anchor({ height: numberIn(segments, 'height') }),
  },
  {
    path: 'changes/:from',
    summary: 'the changes of validators above a height',
    query: {},
    result: changes,
    isFixed: () => false,
    run: async (context, { segments }) => changeList(context, numberIn(segments, 'from')),
  },
  {
    path: 'headers/:from/:count',
    summary: `headers with their work, at most ${maxHeaders}, in base64url`,
    query: {},
    result: Type.Array(headers.items),
    isFixed: () => false,
    run: async (context, { segments }) => {
      const [from, count] = [numberIn(segments, 'from'), numberIn(segments, 'count')]
      if (count <= maxHeaders) return headerList(context, from, count)
      throw new RuleError('request-parameter', `count: at most ${maxHeaders} headers are given at once, not ${count}`)
    },
  },
]

/**
 * The parameters of a query, each at most once. `request-parameter` for names that a path does not have: an answer without what they
 * ask for would be misread.
 */
export function readLightQuery(search: string, names: LightRoute['query']): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(search)) {
    if (!Object.hasOwn(names, name)) {
      const known = Object.keys(names).join(', ') || 'none'
      throw new RuleError(
        'request-parameter',
        `${name.slice(0, 80)}: not known here; parameters of this path: ${known}`,
      )
    }
    if (found.has(name)) throw new RuleError('request-parameter', `${name}: given more than once`)
    found.set(name, value)
  }
  return found
}

function flagIn(query: ReadonlyMap<string, string>, name: string): boolean {
  const value = query.get(name)
  if (value === undefined) return false
  if (value === '' || value === 'true') return true
  throw new RuleError('request-parameter', `${name}: no value or true is needed`)
}

function blockIn(query: ReadonlyMap<string, string>): WantedBlock {
  const numberOf = (name: string) => {
    const value = query.get(name)
    return value === undefined ? undefined : readParameter('height', name, value)
  }
  return { depth: numberOf('depth'), height: numberOf('height') }
}

function numberIn(segments: LightRequest['segments'], name: string): number {
  return readParameter('height', name, segments[name] ?? '')
}
