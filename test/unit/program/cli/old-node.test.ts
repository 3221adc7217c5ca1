import { describe, expect, it } from 'vitest'
import { oldNodeText } from '../../../../src/program/cli/old-node.js'

describe('a version of Node', () => {
  it.each(['v20.19.0', 'v20.20.2', 'v22.0.0', 'v26.10.0', 'v24.0.0-nightly20250101', 'v100.1.0'])(
    '%s runs the program',
    (version) => {
      expect(oldNodeText(version, '20.19')).toBeUndefined()
    },
  )

  it.each(['v20.18.3', 'v20.9.0', 'v18.20.8', 'v16.0.0', 'v8.17.0'])('%s is refused by its name', (version) => {
    expect(oldNodeText(version, '20.19')).toBe(
      `didledger needs Node 20.19 or later, and this is ${version}: install a later one (https://nodejs.org), or put it first in PATH`,
    )
  })
})
