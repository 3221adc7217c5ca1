import { describe, expect, it } from 'vitest'
import type { ResolveOptions } from '../../../../src/identity/did/resolution.js'
import { readResolveRequest } from '../../../../src/answers/resolver/resolve-request.js'

const id = 'ab'.repeat(32)
const read = (options: object) => readResolveRequest(options as ResolveOptions)

describe('a request about a DID', () => {
  it('asks for the last operation, a version, all operations or a part of them', () => {
    expect(read({})).toEqual({ all: false, context: false, version: undefined, withDocument: false })
    expect(read({ all: true, context: true })).toEqual({ all: true, context: true, slice: undefined })
    expect(read({ all: true, skip: 3 })).toMatchObject({ slice: { skip: 3, limit: 100 } })
    expect(read({ all: true, limit: 1000 })).toMatchObject({ slice: { skip: 0, limit: 1000 } })
    expect(read({ all: true, skip: 0, limit: 0 })).toMatchObject({ slice: { skip: 0, limit: 0 } })
    expect(read({ versionId: id })).toMatchObject({ version: { by: 'id', value: id } })
    expect(read({ versionTime: '2026-02-28T23:59:59Z' })).toMatchObject({
      version: { by: 'time', seconds: 1772323199 },
    })
    for (const height of [0, 0xffffffff]) {
      expect(read({ versionHeight: height })).toMatchObject({ version: { by: 'height', height } })
    }
  })

  it.each([
    [{ all: 'true' }, 'all'],
    [{ context: 1 }, 'context'],
    [{ skip: 0 }, 'skip, limit'],
    [{ limit: 1 }, 'skip, limit'],
    [{ all: true, skip: -1 }, 'skip'],
    [{ all: true, skip: 1.5 }, 'skip'],
    [{ all: true, limit: -1 }, 'limit'],
    [{ all: true, limit: 1001 }, 'limit'],
    [{ all: true, limit: Infinity }, 'limit'],
    [{ all: true, versionId: id }, 'versionId'],
    [{ all: true, versionTime: '2026-01-01T00:00:00Z' }, 'versionTime'],
    [{ all: true, versionHeight: 1 }, 'versionHeight'],
    [{ versionId: id.toUpperCase() }, 'versionId'],
    [{ versionId: id.slice(1) }, 'versionId'],
    [{ versionId: '' }, 'versionId'],
    [{ versionTime: '2026-02-29T00:00:00Z' }, 'versionTime'],
    [{ versionTime: '2026-01-01T00:00:00.000Z' }, 'versionTime'],
    [{ versionTime: '2026-01-01T00:00:00+00:00' }, 'versionTime'],
    [{ versionTime: 'yesterday' }, 'versionTime'],
    [{ versionHeight: -1 }, 'versionHeight'],
    [{ versionHeight: 2 ** 32 }, 'versionHeight'],
    [{ versionHeight: 1.5 }, 'versionHeight'],
    [{ versionId: id, versionTime: '2026-01-01T00:00:00Z' }, 'versionId, versionTime'],
    [{ versionTime: '2026-01-01T00:00:00Z', versionHeight: 1 }, 'versionTime, versionHeight'],
  ])('is refused where it cannot be: %j', (options, name) => {
    const refused = { code: 'request-parameter', message: expect.stringContaining(`${name}: `) as string }
    expect(() => read(options)).toThrow(expect.objectContaining(refused) as Error)
  })
})
