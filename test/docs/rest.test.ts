import { describe, expect, it } from 'vitest'
import { restSamples } from '../../scripts/docs/rest-samples.js'
import { restPrefix, restRoutes } from '../../src/answers/api/paths/rest-routes.js'
import { repositoryFile, tableRows } from '../support/assert/markdown.js'

const page = repositoryFile('docs/rest.md')

describe('docs/rest.md', () => {
  it('has a sample of every path, and of no other', () => {
    expect(Object.keys(restSamples).sort()).toEqual(restRoutes.map(({ path }) => path).sort())
  })

  it('has a row for every path with its methods, in order, and no other', () => {
    const listed = tableRows(page).flatMap(([methods, path = '']) => {
      const [, named] = /^\[`(\/.+)`\]/.exec(path) ?? []
      return named === undefined ? [] : [[methods, named]]
    })
    expect(listed).toEqual(restRoutes.map(({ methods, path }) => [methods.join(', '), restPrefix + path]))
  })

  it('has a section for every path, in order', () => {
    const sections = [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
    expect(sections).toEqual(restRoutes.map(({ methods, path }) => `${methods.join(', ')} ${restPrefix}${path}`))
  })
})
