import { UserError } from '../../base/errors/rule-error.js'
import { isObject } from '../../base/primitives/is-object.js'

/** @limit characters: a sentence of a node that is shown in a message */
export const longestSentence = 2_000

/** The part of a node's client by which the reasons are found. */
export interface AskedNode {
  rpc(method: string, params: Record<string, unknown>): Promise<unknown>
  devnetTime(): Promise<number | undefined>
}

/** Reason why the chain of a node does not advance, in a sentence; undefined while it does, or if the node does not report it. */
export async function stallSentence(node: AskedNode): Promise<string | undefined> {
  return sentenceOf(await voteOf(node))
}

/** Reason why a transaction in the pool of a node waits, as far as the node reports it. */
export async function whyUnmined(node: AskedNode): Promise<string> {
  const vote = await voteOf(node)
  const stalled = sentenceOf(vote)
  if (stalled !== undefined) return `the chain is stalled, ${stalled}`
  if (await isDevnet(node)) return 'it is a devnet, and one with --no-automine makes blocks on dev_mine only'
  const [validators, heard] = [vote?.['validators'], vote?.['heard']].map(Number)
  if (validators === 0) return 'the blocks of this chain come from miners, and none of them has made one with it'
  if (!Number.isInteger(validators) || !Number.isInteger(heard)) return 'the node does not say why'
  return `the validators have confirmed no block with it; votes of ${heard} of ${validators} have arrived for the next one`
}

/** The state of the vote; undefined where the node does not answer that. */
async function voteOf(node: AskedNode): Promise<Record<string, unknown> | undefined> {
  const answer = await unlessUnanswered(node.rpc('getarbitersinfo', {}))
  return isObject(answer) ? answer : undefined
}

/** The text of a node that may be hostile: it reaches a terminal without control characters. */
function sentenceOf(vote: Record<string, unknown> | undefined): string | undefined {
  const stalled = vote?.['stalled']
  if (!isObject(stalled) || typeof stalled['detail'] !== 'string') return undefined
  return stalled['detail'].slice(0, longestSentence).replace(/\p{C}+/gu, ' ')
}

async function isDevnet(node: AskedNode): Promise<boolean> {
  return (await unlessUnanswered(node.devnetTime())) !== undefined
}

async function unlessUnanswered<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}
