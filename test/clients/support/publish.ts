import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type NodeProcess, runJson } from '../../support/process/spawn.js'

/** Puts an operation, as JSON text, on the chain of a devnet by the command; resolves when it is in a block. */
export async function publish(node: NodeProcess, operation: string): Promise<void> {
  const file = join(node.line.dataDir, 'operation.json')
  writeFileSync(file, operation)
  await runJson('did', 'publish', file, '--devnet-account', '0', '--rest', node.line.rest)
}
