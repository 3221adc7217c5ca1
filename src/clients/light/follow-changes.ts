import {
  checkChange,
  checkpointList,
  maxChanges,
  namedByCheckpoint,
  readChange,
  readChanges,
  requireAscending,
} from '../../identity/proofs/changes.js'
import { toHex } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { list, members } from '../../identity/proofs/read-json.js'
import type { Checkpoint, Trust } from '../../identity/proofs/trust-root.js'
import type { ValidatorList } from '../../identity/proofs/validator-list.js'
import { type AskedServer, catchingUp } from './time-limited-server.js'
import { LightError } from './light-error.js'
import type { SeenBlock } from './light-memory.js'
import type { Signatures } from './signatures.js'

/** @limit count: changes of validators in a bundle */
const maxBundled = 10_000
/** @limit count: answers with changes that are followed at once */
const maxAnswers = 100

/** Chain, verifier and sink of a run that follows changes of validators. */
export interface Following {
  readonly genesis: Hash
  readonly signatures: Signatures
  /** Takes the lists proved before a failure of the server: the next question continues from there. */
  keep(lists: readonly ValidatorList[]): void
}

/** Lists of validators with those that a server proves to follow them; the same ones where none does. */
export async function followChanges(
  slow: AskedServer,
  lists: readonly ValidatorList[],
  { genesis, signatures, keep }: Following,
): Promise<readonly ValidatorList[]> {
  const server = catchingUp(slow)
  const followed = [...lists]
  try {
    return (await followAll(server, followed, { genesis, signatures })) ? followed : lists
  } catch (error) {
    if (error instanceof LightError && error.failure === 'timeout') keep(followed)
    throw error
  }
}

/** Adds the lists that a server proves to follow; whether there are any. */
async function followAll(
  server: AskedServer,
  followed: ValidatorList[],
  { genesis, signatures }: Pick<Following, 'genesis' | 'signatures'>,
): Promise<boolean> {
  const { length } = followed
  for (let answers = 0; answers < maxAnswers; answers++) {
    const from = (followed.at(-1) as ValidatorList).height
    const { changes, more } = readChanges(await server.get(`changes/${from}`), genesis)
    for (const change of changes) {
      const before = followed.at(-1) as ValidatorList
      followed.push(await signatures.settle(checkChange(change, before, genesis)))
    }
    if (!more) return followed.length > length
    if (changes.length === 0) break
  }
  throw new LightError('changes-order', `${server.url} has changes without end, ${maxChanges} an answer`)
}

/** The block of a checkpoint and the validators after it. */
export async function fromCheckpoint(
  server: AskedServer,
  checkpoint: Checkpoint,
): Promise<{ seen: SeenBlock; lists: readonly ValidatorList[] }> {
  const change = readChange(await server.get(`anchor/${checkpoint.height}`))
  const { header, list } = checkpointList(change, checkpoint)
  return { seen: { header }, lists: [list] }
}

/** All changes of validators that a server shows, as it sends them: since genesis, or from the block of a checkpoint on. */
export async function allChanges(slow: AskedServer, checkpoint: Checkpoint | undefined): Promise<unknown[]> {
  const server = catchingUp(slow)
  const found = checkpoint === undefined ? [] : [await server.get(`anchor/${checkpoint.height}`)]
  for (let from = (checkpoint?.height ?? 0) + 1, answers = 0; answers < maxAnswers; answers++) {
    const { changes: sent, more } = members(await server.get(`changes/${from}`), 'an answer with changes')
    const some = list(sent, maxChanges)
    found.push(...some)
    const last = some.at(-1)
    if (more !== true || last === undefined) break
    from = readChange(last).height
  }
  return found
}

/** The validators of a chain by the changes in a bundle: all from genesis on, of which those up to a checkpoint are behind it. */
export async function bundledLists(
  trust: Trust,
  sent: unknown,
  checkpoint: Checkpoint | undefined,
  signatures: Signatures,
): Promise<readonly ValidatorList[]> {
  const changes = list(sent, maxBundled).map(readChange)
  requireAscending(changes)
  const first = { height: 1, keys: trust.validators ?? [] }
  const texts = [first.keys.map(toHex), ...changes.map(({ validators }) => validators)]
  const lists = [checkpoint === undefined ? first : listIn(texts, checkpoint)]
  for (const change of changes) {
    const before = lists.at(-1) as ValidatorList
    if (checkpoint !== undefined && change.height <= checkpoint.height + 1) continue
    lists.push(await signatures.settle(checkChange(change, before, trust.chain)))
  }
  return lists
}

/** The list that a checkpoint names. */
function listIn(texts: readonly (readonly string[])[], checkpoint: Checkpoint): ValidatorList {
  for (const one of texts) {
    try {
      return namedByCheckpoint(one, checkpoint)
    } catch {
      continue
    }
  }
  return namedByCheckpoint([], checkpoint)
}
