import { UserError } from '../errors/rule-error.js'
import { reindexHint, StorageError } from '../storage/database.js'
import { shellWord } from './print-output.js'

/** Runs something that opens the chain in a data directory; reports damage together with the exact repair command. */
export async function namingTheRepair<T>(
  { genesis, dataDir }: { readonly genesis?: string | undefined; readonly dataDir?: string },
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof StorageError) || dataDir === undefined) throw error
    throw new UserError(error.message.replace(reindexHint, () => `run: ${reindexCommand(genesis, dataDir)}`))
  }
}

export function reindexCommand(genesis: string | undefined, dataDir: string): string {
  const chosen = genesis === undefined || genesis === 'devnet' ? '' : ` --genesis ${shellWord(genesis)}`
  return `npx didledger chain reindex${chosen} --data-dir ${shellWord(dataDir)}`
}
