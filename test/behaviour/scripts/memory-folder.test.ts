import { describe, expect, it } from 'vitest'
import { fitsMemory, type Machine } from '../../support/process/memory-folder.js'

const gigabyte = 1024 ** 3
const mounted = (options: string, type = 'tmpfs') => `/dev/vda / ext4 rw 0 0\nshm /dev/shm ${type} ${options} 0 0\n`
const roomy: Machine = { env: {}, mounts: mounted('rw,nosuid,nodev'), free: 4 * gigabyte, memory: 8 * gigabyte }

describe('temporary files of a run', () => {
  it('lie in memory where there is room', () => {
    expect(fitsMemory(roomy)).toBe(true)
  })

  it.each<[string, Partial<Machine>]>([
    ['TMPDIR names another place', { env: { TMPDIR: '/elsewhere' } }],
    ['programs cannot be run there', { mounts: mounted('rw,noexec') }],
    ['nothing can be written there', { mounts: mounted('ro') }],
    ['it is a disk', { mounts: mounted('rw', 'ext4') }],
    ['it is not mounted', { mounts: 'tmpfs /dev tmpfs rw 0 0\n' }],
    ['it has a byte less than they may take', { free: 4 * gigabyte - 1 }],
    ['programs have a byte less than they need beside', { memory: 8 * gigabyte - 1 }],
  ])('lie where the system has them where %s', (_, changes) => {
    expect(fitsMemory({ ...roomy, ...changes })).toBe(false)
  })
})
