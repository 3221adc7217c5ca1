import { UserError } from '../../base/errors/rule-error.js'
import { StorageError } from '../../ledger/storage/failure.js'
import { shellWord } from './print-output.js'

/** Commands as errors name them, which do not know where the data is. */
const anyCommand = /npx didledger chain (reindex|verify) --data-dir DIR/g

/** Runs something that opens the chain in a data directory; reports damage together with the exact command for it. */
export async function namingTheRepair<T>(
  { genesis, dataDir }: { readonly genesis?: string | undefined; readonly dataDir?: string },
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof StorageError) || dataDir === undefined) throw error
    throw new UserError(error.message.replace(anyCommand, (_, name: string) => chainCommand(name, genesis, dataDir)))
  }
}

export function reindexCommand(genesis: string | undefined, dataDir: string): string {
  return chainCommand('reindex', genesis, dataDir)
}

function chainCommand(name: string, genesis: string | undefined, dataDir: string): string {
  const chosen = genesis === undefined || genesis === 'devnet' ? '' : ` --genesis ${shellWord(genesis)}`
  return `npx didledger chain ${name}${chosen} --data-dir ${shellWord(dataDir)}`
}
