import { fileURLToPath } from 'node:url'
import { RuleError, UserError } from '../errors.js'
import { registerAssetTransaction } from '../primitives/genesis.js'
import type { Hash } from '../primitives/hash.js'
import { type Params, paramsAt, parseSpec, type Spec } from '../primitives/spec.js'
import { readTextFile } from '../wallet/files.js'

/** Chain specs that come with the package. */
export const shippedSpecs = ['devnet', 'pow'] as const

/** The chain spec of a shipped name or a file. A {@link UserError} says what is wrong with it. */
export function loadSpec(nameOrFile: string): Spec {
  const shipped = (shippedSpecs as readonly string[]).includes(nameOrFile)
  const path = shipped ? fileURLToPath(new URL(`../../genesis/${nameOrFile}.json`, import.meta.url)) : nameOrFile
  const text = readTextFile(path, 'chain spec')
  try {
    return parseSpec(text)
  } catch (error) {
    if (error instanceof RuleError) throw new UserError(`the chain spec ${path} is not valid: ${error.message}`)
    throw error
  }
}

/** The id of the native asset of a chain, internal order. */
export function assetIdOf(spec: Spec): Hash {
  return registerAssetTransaction(spec).hash
}

/** The rules for the block after `height`; without a height (offline) the last ones the spec names. */
export function rulesAfter(spec: Spec, height: number | undefined): Params {
  return paramsAt(spec, height === undefined ? Number.MAX_SAFE_INTEGER : height + 1)
}
