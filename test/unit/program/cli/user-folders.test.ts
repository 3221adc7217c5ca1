import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defaultDataDir } from '../../../../src/program/cli/chain-data-dir.js'
import { userFolder } from '../../../../src/program/cli/user-folders.js'
import { loadSpec } from '../../../../src/program/cli/load-spec.js'
import { genesisBlock } from '../../../../src/base/primitives/genesis.js'

describe('the folder for the data of a user', () => {
  it.each<[NodeJS.Platform, Record<string, string>, string, string]>([
    ['linux', {}, '/home/alice', '/home/alice/.local/share/didledger'],
    ['linux', { XDG_DATA_HOME: '/data' }, '/home/alice', '/data/didledger'],
    ['linux', { XDG_DATA_HOME: 'data' }, '/home/alice', '/home/alice/.local/share/didledger'],
    ['linux', { XDG_DATA_HOME: '' }, '/home/alice', '/home/alice/.local/share/didledger'],
    ['darwin', { XDG_DATA_HOME: '/data' }, '/Users/alice', '/Users/alice/Library/Application Support/didledger'],
    ['win32', {}, 'C:\\Users\\alice', 'C:\\Users\\alice\\AppData\\Local\\didledger'],
    ['win32', { LOCALAPPDATA: 'D:\\Local' }, 'C:\\Users\\alice', 'D:\\Local\\didledger'],
  ])('is that of the system: %s %j', (platform, env, home, folder) => {
    expect(userFolder('data', { platform, env, home: () => home })).toBe(folder)
  })

  it.each<[NodeJS.Platform, Record<string, string>, string, string]>([
    ['linux', {}, '/home/alice', '/home/alice/.cache/didledger'],
    ['linux', { XDG_CACHE_HOME: '/cache' }, '/home/alice', '/cache/didledger'],
    ['darwin', {}, '/Users/alice', '/Users/alice/Library/Caches/didledger'],
    ['win32', {}, 'C:\\Users\\alice', 'C:\\Users\\alice\\AppData\\Local\\didledger\\cache'],
  ])('is another one for what can be made again: %s %j', (platform, env, home, folder) => {
    expect(userFolder('cache', { platform, env, home: () => home })).toBe(folder)
  })

  it('has a directory for each chain, by name and genesis block', () => {
    const [pow, localnet] = [loadSpec('pow'), loadSpec('localnet')]
    const env = { HOME: '/h', USERPROFILE: 'C:\\h', XDG_DATA_HOME: '/data' }
    const { platform } = process
    const folder = userFolder('data', { platform, env, home: () => (platform === 'win32' ? 'C:\\h' : '/h') })
    expect(defaultDataDir({ env }, pow)).toBe(join(folder, `pow-${genesisBlock(pow).hash.slice(0, 8)}`))
    expect(defaultDataDir({ env }, localnet)).toBe(join(folder, 'localnet-c856a89d'))
  })

  it('asks for no home directory where a variable says where data is kept', () => {
    const none = () => {
      throw new Error('there is none')
    }
    expect(userFolder('data', { platform: 'linux', env: { XDG_DATA_HOME: '/data' }, home: none })).toBe(
      '/data/didledger',
    )
  })
})
