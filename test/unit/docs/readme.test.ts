import { describe, expect, it } from 'vitest'
import { commandsOf, nameOf } from '../../../scripts/docs/cli-page.js'
import type { ApiContext } from '../../../src/api/api-context.js'
import { restPrefix, restRoutes } from '../../../src/api/rest/rest-routes.js'
import { rpcMethods } from '../../../src/api/rpc/all-methods.js'
import { processContext } from '../../../src/cli/cli-context.js'
import { createProgram } from '../../../src/cli/cli-program.js'
import { parseSpec } from '../../../src/primitives/spec.js'
import { code, repositoryFile, section, tableRows } from '../../support/markdown.js'
import { testSpec } from '../../support/spec.js'

const page = repositoryFile('README.md')

describe('README.md', () => {
  it('lists every path of REST with its methods, in order, and no other', () => {
    const listed = tableRows(section(page, 'REST')).map(([methods, path]) => [methods, code(path)])
    expect(listed).toEqual(restRoutes.map(({ methods, path }) => [methods.join(', '), restPrefix + path]))
  })

  it('lists every method of JSON-RPC, in order, and no other', () => {
    const listed = tableRows(section(page, 'JSON-RPC')).map(([name]) => code(name))
    // Only whether there is a devnet, and what it may pay, is read to make the list.
    const reader = { chain: { spec: parseSpec(testSpec()) } }
    const methods = rpcMethods({ devnet: {}, reader } as unknown as ApiContext)
    expect(listed).toEqual(methods.map(({ name }) => name))
  })

  it('lists every command, in order, and no other', () => {
    const listed = tableRows(section(page, 'Commands')).map(([name]) => code(name))
    expect(listed).toEqual(commandsOf(createProgram(processContext())).map(nameOf))
  })
})

describe('docs/devnet.md', () => {
  it('describes every dev_ method', () => {
    const methods = section(repositoryFile('docs/devnet.md'), 'Methods')
    const described = [...methods.matchAll(/^`(dev_\w+) \{/gm)].map(([, name]) => name)
    expect(described).toEqual(
      tableRows(section(page, 'JSON-RPC')).flatMap(([name]) => (/dev_\w+/.exec(name ?? '') ? [code(name)] : [])),
    )
  })
})
