import { type Command, Option } from 'commander'
import { LightError } from '../../clients/light/light-error.js'
import type { LightOptions, LightResolver } from '../../clients/light/light-resolver.js'
import type { Proved } from '../../clients/light/proved-answer.js'
import type { TrustJson } from '../../identity/proofs/make-trust.js'
import type { CliContext } from './cli-context.js'
import { countOption } from './command-options.js'
import { loadCheckpoint, loadTrust } from './load-proofs.js'

/** Trust options of commands that check proofs. */

export interface TrustFlags {
  readonly trust: string
  readonly checkpoint?: string
  readonly maxAge?: number
  readonly allowOldRoot?: boolean
}

export function withTrust(command: Command): Command {
  const [trust, ...others] = trustOptions()
  command.addOption(trust.makeOptionMandatory())
  for (const option of others) command.addOption(option)
  return command
}

/** `--trust`, `--checkpoint`, `--max-age` and `--allow-old-root`. */
export function trustOptions(): [Option, Option, Option, Option] {
  const trust = new Option(
    '--trust <name|file>',
    'the chain that is believed: devnet, localnet, pow, or a Trust in a file',
  )
  return [
    trust,
    new Option('--checkpoint <file>', 'a block of that chain that is believed as well, instead of its genesis'),
    new Option('--max-age <seconds>', 'how old the block of an answer may be at most').argParser(countOption),
    new Option('--allow-old-root', 'begin with a block older than 30 days too, though its validators may have retired'),
  ]
}

/** A light resolver by the options of a command; a LightError that names the files for those of another form or chain. */
export async function openLight(
  { clock }: Pick<CliContext, 'clock'>,
  { trust, checkpoint, allowOldRoot = false }: TrustFlags,
  options: Omit<LightOptions, 'trust' | 'checkpoint' | 'allowOldRoot' | 'now'>,
): Promise<LightResolver> {
  const root = { trust: loadTrust(trust), ...(checkpoint !== undefined && { checkpoint: loadCheckpoint(checkpoint) }) }
  // Loading the checks takes longer than all the rest; no other command waits for it.
  const { LightResolver } = await import('../../clients/light/light-resolver.js')
  try {
    return new LightResolver({ ...options, ...root, allowOldRoot, now: () => clock.now() })
  } catch (error) {
    if (!(error instanceof LightError)) throw error
    const files = [trust, ...(checkpoint === undefined ? [] : [checkpoint])]
    const message = `${files.join(', ')}: ${error.message.replace(`${error.failure}: `, '')}`
    throw new LightError(error.failure, message)
  }
}

/** Whether the Trust of a resolver that is open is that of a devnet. */
export function isDevnet(trust: string): boolean {
  return (loadTrust(trust) as Pick<TrustJson, 'devnet'>).devnet
}

/** Describes the trust root of a proved answer, for people. */
export function trustText({ trust, checkpoint }: TrustFlags, { oldRoot }: Proved): string {
  const root = checkpoint === undefined ? `genesis of ${trust}` : `the block of ${checkpoint}, on the chain of ${trust}`
  return oldRoot === true ? `${root}, which is older than 30 days` : root
}
