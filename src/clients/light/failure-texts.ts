import type { LightError, LightFailure } from './light-error.js'

/** Meaning of each failure, for people; a resolver itself needs none of these texts. */
export const failureTexts: Readonly<Record<LightFailure, string>> = {
  form: 'it is not in the form of answers and proofs',
  'proof-missing': 'the answer came without a proof',
  'answer-did': 'the answer is about another DID or credential than the one asked for',
  chain: 'it belongs to another chain than the one that is trusted',
  'anchor-header': 'the header of the block is missing or damaged',
  'answer-height': 'the answer is as of another block than the one asked for',
  'anchor-coinbase': 'the first transaction is damaged, or that of another block',
  'anchor-branch': 'the first transaction does not belong to the block',
  'anchor-commitment': 'the block does not name a state of all DIDs as it has to',
  'anchor-root': 'the block names another state of all DIDs',
  'confirm-form': 'the signatures of validators are damaged, or those of other validators',
  'confirm-quorum': 'too few validators have signed the block',
  'confirm-signature': 'a signature is not that of a validator for this block',
  'changes-missing': 'the validators changed, and what proves that change is missing',
  'changes-order': 'changes of validators stand in an order that cannot be',
  'changes-keys': 'the block names other validators than the ones shown',
  'checkpoint-hash': 'the block at the height of the checkpoint is another one',
  'checkpoint-keys': 'the checkpoint names other validators than the ones shown',
  'work-link': 'the headers do not follow each other',
  'work-bits': 'a header is easier than the chain allows',
  'work-time': 'the time of a header is out of range',
  'work-proof': 'a header lacks the work that it claims',
  'work-chain': 'the block is not in the chain with most work',
  'work-depth': 'too few blocks lie above the block',
  'path-form': 'the way from the answer to the block is damaged',
  'path-foreign': 'the way ends at a DID that says nothing of the one asked for',
  'history-form': 'the history of operations is damaged',
  'path-root': 'the block commits to something else: the answer was changed, shortened, or belongs elsewhere',
  'history-order': 'operations stand in an order that cannot be',
  'answer-incomplete': 'a part of the answer is left out',
  'answer-transaction': 'an operation shown differs from the one that is proved',
  'answer-document': 'a document is not proved by a key of its own DID',
  'answer-status': 'the status is not what follows from the proof',
  'answer-version': 'another version is shown than the one asked for',
  'answer-signature': 'an operation is not signed by a key with the right to do so',
  cosignature: 'a cosignature is not that of the witness that it names',
  unwitnessed: 'too few of the witnesses have cosigned the block',
  'no-contradiction': 'the blocks or histories that are shown do not exclude each other',
  'trust-expired': 'the block that is trusted is too old to begin with',
  stale: 'the block of the answer is too old',
  future: 'the block of the answer is ahead of the clock',
  rollback: 'the block of the answer is below one that was seen before',
  contradiction: 'the answer excludes another one, or what was seen, and there is no evidence that others could check',
  fork: 'blocks or histories are confirmed that contradict each other',
  quorum: 'too few nodes or mirrors gave an answer that holds',
  timeout: 'a node or mirror did not answer in time',
  'mirror-file': 'a file of the mirror is not what its name says',
  unreachable: 'a node or mirror cannot be reached, or cannot answer now',
}

/** A failure in a sentence: what it means, and what was found. */
export function failureSentence({ failure, message, failures = [] }: LightError): string {
  const nodes = failures.map(({ server, failure: one }) => `${server}: ${one}`)
  const found = [message.replace(`${failure}: `, ''), ...nodes].join('; ')
  return `${failureTexts[failure]}: ${found}`
}
