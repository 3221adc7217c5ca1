import { fileURLToPath } from 'node:url'
import { packageFile } from '../../base/runtime/package-files.js'

/** Chain specs that come with the package. */
export const shippedSpecs = ['devnet', 'localnet', 'pow'] as const

export type ShippedSpec = (typeof shippedSpecs)[number]

export function isShippedSpec(name: string): name is ShippedSpec {
  return (shippedSpecs as readonly string[]).includes(name)
}

/** File of a shipped chain spec. */
export function shippedSpecFile(name: ShippedSpec): string {
  return fileURLToPath(packageFile(`genesis/${name}.json`))
}

/** File of the Trust of a shipped chain: what a light resolver needs of its spec. */
export function shippedTrustFile(name: ShippedSpec): string {
  return fileURLToPath(packageFile(`genesis/${name}.trust.json`))
}
