import type {
  GivenUpOperation,
  ResolvedTransaction,
  ResolveContext,
  ResolveOptions,
  ResolveResult,
} from '../../identity/did/resolution.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { canFollow, operationForm } from '../../base/primitives/did-operation.js'
import { asResolveResult } from './read-answers.js'

/** Requests for `resolvedid` of a node, and a whole history in as many of them as it takes. */

/** Operations asked for at once: the maximum of a node. */
const pageSize = 1000
/** @limit bytes: a history that a client puts together, in texts */
const maxHistory = 64 * 1024 * 1024
/** @tuning count: attempts to read a history while reorganisations change it */
const maxAttempts = 5

/** Asks the node for the result of `resolvedid`. */
export type AskResolver = (params: Readonly<Record<string, unknown>>) => Promise<unknown>

/** The answer about a DID. A whole history is asked for in parts, since nodes give a long one in no other way. */
export async function askResolver(ask: AskResolver, did: string, options: ResolveOptions = {}): Promise<ResolveResult> {
  const { all = false } = options
  // Proofs of parts do not make one of the whole.
  const isProved = options.proof !== undefined
  const inOne = !all || isProved || options.skip !== undefined || options.limit !== undefined
  if (inOne) return asResolveResult(await ask({ did, ...options, all }), options)
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const found = await wholeHistory(ask, did, options)
    if (found !== undefined) return found
  }
  throw new RuleError('busy', `the history of ${did} changed while it was read; try again`)
}

/** All operations of a DID; undefined if some were taken back meanwhile. */
async function wholeHistory(
  ask: AskResolver,
  did: string,
  options: ResolveOptions,
): Promise<ResolveResult | undefined> {
  const part = async (skip: number) => {
    const slice = { ...options, skip, limit: pageSize }
    return asResolveResult(await ask({ did, ...slice }), slice)
  }
  const { total, start: _, count: __, transaction = [], givenUp, ...first } = await part(0)
  // Unknown, or a node that gives every history at once.
  if (first.status === 3) return first
  if (total === undefined) return { ...first, transaction }
  const found: ResolvedTransaction[] = [...transaction]
  // All older than those found.
  const gone: GivenUpOperation[] = [...(givenUp ?? [])]
  const at = [...(first.context?.at ?? [])]
  let size = sizeOf(found)
  // New operations push the others back.
  let pushed = 0
  while (found.length + gone.length < total) {
    const next = await part(found.length + gone.length + pushed)
    const fresh = (next.total ?? 0) - total - pushed
    const { transaction: some = [], givenUp: others = [] } = next
    const page = some.slice(fresh)
    const rest = others.slice(Math.max(0, fresh - some.length))
    if (fresh === 0 && page.length + rest.length === 0) {
      throw new UserError(`the node gives no more than ${found.length} of ${total} operations`)
    }
    if (fresh < 0 || page.length + rest.length === 0 || (gone.length > 0 && page.length > 0)) return undefined
    pushed += fresh
    found.push(...page)
    gone.push(...rest)
    at.push(...(next.context?.at.slice(fresh) ?? []))
    size += sizeOf(page)
    if (size > maxHistory) {
      throw new UserError(`the history of ${did} has more than ${maxHistory} bytes; ask for parts of it`)
    }
  }
  if (!isLinked([...found.map(linkOf), ...gone]) || found.length + gone.length > total) return undefined
  return {
    ...first,
    transaction: found,
    ...(gone.length > 0 && { givenUp: gone }),
    ...(first.context && { context: withBlocks(first.context, at) }),
  }
}

function sizeOf(transactions: readonly ResolvedTransaction[]): number {
  return transactions.reduce((sum, { operation }) => sum + 400 + operation.payload.length, 0)
}

/** Whether each operation can follow the one before it, and names it where it has to, down to the first: parts of two branches do not. */
function isLinked(links: readonly Link[]): boolean {
  return links.every((link, i) => {
    const before = links[i + 1]
    const form = operationForm(link)
    if (form?.subject !== 'did' || !canFollow(form, before && operationForm(before))) return false
    return !form.previousTxid || !('previousTxid' in link) || link.previousTxid === before?.txid
  })
}

/** An operation, and the one that it names; one that was given up names none any more. */
type Link = Pick<GivenUpOperation, 'txid' | 'operation'> & { readonly previousTxid?: string | undefined }

function linkOf({ txid, operation: { header } }: ResolvedTransaction): Link {
  return { txid, operation: header.operation, previousTxid: header.previousTxid }
}

/** The context as of the first part: later ones may have more confirmations. */
function withBlocks(context: ResolveContext, at: ResolveContext['at']): ResolveContext {
  return { ...context, at: at.map((one) => ({ ...one, confirmations: context.height - one.height + 1 })) }
}
