import type { Resolver } from '../answers/resolver/resolver.js'
import type { ResourceStack } from '../base/runtime/resource-stack.js'
import { readWitnessPlace } from '../clients/light/witness-place.js'
import { WitnessSigner } from '../clients/witness/witness-signer.js'
import type { ChainReader } from '../ledger/chain/reader.js'
import { HeadComparison } from './heads/compare-heads.js'
import { keepEvidence } from './heads/keep-evidence.js'
import type { NodeOptions } from './node.js'
import type { Store } from './open-store.js'
import { OwnWitness } from './heads/own-witness.js'
import { WitnessCollector } from './heads/witness-collector.js'

/** Collects cosignatures until the node closes; undefined where no witnesses are named. */
export function openCollector(
  { env, tuning = {} }: NodeOptions,
  { chain }: Store,
  stack: ResourceStack,
): WitnessCollector | undefined {
  const { places = [] } = tuning.witness ?? {}
  if (places.length === 0) return undefined
  const collector = new WitnessCollector({ ...env, chain, witnesses: places.map(readWitnessPlace) })
  stack.defer(async () => collector.close())
  return collector
}

/** Cosigns heads until the node closes; undefined for a node that is no witness. */
export async function openWitness(
  { env, witness }: NodeOptions,
  { chain }: Store,
  { proofs }: Resolver,
  stack: ResourceStack,
): Promise<WitnessSigner | undefined> {
  if (witness === undefined) return undefined
  const { log, clock } = env
  const signer = await WitnessSigner.open({
    ...witness,
    genesis: chain.genesis.header.hash,
    hasValidators: chain.spec.hasValidators,
    now: () => clock.now(),
    onAlarm: (text) => log.error({}, text),
  })
  const own = new OwnWitness({ chain, proofs, signer, log })
  stack.defer(() => own.close())
  void own.look()
  return signer
}

/** Compares heads of others with those of the node; what they prove is written beside its rows. */
export function comparisonOf(
  { env }: NodeOptions,
  {
    reader,
    resolver,
    directory,
  }: Pick<Store, 'directory'> & { readonly reader: ChainReader; readonly resolver: Resolver },
): HeadComparison {
  const { log } = env
  return new HeadComparison({
    ...{ reader, proofs: resolver.proofs, log },
    onEvidence: (evidence) => void keepEvidence(directory.path, evidence, log),
  })
}
