import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Workbench } from '../../../support/process/workbench.js'

describe('didledger ship status', () => {
  let bench: Workbench
  beforeEach(() => (bench = new Workbench()))
  afterEach(() => bench.close())

  /** Nothing listens there. */
  const gone = (database: string) => `postgres://didledger@127.0.0.1:1/${database}`

  it('fails where a database shows no shard, after it has told of all', async () => {
    const { code, out, err } = await bench.run('ship', 'status', gone('a'))
    expect([code, out, err]).toEqual([
      1,
      expect.stringMatching(/^ {2}0 {2}.*127\.0\.0\.1/),
      expect.stringMatching(/^error: database 0 of the list shows no shard: .*127\.0\.0\.1/),
    ])
    const two = await bench.run('ship', 'status', gone('a'), gone('b'), '--json')
    expect([two.code, JSON.parse(two.out), JSON.parse(two.err)]).toEqual([
      1,
      {
        shards: [{ failure: expect.stringContaining('127.0.0.1') }, { failure: expect.stringContaining('127.0.0.1') }],
      },
      { error: { message: 'databases 0, 1 of the list show no shards' } },
    ])
  })
})
