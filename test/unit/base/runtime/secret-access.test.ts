import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { refuseShared } from '../../../../src/base/runtime/secret-access.js'

const folder = mkdtempSync(join(tmpdir(), 'didledger-secret-'))
const file = join(folder, 'secret')
writeFileSync(file, 'x')
afterAll(() => rmSync(folder, { recursive: true }))

const check = (options = {}) => refuseShared(file, 'validator key', statSync(file), options)
const user = process.getuid?.() ?? 0
const asOwnedBy = (uid: number, mode = 0o100600, isFile = true) => ({ uid, mode, isFile: () => isFile })

describe('a file with a secret', () => {
  it.each([0o600, 0o400, 0o700])('of mode %o is for its owner alone', (mode) => {
    chmodSync(file, mode)
    expect(check).not.toThrow()
  })

  it.each([0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o644, 0o666, 0o777])('of mode %o is refused', (mode) => {
    chmodSync(file, mode)
    expect(check).toThrow(UserError)
    expect(check).toThrow(
      `others may read the validator key ${file}: run chmod 600 on it, and make a new one if they did`,
    )
    // Root may read it, and would still use what others know.
    expect(() => check({ guest: true })).toThrow(/chmod 600/)
  })

  describe('that root hands to a user by a group', () => {
    const handed = (mode: number, to = 1000) => {
      vi.spyOn(process, 'getuid').mockReturnValue(to)
      return () => refuseShared(file, 'validator key', asOwnedBy(0, mode))
    }
    afterEach(() => void vi.restoreAllMocks())

    it.each([
      [0o440, 'systemd and Kubernetes'],
      [0o640, 'administrators'],
    ])('is of mode %o, as %s write it, and read', (mode) => {
      expect(handed(mode)).not.toThrow()
    })

    it.each([0o660, 0o650, 0o444, 0o602, 0o601])('is refused with mode %o all the same', (mode) => {
      expect(handed(mode)).toThrow(/^others may read the validator key/)
    })

    it('is refused to root, to whom nobody has to hand it', () => {
      expect(handed(0o440, 0)).toThrow(/^others may read the validator key/)
    })
  })

  it('of another user is refused, with what to do', () => {
    const stranger = user + 1
    const refused = () => refuseShared(file, 'admin token', asOwnedBy(stranger))
    expect(refused).toThrow(`user ${stranger} owns the admin token ${file} and may read it`)
    expect(refused).toThrow(`run chown ${user} and chmod 600 on it`)
  })

  it('of root is not, and one of a pipe is for its reader', () => {
    expect(() => refuseShared(file, 'key', asOwnedBy(0))).not.toThrow()
    expect(() => refuseShared(file, 'password file', asOwnedBy(user + 1, 0o010666, false))).not.toThrow()
  })

  it('of another user is refused to root as its own, and not as a guest', () => {
    vi.spyOn(process, 'getuid').mockReturnValue(0)
    chmodSync(file, 0o600)
    // Only root gives files away; others see one of their own with the eyes of root.
    if (user === 0) chownSync(file, 12_345, 12_345)
    expect(check).toThrow(`user ${statSync(file).uid} owns the validator key`)
    expect(() => check({ guest: true })).not.toThrow()
    if (user === 0) chownSync(file, 0, 0)
    vi.restoreAllMocks()
  })
})
