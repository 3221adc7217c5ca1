import { type TSchema, Type } from '@sinclair/typebox'
import { RuleError } from '../../../base/errors/rule-error.js'
import { maxHeaders } from '../../../identity/proofs/work.js'
import type { ApiContext } from '../api-context.js'
import { type ParameterKind, type ParameterValues, readParameter } from '../parameters.js'
import {
  changeList,
  exchangeHead,
  headerList,
  historyProof,
  longestHead,
  noneWitnessed,
} from '../results/proof-results.js'
import { change, changes, head, headers, stateProof, trust, witnessed } from '../schemas/proof-schemas.js'
import type { NamesIn } from './rest-routes.js'

/** Proofs by GET, for light resolvers and for caches in front of a node: one row a path. */

export const lightPrefix = '/light/1/'

/** Segments and parameters of the queries, by name. */
export const lightParameters = {
  did: { kind: 'did', meaning: 'a DID in full or its identifier alone' },
  id: { kind: 'credentialId', meaning: 'the id of a credential in full' },
  from: { kind: 'height', meaning: 'a height: of changes those above it, of headers the first one' },
  count: { kind: 'count', meaning: 'of headers' },
  history: { kind: 'flag', meaning: 'by all operations instead of the last; without a value, or true' },
  issuer: { kind: 'did', meaning: 'a DID whose revocation counts besides those of owner and issuer' },
  depth: {
    kind: 'depth',
    meaning: 'of the block as of which is proved, below the tip; 0 by default, 6 on a chain without validators',
  },
  height: { kind: 'height', meaning: 'of the block; not with depth' },
} as const satisfies Readonly<Record<string, { readonly kind: ParameterKind; readonly meaning: string }>>

export type LightName = keyof typeof lightParameters

/** Values of a request, by name. */
export type LightValues = { readonly [Name in LightName]?: ParameterValues[(typeof lightParameters)[Name]['kind']] }

export interface LightRoute {
  /** GET if absent. */
  readonly method?: 'POST'
  /** Bytes of a body; with POST alone. */
  readonly body?: { readonly most: number; readonly schema: TSchema }
  /** Below {@link lightPrefix}, segments as `:name`. */
  readonly path: string
  /** One sentence for the reference. */
  readonly summary: string
  /** Names that its query can have. */
  readonly query: readonly LightName[]
  readonly result: TSchema
  /** Whether answers depend on more than the chain; absent: equal requests get equal answers until the tip moves. */
  readonly varies?: boolean
  /** Whether an answer to this request holds for ever, on a chain whose blocks are confirmed. */
  isFixed(values: LightValues): boolean
  /** The result, or the {@link StreamedAnswer} that writes it; refusals are RuleErrors. */
  run(context: ApiContext, values: LightValues, body?: Uint8Array): Promise<unknown>
}

/** A row whose handler has the values of its segments. */
function route<Path extends string>(
  path: Path,
  row: Pick<LightRoute, 'summary' | 'result'> &
    Partial<Pick<LightRoute, 'query' | 'isFixed' | 'method' | 'body' | 'varies'>>,
  run: (
    context: ApiContext,
    values: LightValues & Required<Pick<LightValues, NamesIn<Path> & LightName>>,
    body?: Uint8Array,
  ) => Promise<unknown>,
): LightRoute {
  return { query: [], isFixed: () => false, ...row, path, run: run as LightRoute['run'] }
}

const block = ['depth', 'height'] as const
const ofHeight = { isFixed: ({ height }: LightValues) => height !== undefined }

export const lightRoutes: readonly LightRoute[] = [
  route(
    'did/:did',
    {
      ...ofHeight,
      summary: 'proves the latest state of a DID, or that it does not exist',
      query: ['history', ...block],
      result: stateProof,
    },
    (context, { did, history, depth, height }) =>
      history === true
        ? historyProof(context, did, { depth, height })
        : context.resolver.proofs.did(did, { depth, height }),
  ),
  route(
    'credential/:id',
    {
      ...ofHeight,
      summary: 'proves what its owner, its issuer and a DID that is named said of a credential',
      query: ['issuer', ...block],
      result: stateProof,
    },
    ({ resolver }, { id, ...wanted }) => resolver.proofs.credential(id, wanted),
  ),
  route(
    'trust',
    {
      summary: 'the trust root of the chain as this node has it; to believe it is to believe the node',
      result: trust,
    },
    async ({ resolver }) => resolver.proofs.trust(),
  ),
  route(
    'anchor',
    { summary: 'the validators after the newest block, and what proves that it names them', result: change },
    ({ resolver }) => resolver.proofs.anchor({}),
  ),
  route(
    'anchor/:height',
    { ...ofHeight, summary: 'the validators after a block, and what proves that it names them', result: change },
    ({ resolver }, { height }) => resolver.proofs.anchor({ height }),
  ),
  route(
    'changes/:from',
    { summary: 'the changes of validators above a height', result: changes },
    async (context, { from }) => changeList(context, from),
  ),
  route(
    'headers/:from/:count',
    {
      summary: `headers with their work, at most ${maxHeaders}, in base64url`,
      result: Type.Array(headers.items),
    },
    async (context, { from, count }) => headerList(context, from, count),
  ),
  route(
    'witnessed',
    {
      varies: true,
      summary: 'the newest blocks of which this node has cosignatures of witnesses, highest first',
      result: witnessed,
    },
    async ({ witnessed: collected, reader }) => collected?.shown() ?? noneWitnessed(reader.chain.genesis.header.hash),
  ),
  route(
    'heads',
    {
      method: 'POST',
      varies: true,
      body: { most: longestHead, schema: head },
      summary:
        'compares a head with the block of its height here, which is the answer; the newest block where that is lower',
      result: change,
    },
    (context, _, body) => exchangeHead(context, body),
  ),
]

/**
 * The values of a request, those of the query each at most once. `request-parameter` for names that a path does not have: an answer
 * without what they ask for would be misread.
 */
export function readLightValues(
  { query }: Pick<LightRoute, 'query'>,
  segments: Readonly<Record<string, string | undefined>>,
  search: string,
): LightValues {
  const found = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(search)) {
    if (!(query as readonly string[]).includes(name)) {
      const known = query.join(', ') || 'none'
      throw new RuleError(
        'request-parameter',
        `${name.slice(0, 80)}: not known here; parameters of this path: ${known}`,
      )
    }
    if (found.has(name)) throw new RuleError('request-parameter', `${name}: given more than once`)
    found.set(name, value)
  }
  const texts = [...Object.entries(segments), ...found] as [LightName, string][]
  return Object.fromEntries(
    texts.map(([name, text]) => [name, readParameter(lightParameters[name].kind, name, text)]),
  ) as LightValues
}
