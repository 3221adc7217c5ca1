import { ChainSnapshot } from '../../../ledger/chain/chain-snapshot.js'
import type { ChainReader } from '../../../ledger/chain/reader.js'
import { chainKey, type Sink, StreamedAnswer, writeText } from '../streams/streamed-answer.js'

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
  return new StreamedAnswer({
    key: chainKey(reader, ...key),
    repeatable: false,
    ...options,
    write: async (sink) => {
      const found = await ChainSnapshot.read(reader.chain.database, (state) => read(state, sink))
      await writeText(sink, JSON.stringify(found))
    },
  })
}
