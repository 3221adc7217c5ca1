import { afterEach, describe, expect, it } from 'vitest'
import { startOf } from '../../../../src/program/cli/run-node.js'
import { serve } from '../../../../src/node/serving/serve-node.js'
import { startNode } from '../../../../src/node/start-node.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { ResourceStack } from '../../../../src/base/runtime/resource-stack.js'
import { systemEnv } from '../../../../src/base/runtime/process-env.js'
import { quietLog } from '../../../support/builders/chain.js'
import { specText } from '../../../support/process/workbench.js'

let stack = new ResourceStack()
afterEach(async () => {
  await stack.close()
  stack = new ResourceStack()
})

async function linesFor(hosts?: readonly string[]): Promise<readonly string[]> {
  const env = systemEnv(quietLog())
  const tuning = { node: { portBase: 0 }, ...(hosts && { api: { hosts } }) }
  const node = await startNode({ spec: parseSpec(specText()), env, tuning })
  stack.defer(() => node.close())
  const servers = await serve(node, { log: env.log, tuning })
  stack.defer(() => servers.close())
  return startOf(node, servers).lines
}

describe('the lines of a node that starts', () => {
  it('say that other machines reach it, beside addresses that open here', async () => {
    const lines = await linesFor(['0.0.0.0'])
    expect(lines).toContain('Open      to other machines too, at 0.0.0.0')
    expect(lines).toContainEqual(expect.stringMatching(/^REST +http:\/\/127\.0\.0\.1:\d+\/api\/v1$/))
  })

  it('say nothing of other machines where none reaches it', async () => {
    for (const hosts of [undefined, ['localhost'], ['127.1'], ['0177.0.0.1'], ['::ffff:127.0.0.1']]) {
      expect((await linesFor(hosts)).join('\n')).not.toContain('other machines')
    }
  })
})
