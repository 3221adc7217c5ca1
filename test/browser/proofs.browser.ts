import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PageFiles } from '../../src/answers/api/http/page-files.js'
import type { ApiContext } from '../../src/answers/api/api-context.js'
import type { ApiServer } from '../../src/answers/api/servers/node-server.js'
import type { ResolveOptions, ResolveResult } from '../../src/identity/did/resolution.js'
import { holder } from '../support/builders/did.js'
import { changing, closeScene, type Scene, sceneOf } from '../support/builders/light-scene.js'
import { contextOf, serve } from '../support/client/api.js'
import type { Json } from '../support/fakes/light-server.js'
import { type Explorer, ExplorerBrowser } from '../support/web/explorer.js'

/** What the pages show of DIDs is proved in the page, and a proof that does not hold is named; lying-node.browser.ts has other lies. */

let browser: ExplorerBrowser
let scene: Scene
const servers: ApiServer[] = []
const tabs: Explorer[] = []
beforeAll(async () => {
  browser = await ExplorerBrowser.start()
  const time = Math.floor(Date.now() / 1000) - 5
  const timing = { minInterval: 1_000, emptyInterval: 900_000, maxDrift: 5_000, propose: 3_000, delta: 500 }
  scene = await sceneOf({ ...changing, time, timing })
})
afterEach(async () => {
  for (const tab of tabs.splice(0)) await tab.close()
  for (const server of servers.splice(0)) await server.close()
})
afterAll(async () => {
  await closeScene(scene)
  await browser?.close()
})

/** A tab at a page of a node that changes its answers: `lie` takes each with what was asked. */
async function visit(path: string, lie: (answer: Json, asked: ResolveOptions) => void = () => {}): Promise<Explorer> {
  const context = contextOf(scene.test, { pages: new PageFiles() })
  const { resolver } = context
  const lying = async (answer: Promise<ResolveResult | undefined>, asked: ResolveOptions) => {
    const changed = JSON.parse(JSON.stringify(await answer)) as Json
    lie(changed, asked)
    return changed as ResolveResult
  }
  const liar: ApiContext['resolver'] = {
    resolve: (did, asked = {}, ...rest) => lying(resolver.resolve(did, asked, ...rest), asked),
    resolveShort: (did, asked, signal) => lying(resolver.resolveShort(did, asked, signal), asked),
    standing: resolver.standing,
    answersAt: undefined,
    queryJson: (...asked) => resolver.queryJson(...asked),
    now: () => resolver.now(),
    credentials: resolver.credentials,
    proofs: resolver.proofs,
  }
  const server = await serve({ ...context, resolver: liar })
  servers.push(server)
  const tab = await browser.open(`http://127.0.0.1:${server.port}`)
  tabs.push(tab)
  await tab.load(path)
  return tab
}

const proofOf = ({ page }: Explorer) => page.getByRole('region', { name: 'Proof', exact: true })

describe('the pages of an honest node', () => {
  it('prove a DID, say what was checked and what is believed, and show the proof', async () => {
    const tab = await visit(`/#/did/${scene.alice.did}`)
    const panel = proofOf(tab)
    await panel.getByText('✓ proved').waitFor()
    const text = (await panel.innerText()).replace(/\s+/g, ' ')
    const { height } = scene.test.chain.tip.header
    expect(text).toContain(`block ${height}`)
    expect(text).toContain('A quorum of the validators confirmed the block')
    expect(text).toContain('2 operations of this DID')
    expect(text).toContain('as this node named them when this browser first came')
    await panel.getByText('The proof as the node sent it').click()
    await panel.getByText('didledger/proof/1').waitFor()
    expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
  })

  it('prove that a DID does not exist', async () => {
    const tab = await visit(`/#/did/${holder().did}`)
    await proofOf(tab).getByText('✓ proved').waitFor()
    await proofOf(tab).getByText('That state has no entry of this DID.').waitFor()
    await tab.shows('up to the block below no operation has created it')
  })

  it('prove credentials: declared, revoked and unknown', async () => {
    for (const id of [scene.ids.kept, scene.ids.revoked, scene.ids.unknown]) {
      const tab = await visit(`/#/credential/${encodeURIComponent(id)}`)
      await proofOf(tab).getByText('✓ proved').waitFor()
    }
  })

  it('go on from what this browser believed first', async () => {
    const tab = await visit(`/#/did/${scene.alice.did}`)
    await proofOf(tab).getByText('✓ proved').waitFor()
    const kept = await tab.page.evaluate(
      'Object.keys(localStorage).sort().map((name) => name.replace(/[0-9a-f]{64}/, ""))',
    )
    expect(kept).toEqual(['didledger.light.', 'didledger.root.'])
    await tab.page.reload()
    await proofOf(tab).getByText('✓ proved').waitFor()
  })
})

describe('the pages of a node that lies', () => {
  it('name the check that its proof fails', async () => {
    const tab = await visit(`/#/did/${scene.alice.did}`, (answer, { proof }) => {
      if (proof !== undefined) answer.proof.maps[0].history.state = 2
    })
    await proofOf(tab).getByText('not proved').waitFor()
    await proofOf(tab)
      .getByText(/path-root/)
      .waitFor()
    await tab.shows('said by the node, without proof')
    expect(await tab.page.locator('[data-source=proved]').count()).toBe(0)
  })

  it('believe no answer without a proof', async () => {
    const tab = await visit(`/#/did/${scene.alice.did}`, (answer) => delete answer.proof)
    await proofOf(tab).getByText('no proof').waitFor()
    await proofOf(tab)
      .getByText(/proof-missing/)
      .waitFor()
    await tab.shows('said by the node, without proof')
    expect(await tab.page.locator('[data-source=proved]').count()).toBe(0)
  })
})
