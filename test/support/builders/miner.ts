import { fileURLToPath } from 'node:url'
import { startChild } from '../process/children.js'

const script = fileURLToPath(new URL('../../../scripts/miner.ts', import.meta.url))

/** Runs the example miner as a process of its own until it has found so many blocks; returns the lines it printed. */
export function mine(rpc: string, address: string, blocks: number, ...more: string[]): Promise<string[]> {
  const args = ['--import', 'tsx', script, '--rpc', rpc, '--address', address, '--blocks', String(blocks), ...more]
  return new Promise((resolve, reject) => {
    const child = startChild(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const output = { out: '', err: '' }
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.out += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.err += text))
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(output.out.trimEnd().split('\n'))
      else reject(new Error(`the miner ended with ${code}: ${output.err}`))
    })
  })
}
