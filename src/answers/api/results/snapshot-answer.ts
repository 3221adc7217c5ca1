import { ChainSnapshot } from '../../../ledger/chain/chain-snapshot.js'
import type { ChainReader } from '../../../ledger/chain/reader.js'
import { chainKey, jsonAnswer, type Sink, type StreamedAnswer } from '../streams/streamed-answer.js'

/**
 * The JSON of what `read` finds in one state of the chain. `key`: the question, of which equal ones at one tip share an answer; `search`:
 * bytes of memory for a scan of the chain.
 */
export function snapshotAnswer(
  reader: ChainReader,
  key: readonly (string | number)[],
  read: (state: ChainSnapshot, sink: Sink) => Promise<object>,
  options: { readonly search?: number } = {},
): StreamedAnswer {
  const make = (sink: Sink) => ChainSnapshot.read(reader.chain.database, (state) => read(state, sink))
  return jsonAnswer(chainKey(reader, ...key), make, options)
}
