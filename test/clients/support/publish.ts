import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type NodeProcess, runJson } from '../../support/process/spawn.js'

/** Puts an operation, as JSON text, on the chain of a devnet by the command; resolves with its txid when it is in a block. */
export async function publish(node: NodeProcess, operation: string): Promise<string> {
  const file = join(node.line.dataDir, 'operation.json')
  writeFileSync(file, operation)
  const args = ['--devnet-account', '0', '--rest', node.line.rest]
  return (await runJson<{ txid: string }>('did', 'publish', file, ...args)).txid
}
