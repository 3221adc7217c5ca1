import { readFile } from 'node:fs/promises'
import { UserError } from '../base/errors/rule-error.js'
import { defined } from '../base/primitives/defined.js'
import { type Spec, keepsMap } from '../base/primitives/spec.js'
import { packageFile } from '../base/runtime/package-files.js'
import type { Env } from '../base/runtime/env.js'
import type { Chain } from '../ledger/chain/chain.js'
import { Mirror } from '../ledger/mirror/mirror.js'
import { mirrorDefaults, type MirrorSettings } from '../ledger/mirror/mirror-options.js'
import { openMirrorStore } from '../ledger/mirror/open-mirror-store.js'
import type { Variables } from '../ledger/mirror/s3-place.js'
import type { Database } from '../ledger/storage/database.js'
import { trustOf } from '../identity/proofs/make-trust.js'
import { mirrorAboutFormat } from '../identity/proofs/mirror-head.js'
import { chainProver } from './chain-prover.js'

/** A chain to mirror, and what is around it. */
export interface MirrorParts {
  readonly chain: Chain
  readonly database: Database
  readonly env: Pick<Env, 'clock' | 'random' | 'timers' | 'log'>
  /** Variables of the process, which name an object store. */
  readonly variables: Variables
  isInStep(): boolean
  /** Signatures of witnesses of a block by its hash, internal order. */
  cosignaturesOf?(hash: Uint8Array): readonly string[]
}

/** Opens the mirror that settings name; a UserError for a chain that commits to no state, and for a place where nothing can be written. */
export async function openMirror(
  settings: Partial<MirrorSettings> & Pick<MirrorSettings, 'to'>,
  { chain, database, env, variables, isInStep, cosignaturesOf }: MirrorParts,
): Promise<Mirror> {
  const { spec, genesis } = chain
  requireMap(spec)
  const { to, versions = mirrorDefaults.versions, ...rest } = { ...mirrorDefaults, ...settings }
  return new Mirror({
    ...env,
    place: to,
    store: await openMirrorStore(to, variables),
    chain: {
      spec,
      genesis: genesis.header.hash,
      proofs: chainProver(chain),
      ...defined({ cosignatures: cosignaturesOf && (({ hash }: { hash: Uint8Array }) => cosignaturesOf(hash)) }),
    },
    database,
    events: chain.events,
    allVersions: versions === 'all',
    keepBlocks: rest.keepBlocks,
    keepSeconds: rest.keepSeconds,
    about: () => aboutOf(chain, settings),
    pages: await builtPage(),
    isInStep,
  })
}

/** The page that is put beside the files; none where the package was not built. */
async function builtPage(): Promise<ReadonlyMap<string, Uint8Array>> {
  try {
    return new Map([['mirror.html', await readFile(packageFile('dist/mirror.html'))]])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw error
  }
}

/** Returns what a mirror says of itself. Readers believe none of it. */
function aboutOf({ spec, genesis }: Chain, { nodes, contact }: Partial<MirrorSettings>): unknown {
  const { hash: chain } = genesis
  return { format: mirrorAboutFormat, chain, name: spec.name, trust: trustOf(spec), ...defined({ nodes, contact }) }
}

function requireMap(spec: Spec): void {
  if (keepsMap(spec)) return
  throw new UserError(`blocks of ${spec.name} commit to no state of all DIDs, so that files of it would prove nothing`)
}
