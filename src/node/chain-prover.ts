import type { ChainView } from '../ledger/chain/chain-view.js'
import { parseConfirm } from '../base/primitives/confirm.js'
import { Prover, type ProverOptions } from '../answers/prover/prover.js'
import { defined } from '../base/primitives/defined.js'
import { tables } from '../ledger/storage/rows/tables.js'

/** Returns the prover of answers from the rows of a chain. Confirms of blocks assumed valid are verified first. */
export function chainProver(
  { database, spec, genesis, assumedConfirms }: ChainView,
  cosignaturesOf?: ProverOptions['cosignaturesOf'],
): Prover {
  return new Prover({
    database,
    spec,
    genesis: genesis.header.hash,
    ...defined({ cosignaturesOf }),
    confirm: async (header) => {
      const confirm = database.get(tables.confirm.key(header.hash))
      if (confirm === undefined) return undefined
      return (await assumedConfirms.verify([{ header, confirm }])) === 1 ? parseConfirm(confirm) : undefined
    },
  })
}
