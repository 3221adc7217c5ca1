import type { ProvedFork } from '../../identity/proofs/fork.js'
import type { CliContext } from './cli-context.js'
import type { OutputOptions } from './command-options.js'
import { formatTable, report } from './print-output.js'

/** Prints evidence: two states that validators confirmed or witnesses cosigned, and that exclude each other. */
export function showFork(context: CliContext, options: OutputOptions, fork: ProvedFork): void {
  const { heights, hashes, leaf, validators, witnesses } = fork
  const of = leaf && ('did' in leaf ? leaf.did : `what ${leaf.signer} said of ${leaf.id}`)
  report(context, options, fork, [
    of === undefined
      ? `Two blocks of height ${heights[0]} are ${witnesses === undefined ? 'confirmed' : 'confirmed or cosigned'}.`
      : `Two histories that exclude each other are confirmed, of ${of}.`,
    ...formatTable(heights.map((height, i) => ['block', `${height}  ${hashes[i]}${by(witnesses?.[i])}`] as const)),
    `Validators who signed both: ${validators.join(', ') || 'none'}`,
    ...(witnesses === undefined ? [] : [`Witnesses who cosigned both: ${both(witnesses).join(', ') || 'none'}`]),
  ])
}

function by(names: readonly string[] | undefined): string {
  return names === undefined || names.length === 0 ? '' : `  cosigned by ${names.join(', ')}`
}

function both([one, other]: readonly [readonly string[], readonly string[]]): readonly string[] {
  return one.filter((name) => other.includes(name))
}
