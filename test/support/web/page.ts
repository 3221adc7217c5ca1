import { Resolver } from 'did-resolver'
import { getResolver, HttpResolver } from '../../../src/node/library/resolver-entry.js'
import { runScenario, type ScenarioInput } from './scenario.js'

/** Input of a page: it fetches this, works on it, and posts the result. */

export interface PageInput {
  readonly scenario: ScenarioInput
  /** The JSON-RPC of a node, which is of another origin. */
  readonly node: string
  readonly did: string
}

export interface PageResult {
  /** Result of {@link runScenario}. */
  readonly scenario: string
  /** The resolution of the DID by the package did-resolver. */
  readonly resolution: unknown
  /** Globals of Node that the page has. */
  readonly ofNode: readonly string[]
}

async function results(): Promise<PageResult> {
  const { scenario, node, did } = (await (await fetch('/input')).json()) as PageInput
  const ofNode = ['Buffer', 'process', 'require', 'setImmediate'].filter((name) => name in globalThis)
  const resolution = await new Resolver(getResolver(new HttpResolver(node))).resolve(did)
  return { scenario: runScenario(scenario), resolution, ofNode }
}

const post = (path: string, body: string) => fetch(path, { method: 'POST', body })

/** To be called by the page: a module that only acts would be left out of the bundle, as the package has no side effects. */
export async function runPage(): Promise<void> {
  try {
    await post('/result', JSON.stringify(await results()))
  } catch (error) {
    await post('/failure', error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
}
